import { afterEach, describe, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { systemClock } from '../../src/kernel/clock.ts';
import type { VoicectlError } from '../../src/kernel/errors.ts';
import type { SessionEvent } from '../../src/session/events.ts';
import type { SessionOptions } from '../../src/session/options.ts';
import { runSession } from '../../src/session/session.ts';
import type { SessionSummary } from '../../src/session/summary.ts';
import { requestToken } from '../../src/wire/client/token.ts';
import { openVoiceStream } from '../../src/wire/client/voice-stream.ts';
import { hasten } from '../helpers/hasten.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { speech } from '../helpers/pcm.ts';
import { defaultOptions, sourceOf } from '../helpers/scripted-session.ts';
import { setUpServices } from '../helpers/services.ts';

const services = setUpServices();
const endings: AbortController[] = [];
afterEach(() => {
  for (const ending of endings.splice(0)) ending.abort();
});

/** The program's own client and clock, and a service that gives a token and then is what a test makes of it. */
async function talkTo(onLive: (peer: WebSocket) => void, options: Partial<SessionOptions> = {}) {
  const { baseUrl } = await services.http((response) => response.end('{"token":"t.o.k"}'));
  const wsUrl = await services.ws((peer) => {
    peer.once('message', () => {
      peer.send('{"type":"service_voice_connected"}');
      onLive(peer);
    });
  });
  const client = { requestToken, openVoiceStream };
  const ending = new AbortController();
  endings.push(ending);
  return runSession(
    {
      ...defaultOptions(),
      client,
      clock: systemClock,
      baseUrl,
      wsUrl,
      waitMs: 1_000,
      settleMs: 200,
      ...options,
    },
    ending.signal,
  );
}

async function collect(session: AsyncIterable<SessionEvent>) {
  const events: SessionEvent[] = [];
  let error: VoicectlError | undefined;
  try {
    for await (const event of session) events.push(event);
  } catch (thrown) {
    error = thrown as VoicectlError;
  }
  return { events, error, summary: events.at(-1) as SessionSummary & SessionEvent };
}

describe('a session over the network', () => {
  test('sends in real time, hears the reply, and hangs up', async () => {
    const heard: Buffer[] = [];
    let closedWith: number | undefined;
    const session = await talkTo(
      (peer) => {
        peer.on('message', (pcm: Buffer) => {
          heard.push(pcm);
          peer.send(pcm);
        });
        peer.on('close', (code) => {
          closedWith = code;
        });
      },
      { source: sourceOf(speech(400)) },
    );
    const { error, summary, events } = await collect(session);
    expect(error).toBeUndefined();
    expect(Buffer.concat(heard).subarray(0, 12_800).equals(speech(400))).toBe(true);
    // An echo: what went out has come back, to the last message.
    expect(summary.in).toEqual(summary.out);
    expect(summary.out.bytes).toBe(heard.length * 640);
    expect(summary.firstAudioMs).not.toBeNull();
    expect(summary).toMatchObject({ ok: true, close: { code: 1000, name: 'normal' } });
    expect(events.map(({ t }) => t)).toEqual(events.map(({ t }) => t).toSorted((a, b) => a - b));
    await expect.poll(() => closedWith).toBe(1000);
  });

  test('fails according to how the service closes it', async () => {
    const session = await talkTo((peer) => peer.close(1011, 'oops'), { source: sourceOf(speech(400)) });
    const { error, summary } = await collect(session);
    expect(error).toMatchObject({ code: 'stream-broken', exitCode: 6 });
    expect(summary).toMatchObject({ type: 'summary', ok: false, close: { code: 1011, reason: 'oops' } });
  });

  test('holds a limited amount of audio, however slow the sink and fast the service', async () => {
    const mebibyte = 1024 * 1024;
    let handed = 0;
    let isBlocked = true;
    const blocked: (() => void)[] = [];
    const sink = {
      write(pcm: Buffer) {
        handed += pcm.length;
        return isBlocked ? new Promise<void>((resolve) => blocked.push(resolve)) : Promise.resolve();
      },
      close: async () => {},
    };
    let peer: WebSocket | undefined;
    const clock = createManualClock();
    const session = await talkTo(
      (its) => {
        peer = its;
        for (let i = 0; i < 20; i += 1) its.send(Buffer.alloc(mebibyte, 1));
      },
      // On a busy machine the audio pauses for longer than a reply does: no time passes until all has arrived.
      { clock, source: sourceOf(), sinks: [sink] },
    );
    const collecting = collect(session);
    await expect.poll(() => handed).toBeGreaterThan(4 * mebibyte);
    await expect.poll(() => peer?.bufferedAmount).toBeGreaterThan(4 * mebibyte);
    // Without a limit, all the rest would be read meanwhile.
    for (let turn = 0; turn < 1_000; turn += 1) await new Promise(setImmediate);
    expect(handed).toBeLessThanOrEqual(6 * mebibyte);
    isBlocked = false;
    for (const resume of blocked) resume();
    await expect.poll(() => handed).toBe(20 * mebibyte);
    const { error, summary } = await hasten(clock, collecting);
    expect(error).toBeUndefined();
    expect(summary.in.bytes).toBe(20 * mebibyte);
  });

  test('leaves no socket behind when its consumer stops', async () => {
    const count = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    const before = count();
    const session = await talkTo(() => {}, { source: sourceOf(speech(10_000)) });
    for await (const event of session) if (event.type === 'audio') break;
    await expect.poll(count).toBeLessThanOrEqual(before);
  });

  test('sends a source as fast as the service reads at pace "max", and loses nothing', async () => {
    let bytes = 0;
    const session = await talkTo(
      (peer) =>
        peer.on('message', (pcm: Buffer) => {
          bytes += pcm.length;
        }),
      { source: sourceOf(speech(20_000)), pace: 'max', tailMs: 0, waitMs: 0, maxBufferedBytes: 1 },
    );
    const { error, summary } = await collect(session);
    expect(error).toBeUndefined();
    expect([bytes, summary.out.bytes]).toEqual([640_000, 640_000]);
  });
});
