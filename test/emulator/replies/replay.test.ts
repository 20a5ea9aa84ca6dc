import { describe, expect, test } from 'vitest';
import { replayRecording } from '../../../src/emulator/replies/replay.ts';
import { loadScenario } from '../../../src/emulator/scenario/scenario.ts';
import type { BundleWriter } from '../../../src/recording/bundle-writer.ts';
import { setUpBundles } from '../../helpers/bundles.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { speakWith } from '../../helpers/fake-voice.ts';

const bundles = setUpBundles();
const startEmulator = setUpEmulators();
const connected = '{ "type": "service_voice_connected" }';

async function replay(fill: (writer: BundleWriter) => void, speed = 1) {
  const { folder } = await bundles.write(fill);
  const createReply = await replayRecording(folder, speed);
  expect(createReply.confirms?.('d1')).toBe(true);
  return speakWith(createReply);
}

const session = (close: 'client' | 'service') => (writer: BundleWriter) => {
  writer.wire({ t: 50, type: 'token', bytes: 300 });
  writer.wire({ t: 60, type: 'text', text: 'before' });
  writer.wire({ t: 100, type: 'text', text: connected });
  writer.audio('out', 120, Buffer.from([9, 9]));
  writer.audio('in', 300, Buffer.from([1, 2, 3]));
  writer.wire({ t: 400, type: 'text', text: '{"type":"status"}' });
  writer.audio('in', 400, Buffer.from([4]));
  writer.wire({ t: 900, type: 'close', by: close, code: 1011, reason: 'oops' });
};

describe('a recording as the AI', () => {
  test('sends each message as it was, at its time after the confirmation', async () => {
    const { clock, log, sent } = await replay(session('service'));
    expect(log).toEqual(['before', connected]);
    clock.advance(199);
    expect(sent).toEqual([]);
    clock.advance(1);
    expect(sent).toEqual([Buffer.from([1, 2, 3])]);
    clock.advance(100);
    expect(log.slice(2)).toEqual(['{"type":"status"}']);
    expect(sent[1]).toEqual(Buffer.from([4]));
    clock.advance(499);
    expect(log).toHaveLength(3);
    clock.advance(1);
    expect(log[3]).toBe('close 1011 oops');
  });

  test('takes half the time at twice the speed', async () => {
    const { clock, sent, log } = await replay(session('service'), 2);
    clock.advance(100);
    expect(sent).toHaveLength(1);
    clock.advance(300);
    expect(log.at(-1)).toBe('close 1011 oops');
  });

  test('leaves a close that the device began to the device', async () => {
    const { clock, log } = await replay(session('client'));
    clock.advance(60_000);
    expect(log.at(-1)).toBe('{"type":"status"}');
  });

  test('sends nothing more once its stream has ended', async () => {
    const { clock, reply, sent } = await replay(session('service'));
    reply.close?.();
    clock.advance(60_000);
    expect(sent).toEqual([]);
  });

  test('of a refused stream counts from the token', async () => {
    const { clock, log } = await replay((writer) => {
      writer.wire({ t: 50, type: 'token', bytes: 300 });
      writer.wire({ t: 60, type: 'close', by: 'service', code: 4401, reason: 'no' });
    });
    clock.advance(9);
    expect(log).toEqual([]);
    clock.advance(1);
    expect(log).toEqual(['close 4401 no']);
  });

  test('needs a stream', async () => {
    await expect(replay(() => {})).rejects.toMatchObject({ code: 'bad-input' });
  });
});

describe('over a real stream', () => {
  test.each([4000, 1005, 1006])('the close %i of the recording is also that of the replay', async (code) => {
    const { folder } = await bundles.write((writer) => {
      writer.wire({ t: 0, type: 'text', text: connected });
      writer.wire({ t: 5, type: 'close', by: 'service', code, reason: code === 4000 ? 'bye' : '' });
    });
    const emulator = await startEmulator({ reply: `replay:${folder}` });
    const { closed } = await emulator.connect();
    expect(await closed).toEqual({ code, reason: code === 4000 ? 'bye' : '' });
  });

  test('it is confirmed once, and a scenario plays for another device at the same time', async () => {
    const { folder } = await bundles.write((writer) => {
      writer.wire({ t: 0, type: 'text', text: '{"type":"service_voice_connected","from":"recording"}' });
      writer.wire({ t: 1, type: 'text', text: '{"type":"last"}' });
    });
    const steps = [{ when: 'connected', do: [{ send: { type: 'last' } }] }];
    const scenario = await loadScenario({ devices: { d2: { steps } } } as never);
    const emulator = await startEmulator({ reply: `replay:${folder}`, scenario });
    const messagesOf = async (device: string) => {
      const client = await emulator.connect(device);
      await client.until(() => client.messages.some(({ type }) => type === 'last'));
      return client.messages;
    };
    const confirmations = async (device: string) =>
      (await messagesOf(device)).filter(({ type }) => type === 'service_voice_connected');
    expect(await confirmations('d1')).toEqual([{ type: 'service_voice_connected', from: 'recording' }]);
    expect(await confirmations('d2')).toEqual([{ type: 'service_voice_connected' }]);
  });
});
