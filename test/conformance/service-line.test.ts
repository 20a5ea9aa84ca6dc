import { expect, test } from 'vitest';
import { openLine } from '../../src/conformance/service-line.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createRedactor } from '../../src/kernel/redact.ts';
import { serviceUrl, streamPath } from '../../src/protocol/paths.ts';
import { serviceRules } from '../../src/rules/catalogue.ts';
import { setUpEmulators } from '../helpers/emulators.ts';

const startEmulator = setUpEmulators();
const mebibyte = 1024 * 1024;

/** A line on which nothing was presented yet, to an emulator with these options. */
async function open(options: Parameters<typeof startEmulator>[0]) {
  const emulator = await startEmulator(options);
  const line = await openLine({
    ...{ url: serviceUrl(emulator.wsUrl, streamPath), clock: systemClock, redactor: createRedactor() },
    signal: new AbortController().signal,
    ca: undefined,
  });
  return { emulator, line };
}

test('a message of 9 MiB that we send is answered by the service, and cuts nothing', async () => {
  const { line } = await open({ dialect: { stream: { maxMessageBytes: 4 * mebibyte } } });
  line.present('x'.repeat(9 * mebibyte));
  await line.until(() => !line.isOpen, 10_000);
  expect(line.exchange().end).toMatchObject({ by: 'service', code: 1009, breakdown: undefined });
});

test('a service that sends more than 8 MiB is cut, and has broken no rule', async () => {
  const { emulator, line } = await open({ reply: 'silence' });
  line.present(await emulator.token('d1'));
  await line.until(() => line.isConfirmed, 10_000);
  const text = 'x'.repeat(mebibyte);
  while (line.isOpen) {
    const before = line.heard.messages;
    emulator.control.send({}, { json: { type: 'long', text } });
    await line.until(() => line.heard.messages > before, 10_000);
  }
  expect(line.exchange().end).toMatchObject({
    by: 'device',
    breakdown: {
      by: 'device',
      code: 'stream-broken',
      message: 'The service sent more than voicectl keeps of a stream: 8 MiB or 20000 messages',
    },
  });
  const r37 = serviceRules.find(({ id }) => id === 'R37');
  expect(r37?.judge([{ id: 'S2', exchange: line.exchange() }])?.verdict).not.toBe('fail');
});

test('a service that sends many short messages is heard to the end', async () => {
  const { emulator, line } = await open({ reply: 'silence' });
  line.present(await emulator.token('d1'));
  await line.until(() => line.isConfirmed, 10_000);
  const before = line.heard.messages;
  // A minute of audio in messages of 20 ms.
  for (let sent = 0; sent < 3_000; sent += 1) emulator.control.send({}, { json: { type: 'short' } });
  expect(await line.until(() => line.heard.messages === before + 3_000, 10_000)).toBe(true);
  await line.close();
  expect(line.exchange().end).toMatchObject({ by: 'device', code: 1000, breakdown: undefined });
});
