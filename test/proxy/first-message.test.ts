import { once } from 'node:events';
import { describe, test } from 'vitest';
import { WebSocket } from 'ws';
import { createEmulator, type Emulator } from '../../src/emulator/emulator.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import type { EmulatorEvent } from '../../src/service/events.ts';

type First = { message?(token: string): string | Buffer; header?: string };

/** First messages that are no token, alone and as text. */
const wrong: Record<string, First> = {
  'the token in quotes': { message: (token) => JSON.stringify(token) },
  'the token in JSON': { message: (token) => JSON.stringify({ token }) },
  'the token after Bearer': { message: (token) => `Bearer ${token}` },
  'the token before a line break': { message: (token) => `${token}\n` },
  'text around the token': { message: (token) => `token=${token}&v=1` },
  'half of the token': { message: (token) => token.slice(0, 60) },
  'a greeting': { message: () => 'hello' },
  'JSON without a token': { message: () => '{"type":"start"}' },
  'an empty text': { message: () => '' },
  'a binary token': { message: (token) => Buffer.from(token) },
  'a binary token in quotes': { message: (token) => Buffer.from(JSON.stringify(token)) },
  'the token in a header': { header: 'Authorization' },
};

const askFor = async ({ baseUrl }: { baseUrl: string }): Promise<string> => {
  const answer = await fetch(`${baseUrl}/api/websocket-voice/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ apiKey: 'key-1', deviceId: 'lamp' }),
  });
  return ((await answer.json()) as { token: string }).token;
};

/** Presents a wrong first message, and stays until the service ends the stream. */
async function present(at: { baseUrl: string; wsUrl: string }, { message, header }: First): Promise<void> {
  const token = await askFor(at);
  const headers = header === undefined ? {} : { [header]: `Bearer ${token}` };
  const socket = new WebSocket(`${at.wsUrl}/voice-stream`, { headers });
  await once(socket, 'open');
  if (message !== undefined) socket.send(message(token));
  await once(socket, 'close');
}

const advised = ({ why, advice }: { why: string; advice: string }) => `${why}: ${advice}`;

describe.concurrent('a wrong first message is named by proxy as by serve:', () => {
  test.for(Object.entries(wrong))('%s', async ([, first], { expect }) => {
    const served: EmulatorEvent[] = [];
    const proxied: EmulatorEvent[] = [];
    await using emulator: Emulator = await createEmulator({
      dialect: { stream: { tokenDeadlineMs: 1_200 } },
      onEvent: (event) => served.push(event),
    });
    const proxy = await createProxy({ target: emulator, onEvent: (event) => proxied.push(event) });
    await present(proxy, first);
    const problems = served.flatMap((event) => (event.type === 'token-problem' ? [advised(event)] : []));
    // How much of the deadline has passed is known to the service alone.
    const [problem = ''] = problems.map((text) => text.replace(/, within .*/, ''));
    expect(problem).not.toBe('');
    await expect
      .poll(() => proxied.flatMap((event) => (event.type === 'violation' ? [event] : [])), { timeout: 5_000 })
      .toMatchObject([{ from: 'device', rule: 'D2', value: problem }]);
    await proxy.close();
  });
});
