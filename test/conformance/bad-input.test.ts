import { describe, expect, test } from 'vitest';
import { check } from '../helpers/checks.ts';
import { startMiniService } from '../helpers/mini-service.ts';
import { setUpServices, upgradeByHand } from '../helpers/services.ts';

const services = setUpServices();
const page = '<!doctype html><title>Welcome</title><h1>Sign in</h1>';

/** The exit code, and the verdicts of some rules. */
async function verdicts(baseUrl: string, rules: readonly string[], wsUrl = baseUrl.replace('http', 'ws')) {
  const result = await check({ baseUrl, wsUrl }, { requestsPerSecond: 1_000 });
  const found = result.rules.filter(({ rule }) => rules.includes(rule.id));
  return {
    exitCode: result.exitCode,
    ...Object.fromEntries(found.map(({ rule, finding }) => [rule.id, finding.verdict])),
  };
}

describe('what is not a service', () => {
  test('a page behind a balancer is unknown, and the run stops', async () => {
    const { baseUrl, requests } = await services.http((response) => {
      response.writeHead(503, { 'Content-Type': 'text/html' }).end(page);
    });
    expect(await verdicts(baseUrl, ['R1', 'R2'])).toEqual({ exitCode: 6, R1: 'unknown', R2: 'skipped' });
    expect(requests.length).toBeLessThan(6);
  });

  test('a captive portal that answers 200 with a page is not a service', async () => {
    const { baseUrl } = await services.http((response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end(page);
    });
    expect(await verdicts(baseUrl, ['R1', 'R6'])).toEqual({ exitCode: 6, R1: 'unknown', R6: 'unknown' });
  });

  test('a portal that redirects gets no key', async () => {
    const { baseUrl, requests } = await services.http((response) => {
      response.writeHead(302, { Location: '/login' }).end();
    });
    expect(await verdicts(baseUrl, ['R1'])).toEqual({ exitCode: 6, R1: 'unknown' });
    expect(requests.filter(({ url }) => url === '/login')).toEqual([]);
  });

  test('200 with an empty object for everything fails the rules about tokens', async () => {
    const { baseUrl } = await services.http((response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
    expect(await verdicts(baseUrl, ['R1', 'R6', 'R12', 'R15', 'R33'])).toEqual({
      ...{ exitCode: 1, R1: 'pass', R6: 'fail' },
      ...{ R12: 'unknown', R15: 'fail', R33: 'fail' },
    });
  });

  test.each([5_000, 20_000])(
    'a token nested %i deep is not a token, and the run continues',
    async (depth) => {
      const deep = `{"sub":${'['.repeat(depth)}${']'.repeat(depth)}}`;
      const part = (text: string) => Buffer.from(text).toString('base64url');
      const token = `${part('{"alg":"HS256"}')}.${part(deep)}.c2lnbmF0dXJl`;
      const { baseUrl } = await services.http((response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ token }));
      });
      expect(await verdicts(baseUrl, ['R1', 'R9'])).toMatchObject({ exitCode: 1, R1: 'pass', R9: 'fail' });
    },
  );

  test.each([5_000, 20_000])(
    'an error nested %i deep is no error body, and the run continues',
    async (depth) => {
      const deep = `{"error":${'['.repeat(depth)}${']'.repeat(depth)}}`;
      const { baseUrl } = await services.http((response) => {
        response.writeHead(400, { 'Content-Type': 'application/json' }).end(deep);
      });
      expect(await verdicts(baseUrl, ['R1', 'R21'])).toMatchObject({ exitCode: 1, R21: 'fail' });
    },
  );

  test('if nobody listens, nothing can be checked', async () => {
    const baseUrl = `http://127.0.0.1:${await services.unusedPort()}`;
    expect(await verdicts(baseUrl, ['R1'])).toEqual({ exitCode: 4, R1: 'unknown' });
  });

  test('a service that cuts each connection counts as absent', async () => {
    const { port } = await services.tcp((socket) => socket.destroy());
    expect((await verdicts(`http://127.0.0.1:${port}`, [])).exitCode).toBe(4);
  });

  test.each([
    ['sends no answer', ''],
    ['sends half an answer', 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"tok'],
  ])('a service that %s and hangs is waited for twice', async (_what, text) => {
    const { port, sockets } = await services.tcp((socket) => socket.write(text));
    expect(await verdicts(`http://127.0.0.1:${port}`, ['R6', 'R33'])).toEqual({
      ...{ exitCode: 7, R6: 'unknown', R33: 'skipped' },
    });
    expect(sockets).toHaveLength(2);
  });

  test('bytes that are not HTTP are not an answer', async () => {
    const { port } = await services.tcp((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
    expect([4, 6]).toContain((await verdicts(`http://127.0.0.1:${port}`, [])).exitCode);
  });
});

describe('a token endpoint with another kind of stream', () => {
  test('an ordinary echo WebSocket fails, and the report contains no token', async () => {
    await using tokens = await startMiniService();
    const wsUrl = await services.ws((peer) => {
      peer.on('message', (data, isBinary) => peer.send(data, { binary: isBinary }));
    });
    const result = await check({ ...tokens, wsUrl });
    const found = Object.fromEntries(result.rules.map(({ rule, finding }) => [rule.id, finding.verdict]));
    expect(found).toMatchObject({ R33: 'pass', R35: 'fail', R39: 'fail' });
    expect(JSON.stringify(result)).not.toMatch(/eyJ[\w-]+\.[\w-]+\.[\w-]+/);
  });

  test('one that floods is cut off', async () => {
    await using tokens = await startMiniService();
    const wsUrl = await services.ws((peer) => {
      const flood = (failed?: Error) => failed ?? peer.send(Buffer.alloc(64 * 1024), flood);
      flood();
    });
    const result = await check({ ...tokens, wsUrl }, { scope: { rules: ['R34', 'R35'] } });
    // The limit at which the line is cut is ours.
    expect(result.rules.map(({ finding }) => finding.verdict)).toEqual(['fail', 'unknown']);
  });

  test('one that breaks the WebSocket protocol is reported as such', async () => {
    await using tokens = await startMiniService();
    const { port } = await services.tcp((socket) =>
      upgradeByHand(socket, { onOpen: () => socket.write(Buffer.of(0xff, 0x01)) }),
    );
    const result = await check(
      { ...tokens, wsUrl: `ws://127.0.0.1:${port}` },
      { scope: { rules: ['R33', 'R35'] } },
    );
    expect(result.rules.map(({ finding }) => finding.verdict)).toEqual(['pass', 'fail']);
  });

  test('one that does not react to a token is waited for at most twice', async () => {
    await using tokens = await startMiniService();
    const wsUrl = await services.ws(() => {});
    const result = await check({ ...tokens, wsUrl });
    expect(result).toMatchObject({ exitCode: 7, stopped: { code: 'timed-out' } });
    expect(result.verdicts.fail).toBe(0);
  });
});
