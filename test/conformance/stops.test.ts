import { describe, expect, test } from 'vitest';
import { developmentKey } from '../../src/protocol/token-request.ts';
import { check } from '../helpers/checks.ts';
import { lawful, type MiniBehaviour, type MiniService, startMiniService } from '../helpers/mini-service.ts';

/** A service that answers with a status from the third token request on. */
async function troubledService(status: number): Promise<MiniService & { refused(): number }> {
  let count = 0;
  const json = lawful.headers({} as never);
  const intercept: MiniBehaviour['intercept'] = (_request, response) => {
    count += 1;
    if (count < 3) return false;
    response.writeHead(status, json).end('{"error":{"code":"TROUBLE","message":"no"}}');
    return true;
  };
  const service = await startMiniService({ intercept });
  return Object.assign(service, { refused: () => count - 2 });
}

describe('a service that is in trouble from the third request on', () => {
  test.each([
    [401, 3, 'auth-refused'],
    [403, 3, 'auth-refused'],
    [429, 5, 'rate-limited'],
    [500, 6, 'service-error'],
    [503, 6, 'service-error'],
  ])('with %i the run stops within two more requests, with exit code %i', async (status, exitCode, code) => {
    await using service = await troubledService(status);
    const result = await check(service);
    expect(result).toMatchObject({ exitCode, stopped: { code } });
    expect(service.refused()).toBeLessThanOrEqual(2);
    const connections = service.arrived.filter(({ method }) => method === 'UPGRADE').length;
    expect(connections).toBe(0);
    expect(result.verdicts.skipped).toBeGreaterThan(10);
  });
});

test('the run stops when ten requests are left for the device', async () => {
  await using service = await startMiniService({ remaining: () => 10 });
  const result = await check(service);
  expect(result).toMatchObject({ exitCode: 5, spent: { tokens: 1 } });
});

test('one refusal that is not repeated does not stop the run', async () => {
  let isRefused = false;
  await using service = await startMiniService({
    intercept(_request, response) {
      if (isRefused) return false;
      isRefused = true;
      response.writeHead(503, lawful.headers({} as never)).end('{"error":{"code":"BUSY","message":"no"}}');
      return true;
    },
  });
  const result = await check(service);
  expect(result.stopped).toBeUndefined();
  expect(result.verdicts.fail).toBe(0);
});

test('the cost never exceeds the plan, and a wrong key is sent only once, even if every rule fails', async () => {
  await using service = await startMiniService({
    status: () => 201,
    claims: () => ({}),
    refusal: () => 'no',
    errorBody: () => 'no',
  });
  const result = await check(service);
  const { tokens, plain, connections } = result.spent;
  const posts = service.arrived.filter(({ method }) => method === 'POST');
  expect(posts).toHaveLength(tokens);
  expect(service.arrived).toHaveLength(tokens + plain + connections);
  expect(tokens).toBeLessThanOrEqual(23);
  expect(connections).toBeLessThanOrEqual(16);
  expect(posts.filter(({ body }) => body.includes('voicectl-wrong-key'))).toHaveLength(1);
});

test('--max-requests limits everything that is sent', async () => {
  await using service = await startMiniService();
  const result = await check(service, { maxRequests: 5 });
  expect(service.arrived.length).toBeLessThanOrEqual(5);
  expect(result.verdicts.fail).toBe(0);
  expect(result.verdicts.skipped).toBeGreaterThan(5);
});

test.each([
  [['R12'], ['POST /api/websocket-voice/token']],
  [['R15'], ['POST /api/websocket-voice/token']],
  [['R2'], ['POST /api/v1/websocket-voice/token']],
  [['R35'], ['POST /api/websocket-voice/token', 'UPGRADE /voice-stream']],
])('rule %s asks for no more than it needs', async (rules, expected) => {
  await using service = await startMiniService();
  const result = await check(service, { scope: { rules } });
  expect(result.rules.map(({ rule, finding }) => [rule.id, finding.verdict])).toEqual([[rules[0], 'pass']]);
  expect(service.arrived.map(({ method, path }) => `${method} ${path}`)).toEqual(expected);
});

test('--one-device uses no other device, and skips what needs one', async () => {
  await using service = await startMiniService();
  const result = await check(service, {
    scope: { isAlone: true, levels: new Set(['base', 'standard', 'exhaust']) },
  });
  const devices = service.arrived
    .filter(({ method }) => method === 'POST')
    .flatMap(({ body }) => /"deviceId":"([^"]+)"/.exec(body)?.[1] ?? []);
  expect([...new Set(devices)]).toEqual(['check-device']);
  const skipped = result.rules
    .filter(({ finding }) => finding.verdict === 'skipped')
    .map(({ rule }) => rule.id);
  expect(skipped).toEqual(['R27', 'R29', 'R30', 'R31', 'R32']);
  expect(result.verdicts.fail).toBe(0);
});

test('a suspicion about one device stays unknown with --one-device, and says why, although another rule asks again', async () => {
  await using service = await startMiniService({
    remaining: (left) => 2 * left - 60,
    claims: (claims) => ({ ...claims, exp: (claims.iat as number) + 90 }),
  });
  const alone = await check(service, { scope: { isAlone: true, rules: ['R12', 'R25'] } });
  expect(alone.rules.map(({ rule, finding }) => `${rule.id} ${finding.verdict}`)).toEqual([
    'R12 fail',
    'R25 unknown',
  ]);
  expect(alone.rules.find(({ rule }) => rule.id === 'R25')?.finding.message).toBe(
    'Remaining goes from 58 to 56: something else also uses this device, or each token counts as more than one (only another device can tell, and --one-device allows none)',
  );
  const several = await check(service, { scope: { rules: ['R12', 'R25'] } });
  expect(several.rules.map(({ finding }) => finding.verdict)).toEqual(['fail', 'fail']);
});

test('only a run that was stopped says so, and a limit that one device cannot reach does not depend on the level', async () => {
  await using service = await startMiniService({ upgradeStatus: 404 });
  const result = await check(service, {
    scope: { isAlone: true, levels: new Set(['base', 'standard', 'exhaust']) },
  });
  expect(result.stopped).toBeUndefined();
  const messages = result.rules.map(({ finding }) => finding.message);
  expect(messages.filter((message) => message.includes('stopped'))).toEqual([]);
  const about = (id: string) => result.rules.find(({ rule }) => rule.id === id)?.finding.message;
  expect(about('R30')).toBe('not possible with these options');
});

test('a refused made-up key is reported as made up, and a key of the user is not', async () => {
  const json = lawful.headers({} as never);
  const intercept: MiniBehaviour['intercept'] = (_request, response) => {
    response.writeHead(401, json).end('{"error":{"code":"INVALID_API_KEY","message":"no"}}');
    return true;
  };
  await using service = await startMiniService({ intercept });
  const { stopped } = await check({ ...service, apiKey: developmentKey });
  expect(stopped?.message).toMatch(/^No API key was set, and the service refuses the made-up one/);
  expect(stopped?.hint).toContain('VOICECTL_API_KEY');
  expect((await check(service)).stopped?.message).toMatch(/^The service does not accept the key/);
});
