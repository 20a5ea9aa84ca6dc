import { expect, test } from 'vitest';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';

const startEmulator = setUpEmulators();

test('a delayed fault strikes when its time has come, but not if it was cleared before', async () => {
  const clock = createManualClock();
  const emulator = await startEmulator({ clock, reply: 'silence', faults: ['message-error:after=1s'] });
  const client = await emulator.connect();
  const { id } = emulator.control.faults.add('close:after=2s');
  const struck = () =>
    emulator.events.flatMap((event) => (event.type === 'fault-struck' ? [event.fault] : []));
  expect(struck()).toEqual([]);
  clock.advance(1_000);
  expect(struck()).toEqual(['message-error']);
  emulator.control.faults.clear(id);
  clock.advance(2_000);
  expect(struck()).toEqual(['message-error']);
  await client.until(() => client.messages.find(({ type }) => type === 'error'));
  expect(client.socket.readyState).toBe(1);
});
