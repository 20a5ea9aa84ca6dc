import { describe, expect, test } from 'vitest';
import { createEmulator } from '../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import type { EmulatorEvent } from '../../src/service/events.ts';
import { hasForeignClient, runForeignClient } from '../helpers/foreign-client.ts';

/** One run of the client against an emulator of its own: its report, and the end of its last stream. */
async function run(options: EmulatorOptions, ...args: string[]) {
  const closed: Extract<EmulatorEvent, { type: 'stream-closed' }>[] = [];
  await using emulator = await createEmulator({
    ...options,
    onEvent(event) {
      if (event.type === 'stream-closed') closed.push(event);
    },
  });
  const report = await runForeignClient(emulator.baseUrl, args);
  await emulator.close();
  return { closed: closed.at(-1), report };
}

const quick = ['--quiet', '1', '--wait', '5'];
const closedBy = (code: number) => expect.objectContaining({ closeCode: code, closedBy: 'service' });

describe.skipIf(!hasForeignClient).concurrent('a foreign client', () => {
  test('holds a session, and hears what it said', async () => {
    const { report, closed } = await run({ reply: 'echo' }, ...quick, '--mode', 'session');
    expect(report.token.status).toBe(200);
    expect(report.token.claims).toMatchObject({ aud: 'voice-api', sub: 'foreign-client' });
    expect(report.token.claims.exp - report.token.claims.iat).toBe(60);
    expect(report.stream).toMatchObject({
      handshakeStatus: 101,
      extensions: [],
      connected: true,
      audioBytesIn: 32_000,
      closedBy: 'client',
    });
    expect(report.stream.heardSha256).toBe(report.stream.sentSha256);
    expect(closed).toMatchObject({ code: 1000, framesIn: 50, framesOut: 50 });
  });

  test('gets 10 of 50 connections', async () => {
    const { report } = await run(
      { reply: 'silence' },
      '--hold',
      '60',
      '--timeout',
      '60',
      '--mode',
      'connect-many',
      '50',
    );
    expect(report).toMatchObject({
      attempts: 50,
      connected: 10,
      tokenStatuses: { 200: 50 },
      refusedCloseCodes: { 4429: 40 },
      cutWhileHeld: 0,
    });
  });

  test('gets 60 of 200 tokens', async () => {
    const { report } = await run({}, '--timeout', '120', '--mode', 'token-many', '200');
    // On a busy machine a client that sends 200 requests at once may need 5 s for one of them: 408.
    const { 408: late = 0, ...answered } = report.statuses;
    expect(answered).toEqual({ 200: 60, 429: 140 - late });
    expect(report).toMatchObject({ errors: {}, distinctTokens: 60 });
    const names = report.firstRefused.headers.map(([name]: [string]) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'X-RateLimit-Limit',
        'X-RateLimit-Remaining',
        'X-RateLimit-Reset',
        'Retry-After',
      ]),
    );
  });

  test('opens one stream with a token that it presents 100 times', async () => {
    const { report } = await run(
      // All wait for the last of them: on a busy machine that takes longer than a token may.
      { reply: 'silence', dialect: { stream: { tokenDeadlineMs: 60_000 } } },
      '--timeout',
      '60',
      '--hold',
      '1',
      '--mode',
      'replay',
      '100',
    );
    expect(report).toMatchObject({ attempts: 100, connected: 1, refusedCloseCodes: { 4401: 99 } });
  });

  test('opens none with a forged token, and one with the good one', async () => {
    const { report } = await run({ reply: 'silence' }, '--mode', 'bad-tokens');
    expect(report).toMatchObject({ accepted: [], goodAccepted: true });
    for (const outcome of Object.values(report.forgeries)) expect(outcome).toEqual(closedBy(4401));
  });

  test('loses no audio that it sends before its token', async () => {
    const { report } = await run({ reply: 'echo' }, ...quick, '--mode', 'audio-first', '30');
    expect(report.stream.heardSha256).toBe(report.stream.sentSha256);
    expect(report.stream.audioBytesIn).toBe(32_000);
  });

  test('is closed when it sends nothing', async () => {
    const stream = { tokenDeadlineMs: 300 };
    const { report } = await run({ dialect: { stream } }, '--mode', 'no-token');
    expect(report.stream).toEqual(closedBy(4408));
    expect(JSON.parse(report.stream.messages[0].text).error.code).toBe('TOKEN_TIMEOUT');
  });

  test('may send text after its token, and gets an error', async () => {
    const { report } = await run({ reply: 'echo' }, ...quick, '--mode', 'text-after');
    const errors = report.stream.messages.filter(({ text }: { text: string }) =>
      text.includes('UNEXPECTED_TEXT'),
    );
    expect(errors).toHaveLength(report.texts);
    expect(report.stream.heardSha256).toBe(report.stream.sentSha256);
  });

  test('may cut its audio anywhere', async () => {
    const { report } = await run({ reply: 'echo' }, ...quick, '--mode', 'odd');
    expect(report.stream.heardSha256).toBe(report.stream.sentSha256);
  });

  test('is closed for 300 fragments, and not for 256', async () => {
    const refused = await run({ reply: 'echo' }, ...quick, '--mode', 'fragments', '300');
    expect(refused.report.stream).toEqual(closedBy(1008));
    const taken = await run({ reply: 'echo' }, ...quick, '--mode', 'fragments', '256');
    expect(taken.report.stream.heardSha256).toBe(taken.report.stream.sentSha256);
  });

  test('is closed for a byte more than 1 MiB', async () => {
    const taken = await run({ reply: 'echo' }, ...quick, '--mode', 'big');
    expect(taken.report.stream.heardSha256).toBe(taken.report.stream.sentSha256);
    const refused = await run({ reply: 'echo' }, ...quick, '--mode', 'big', String(2 ** 20 + 1));
    expect(refused.report.stream).toEqual(closedBy(1009));
  });

  test('is cut when it does not read', async () => {
    const { closed } = await run({ reply: 'echo' }, '--hold', '1', '--mode', 'no-read');
    expect(closed).toMatchObject({ cause: 'slowReader' });
  });
});
