import { describe, expect, test } from 'vitest';
import { createHold } from '../../../src/devices/playout/playback.ts';
import { silence, speech } from '../../helpers/pcm.ts';

describe('a reply that the user interrupts', () => {
  test('is not played to its end, however long it goes on', () => {
    const hold = createHold();
    hold.start(0);
    for (let now = 20; now < 10_000; now += 20) expect(hold.covers(speech(20), now)).toBe(true);
  });

  test.each([
    ['nothing came', false],
    ['it was silent', true],
  ])('has ended when %s for half a second', (_, isSilent) => {
    const hold = createHold();
    hold.start(0);
    hold.covers(speech(20), 100);
    if (isSilent) for (let now = 120; now < 600; now += 20) hold.covers(silence(20), now);
    expect(hold.covers(speech(20), 600)).toBe(false);
    expect(hold.covers(speech(20), 620)).toBe(false);
  });

  test('has ended when the service says so', () => {
    const hold = createHold();
    hold.start(0);
    hold.end();
    expect(hold.covers(speech(20), 20)).toBe(false);
  });
});
