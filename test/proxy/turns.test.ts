import { expect, test } from 'vitest';
import { createEmulator } from '../../src/emulator/emulator.ts';
import { tokenPath } from '../../src/protocol/paths.ts';
import { makeTone, toPcm } from '../audio/tone.ts';
import { speechAt } from '../helpers/device-audio.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { startMiniService } from '../helpers/mini-service.ts';
import { converse, framesOf } from '../helpers/proxied-device.ts';
import { setUpProxies } from '../helpers/proxies.ts';
import { openStream } from '../helpers/stream-client.ts';

const startProxy = setUpProxies();
const tone = (seconds: number) => toPcm(makeTone({ hz: 440, rate: 16_000, seconds }));
const pause = Buffer.alloc(32_000);

test.each([0, 500])(
  'with a shortest turn of %i ms the proxy counts the turns that the service does',
  async (shortestTurnMs) => {
    const dialect = { stream: { shortestTurnMs } };
    const turns: unknown[] = [];
    const noteIn = (kept: unknown[]) => (event: { type: string; atMs?: number; turnMs?: number }) => {
      if (event.type === 'turn-started' || event.type === 'turn-ended')
        kept.push([event.type, event.atMs, event.turnMs]);
    };
    await using emulator = await createEmulator({ reply: 'parrot', dialect, onEvent: noteIn(turns) });
    const passed: unknown[] = [];
    const proxy = await startProxy(emulator, { dialect, onEvent: noteIn(passed) });
    await converse(proxy, { audio: framesOf(Buffer.concat([tone(0.3), pause, tone(0.8), pause])) });
    await proxy.close();
    await emulator.close();
    expect(passed).toEqual(turns);
    expect(turns).toHaveLength(shortestTurnMs === 0 ? 4 : 2);
  },
);

test.each([
  ['the service pauses', ['cut-off']],
  ['the proxy stands still', []],
])('a reply that stops for 2 s within a vowel because %s', async (why, findings) => {
  const [first, rest] = [speechAt(16_000).subarray(0, 80_000), speechAt(16_000).subarray(80_000)];
  let say = (_pcm: Buffer) => {};
  await using service = await startMiniService({
    onAudio({ socket }) {
      say = (pcm) => {
        for (const frame of framesOf(pcm)) socket.send(frame);
      };
      say(first);
    },
  });
  const manual = createManualClock();
  let stoodMs = 0;
  const clock = { ...manual, now: () => manual.now() + stoodMs };
  const proxy = await startProxy(service, { clock });
  const answer = await fetch(proxy.baseUrl + tokenPath(), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"apiKey":"key-1","deviceId":"lamp"}',
  });
  const device = openStream(proxy.wsUrl);
  await device.opened;
  await device.send(((await answer.json()) as { token: string }).token);
  await device.until(() => device.messages.length > 0);
  await device.send(Buffer.alloc(640));
  await device.until(() => device.audio.length >= first.length);
  // Where only the time changes, and no timer fires, the process was stopped.
  if (why === 'the service pauses') manual.advance(2_000);
  else stoodMs = 2_000;
  say(rest);
  const whole = framesOf(first).length + framesOf(rest).length;
  await device.until(() => device.audio.length >= 640 * whole);
  device.socket.close(1000);
  await proxy.close();
  const found = proxy.events.flatMap((event) => (event.type === 'service-finding' ? [event.finding] : []));
  expect(found.filter((finding) => finding === 'cut-off')).toEqual(findings);
});
