import { describe, expect, test } from 'vitest';
import { loadScenario } from '../../../src/emulator/scenario/scenario.ts';
import { emulatorLines } from '../../../src/report/emulator-lines.ts';
import { createStyle } from '../../../src/report/style.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';
import { silence } from '../../helpers/pcm.ts';

const startEmulator = setUpEmulators();
const plain = createStyle(false);

describe('what somebody does', () => {
  test('is an event, a line and an entry of the journal', async () => {
    const emulator = await startEmulator({ reply: 'parrot' });
    await emulator.connect('d');
    const { control } = emulator;
    control.advance(61_000);
    const { id } = control.faults.add('token-slow');
    control.faults.clear(id);
    control.event({}, 'door');
    control.speak({}, silence(100));
    const lines = emulator.events.flatMap((event) => emulatorLines(event, plain));
    const said = lines.flatMap((line) => line.split('· control  ')[1] ?? []);
    expect(said).toEqual([
      'the clock was moved forward by 61 s',
      'fault 1 was added: token-slow',
      '1 fault was cleared',
      'event "door": no stream is waiting for it',
      '0.10 s of speech (stream 1)',
    ]);
    expect(control.journal.read({ type: 'control' }, 10)).toHaveLength(5);
  });

  test('is in the journal after a reset, which clears everything else', async () => {
    const emulator = await startEmulator();
    emulator.control.advance(1_000);
    emulator.control.reset();
    expect(emulator.control.journal.read({}, 10)).toMatchObject([
      { type: 'control', what: 'the emulator was reset', streams: [] },
    ]);
  });

  test('reaches a scenario that waits for an event', async () => {
    const scenario = await loadScenario({
      steps: [{ when: { event: 'door' }, do: [{ close: { code: 1000 } }] }],
    });
    const emulator = await startEmulator({ scenario });
    const client = await emulator.connect('d');
    expect(emulator.control.event({}, 'door')).toEqual([1]);
    expect(await client.closed).toMatchObject({ code: 1000 });
    expect(await emulator.event('control')).toMatchObject({ what: 'event "door"', streams: [1] });
  });
});

describe('a reply of a program', () => {
  test('without said and event is sent speech without a status, and no event', async () => {
    const emulator = await startEmulator({ reply: () => ({ hear() {} }) });
    const client = await emulator.connect('d');
    expect(emulator.control.event({}, 'door')).toEqual([]);
    emulator.control.speak({}, silence(40));
    await client.until(() => client.audio.length === 1_280);
    expect(client.messages).toHaveLength(1);
    expect(await emulator.event('control')).toMatchObject({
      what: 'event "door": no stream is waiting for it',
    });
  });

  test('has taken an event at which it closes its stream', async () => {
    const emulator = await startEmulator({
      reply: (voice) => ({ hear() {}, event: () => voice.close(1000, 'bye') }),
    });
    const client = await emulator.connect('d');
    expect(emulator.control.event({}, 'door')).toEqual([1]);
    expect(await client.closed).toMatchObject({ code: 1000 });
    expect(await emulator.event('control')).toMatchObject({ what: 'event "door"', streams: [1] });
  });
});

test('skipped time makes no session longer', async () => {
  const clock = createManualClock();
  const emulator = await startEmulator({ reply: 'silence', clock });
  const client = await emulator.connect('d');
  clock.advance(500);
  emulator.control.advance(60_000);
  expect(emulator.control.state().streams).toMatchObject([{ durationMs: 500 }]);
  client.socket.close();
  expect(await emulator.event('stream-closed')).toMatchObject({ durationMs: 500 });
});

test('a close reports the code that was sent and the one that was answered', async () => {
  const emulator = await startEmulator({ reply: 'silence' });
  const client = await emulator.connect('d');
  client.socket.pause();
  emulator.control.close({}, 1012, 'back soon');
  // The peer closes by itself, before it has read the close.
  client.socket.close(1002);
  client.socket.resume();
  const closed = await emulator.event('stream-closed');
  expect(closed).toMatchObject({ sentCode: 1012, code: 1002 });
  expect(emulatorLines(closed, plain)[0]).toMatch(/closed {2}with 1012 .*; the device answered with 1002; /);
});

test('speech on an idle stream begins with the status speaking and ends with listening', async () => {
  const emulator = await startEmulator({ reply: 'parrot' });
  const client = await emulator.connect('d');
  await client.until(() => client.messages.length === 2);
  emulator.control.speak({}, silence(40));
  await client.until(() => client.messages.length === 4);
  expect(client.messages.slice(1)).toMatchObject([
    { status: 'listening' },
    { status: 'speaking' },
    { status: 'listening' },
  ]);
});

test('nothing is sent before a late confirmation, and nothing that was said meanwhile is lost', async () => {
  const clock = createManualClock();
  const emulator = await startEmulator({ reply: 'echo', clock, faults: ['connected-late:delay=3s'] });
  const token = await emulator.token('d');
  const client = emulator.open();
  await client.opened;
  await client.send(token);
  await emulator.event('stream-authorised');
  await client.send(Buffer.alloc(640, 1));
  await new Promise((resolve) => {
    client.socket.once('pong', resolve);
    client.socket.ping();
  });
  expect(client.heard).toEqual([]);
  clock.advance(3_000);
  await client.until(() => client.audio.length === 640);
  expect(client.heard[0]).toEqual({ type: 'service_voice_connected' });
});
