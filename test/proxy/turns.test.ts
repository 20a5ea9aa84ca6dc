import { expect, test } from 'vitest';
import { createEmulator } from '../../src/emulator/emulator.ts';
import { makeTone, toPcm } from '../audio/tone.ts';
import { converse, framesOf } from '../helpers/proxied-device.ts';
import { setUpProxies } from '../helpers/proxies.ts';

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
