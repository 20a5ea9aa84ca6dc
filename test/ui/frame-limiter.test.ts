import { describe, expect, test } from 'vitest';
import { createFrameLimiter } from '../../src/ui/frame-limiter.ts';
import { createManualClock } from '../helpers/manual-clock.ts';

function start(tookMs = 1, firstTookMs = tookMs) {
  const clock = createManualClock();
  const frames: number[] = [];
  const limiter = createFrameLimiter({
    clock,
    draw: async () => {
      frames.push(clock.now());
      return frames.length === 1 ? firstTookMs : tookMs;
    },
  });
  return { clock, frames, limiter };
}

describe('frames', () => {
  test('come at most 15 times per second, however much there is to draw', async () => {
    const { clock, frames, limiter } = start();
    for (let ms = 0; ms < 2_000; ms += 5) {
      limiter.request();
      await clock.run(5);
    }
    expect(frames.length).toBeGreaterThan(25);
    expect(frames.length).toBeLessThanOrEqual(31);
  });

  test('come less often if drawing takes long: they may use a tenth of a core', async () => {
    const { clock, frames, limiter } = start(50);
    for (let ms = 0; ms < 4_000; ms += 5) {
      limiter.request();
      await clock.run(5);
    }
    expect(frames.length).toBeGreaterThanOrEqual(7);
    expect(frames.length).toBeLessThanOrEqual(9);
  });

  test('come once per second if a busy machine takes that long for one', async () => {
    const { clock, frames, limiter } = start(900);
    for (let ms = 0; ms < 10_000; ms += 50) {
      limiter.request();
      await clock.run(50);
    }
    expect(frames.length).toBeGreaterThanOrEqual(10);
  });

  test('come soon after the first, which takes longer than the others', async () => {
    const { clock, frames, limiter } = start(50, 1_000);
    await clock.run(10);
    limiter.request();
    await clock.run(100);
    limiter.request();
    await clock.run(450);
    expect(frames).toHaveLength(2);
    await clock.run(100);
    expect(frames).toHaveLength(3);
  });

  test('come soon if a person is waiting for them', async () => {
    const { clock, frames, limiter } = start(50);
    await clock.run(10);
    limiter.request({ urgent: true });
    await clock.run(100);
    expect(frames).toHaveLength(2);
  });

  test('come four times per second if nothing happens, for the clocks', async () => {
    const { clock, frames } = start();
    await clock.run(10_000);
    expect(frames.length).toBeGreaterThan(25);
    expect(frames.length).toBeLessThan(42);
  });

  test('come one at a time, and never after the end', async () => {
    const clock = createManualClock();
    let drawing = 0;
    let most = 0;
    let finish = () => {};
    const limiter = createFrameLimiter({
      clock,
      draw: async () => {
        drawing += 1;
        most = Math.max(most, drawing);
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        drawing -= 1;
        return 1;
      },
    });
    for (let index = 0; index < 10; index += 1) {
      limiter.request({ urgent: true });
      await clock.run(200);
    }
    expect(most).toBe(1);
    limiter.close();
    finish();
    await clock.run(1_000);
    expect(drawing).toBe(0);
  });
});
