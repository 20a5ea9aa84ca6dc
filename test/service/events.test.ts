import { expect, test } from 'vitest';
import { emulatorLines } from '../../src/report/emulator-lines.ts';
import { createStyle } from '../../src/report/style.ts';
import { concealKeys } from '../../src/service/conceal-keys.ts';
import { createEmulatorEvents, type EmulatorEvent } from '../../src/service/events.ts';
import { setUpEmulators } from '../helpers/emulators.ts';
import { everyEmulatorEvent } from '../helpers/every-event.ts';

const startEmulator = setUpEmulators();

test('events have the time since the start, and reach every listener in order until it leaves', () => {
  let now = 1_000;
  const events = createEmulatorEvents(() => now);
  const first: EmulatorEvent[] = [];
  const second: EmulatorEvent[] = [];
  const leave = events.subscribe((event) => first.push(event));
  events.subscribe((event) => second.push(event));
  now = 1_012.34;
  events.emit({ type: 'stopping' });
  leave();
  events.emit({ type: 'stopping' });
  expect(first).toEqual([{ t: 12.3, type: 'stopping' }]);
  expect(second).toHaveLength(2);
});

test('no event of a whole session or of a refusal contains a key, a token, a secret or audio', async () => {
  const key = 'canary-key-5d1f';
  const secret = 'canary-secret-of-more-than-32-bytes';
  const emulator = await startEmulator({
    acceptKeys: [key],
    rateLimit: 2,
    dialect: { token: { secret } },
    reply: 'echo',
  });
  const ask = (apiKey: string) => emulator.requestToken('d', { apiKey });
  const token = (await ask(key)).body.token!;
  await ask(key);
  await ask(key);
  await ask('canary-wrong-key');
  // A device that swaps its fields.
  await emulator.requestToken(key, { apiKey: 'd' });
  await ask(`canary-${'x'.repeat(300)}`);
  await fetch(`${emulator.baseUrl}/nowhere?apiKey=${key}`);
  await fetch(`${emulator.baseUrl}/api/websocket-voice/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: key },
    body: `{"apiKey":"${key}"`,
  });
  const open = async (text: string) => {
    const client = emulator.open();
    await client.opened;
    client.socket.send(text);
    return client;
  };
  const good = await open(token);
  await good.connected;
  await good.send(token);
  await good.send('canary-text');
  await good.send(Buffer.from('canary-audio'));
  await good.until(() => good.audio.length === 12);
  await (await open(token)).closed;
  await (await open(`${token}x`)).closed;
  await (await open('canary-no-token')).closed;
  await emulator.close();

  const seen = JSON.stringify(emulator.events);
  const types = new Set(emulator.events.map(({ type }) => type));
  expect([...types]).toEqual(
    expect.arrayContaining([
      'token-issued',
      'request-refused',
      'stream-authorised',
      'text-received',
      'stream-closed',
    ]),
  );
  expect(seen).not.toContain('canary');
  for (const part of token.split('.').slice(1)) expect(seen).not.toContain(part);
  expect(seen).not.toContain(Buffer.from('canary-audio').toString('base64'));
});

/** An event that leaves an emulator with accepted keys. */
function emitted(keys: string[], body: EmulatorEvent): EmulatorEvent | undefined {
  const events = createEmulatorEvents(() => 0);
  const seen: EmulatorEvent[] = [];
  events.subscribe((event) => seen.push(event));
  concealKeys(events, keys).emit(body);
  return seen[0];
}

test('accepted keys that are words of ours change the text of events, but never their kind', () => {
  const words = [
    ...['stream', 'device', 'service', 'control', 'warning', 'message', 'refused', 'status', 'speaking'],
    ...['rateLimited', 'violation', 'remark', 'remarks', 'stream-opened', 'reply-started', 'reason'],
  ];
  const shapeOf = ({ type, ...rest }: EmulatorEvent) => ({
    type,
    names: Object.keys(rest).toSorted(),
    enums: [rest.from, rest.level, 'cause' in rest && rest.cause, 'rule' in rest && rest.rule],
    finding: 'finding' in rest && rest.finding,
    body: 'body' in rest && rest.body,
  });
  for (const { event } of everyEmulatorEvent) {
    const [plain, concealed] = [emitted([], event)!, emitted(words, event)!];
    expect(shapeOf(concealed)).toEqual(shapeOf(plain));
    expect(emulatorLines(concealed, createStyle(false)).length).toBe(
      emulatorLines(plain, createStyle(false)).length,
    );
  }
});

test('an accepted key is concealed in texts and messages, and if it is the whole name of a device', () => {
  const key = 'canary-key-5d1f';
  const closed = everyEmulatorEvent.find(({ type }) => type === 'stream-closed')!.event;
  expect(
    emitted([key], { ...closed, reason: `bye ${key}`, remarks: [`it says ${key}`] } as never),
  ).toMatchObject({ reason: 'bye [redacted]', remarks: ['it says [redacted]'] });
  const sent = everyEmulatorEvent.find(({ type }) => type === 'message-sent')!.event;
  expect(
    emitted([key], { ...sent, body: { type: 'note', [key]: 1, said: [{ it: key }] } } as never),
  ).toMatchObject({ body: { type: 'note', [key]: 1, said: [{ it: '[redacted]' }] } });
  for (const [device, shown] of [
    [key, '[redacted]'],
    ['k', '[redacted]'],
    [`kitchen ${key}`, `kitchen ${key}`],
  ])
    expect(emitted([key, 'k'], { ...sent, device } as never)).toMatchObject({ device: shown });
});

/** Fields whose text is ours or the system's, whatever a device sends. */
const ours = new Set([
  ...['t', 'type', 'level', 'from', 'cause', 'status', 'code', 'rule', 'finding', 'fault', 'protocol'],
  ...['version', 'baseUrl', 'wsUrl', 'remote'],
]);

test.each(everyEmulatorEvent)('an accepted key is concealed in every text of $type', ({ event }) => {
  const key = 'canary-key-5d1f';
  const given = { path: '', sent: { contentType: '', accept: '', userAgent: '' }, ...event };
  const keyed = JSON.parse(JSON.stringify(given), (name, value) =>
    typeof value === 'string' && !ours.has(name) ? key : value,
  );
  expect(JSON.stringify(keyed)).toContain(key);
  expect(JSON.stringify(emitted([key], keyed))).not.toContain(key);
});

test('an accepted key is concealed at any depth of a message', () => {
  const body = JSON.parse(
    `{"type":"x","deep":${'['.repeat(3_500)}"first-key"${']'.repeat(3_500)},"key":"first-key"}`,
  );
  const event = emitted(['first-key'], { t: 0, type: 'message-sent', stream: 1, device: 'd', body });
  expect(event).toMatchObject({ body: { type: 'x', key: '[redacted]' } });
  expect(JSON.stringify(event)).not.toContain('first-key');
});
