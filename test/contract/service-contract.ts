import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, openStream, type PlainStream, parseJson, post } from './plain-client.ts';

export interface Service {
  /** `http://host:port` */
  baseUrl: string;
  /** `ws://host:port` */
  wsUrl: string;
  /** A key that the service accepts. */
  apiKey: string;
  close(): Promise<void>;
}

/**
 * What the specification says of the service, sentence by sentence, and nothing that it calls "not shown": run
 * against whatever claims to be the service. All values are the specification's own, written out here and not
 * taken from the program.
 *
 * @param startService starts a service whose AI gives audio back as it comes (echo), once for the whole suite;
 *   each test is a device of its own.
 */
export function describeService(name: string, startService: () => Promise<Service>): void {
  describe(name, () => {
    let service: Service | undefined;
    const streams: PlainStream[] = [];
    beforeAll(async () => {
      service = await startService();
    });
    afterEach(async () => {
      await Promise.all(streams.splice(0).map((stream) => stream.cut()));
    });
    afterAll(async () => {
      await service?.close();
    });

    const client: Client = {
      post: (path, body, headers) => post(service!.baseUrl + path, body, headers),
      request: (path, { deviceId = newDevice(), headers } = {}) =>
        post(service!.baseUrl + path, JSON.stringify({ apiKey: service!.apiKey, deviceId }), headers),
      requestWith: (path, fields) =>
        post(
          service!.baseUrl + path,
          JSON.stringify({ apiKey: service!.apiKey, deviceId: newDevice(), ...fields }),
        ),
      open() {
        const stream = openStream(`${service!.wsUrl}/voice-stream`);
        streams.push(stream);
        return stream;
      },
      async connect(token) {
        const stream = client.open();
        await stream.opened;
        stream.send(token);
        await stream.until(() => stream.heard.length > 0);
        return stream;
      },
    };

    describe.each(tokenPaths)('POST %s', (path) => {
      describeAnswer(client, path);
      describeClaims(client, path);
      describeInvalidRequests(client, path);
      describeRateLimit(client, path);
    });
    describe('the voice stream', () => describeStream(client));
  });
}

/** "Both forms appear." */
const tokenPaths = ['/api/websocket-voice/token', '/api/v1/websocket-voice/token'];

/** What the tests call the service with. */
interface Client {
  post(path: string, body: string, headers?: Record<string, string>): Promise<Answer>;
  /** A token request that is as it should be. */
  request(path: string, options?: { deviceId?: string; headers?: Record<string, string> }): Promise<Answer>;
  /** A token request in which these fields are something else; one that is undefined is left out. */
  requestWith(path: string, fields: Record<string, unknown>): Promise<Answer>;
  /** A stream that has presented nothing yet; it is cut after the test. */
  open(): PlainStream;
  /** A stream that has presented the token and heard something. */
  connect(token: string): Promise<PlainStream>;
}

function describeAnswer({ request }: Client, path: string): void {
  test('the success status is 200', async () => {
    const { status, text } = await request(path);
    expect(status, text).toBe(200);
  });

  test('a request may say Accept: application/json, and need not', async () => {
    const { status, text } = await request(path, { headers: { Accept: 'application/json' } });
    expect(status, text).toBe(200);
  });

  test('the answer has Content-Type: application/json', async () => {
    const { headers } = await request(path);
    expect(headers['content-type']?.split(';')[0]?.trim().toLowerCase()).toBe('application/json');
  });

  test('the answer must not be cached: Cache-Control is no-cache, no-store, must-revalidate', async () => {
    const { headers } = await request(path);
    expect(headers['cache-control']).toBe('no-cache, no-store, must-revalidate');
  });

  test('the success body is a JSON object with token, a string', async () => {
    const { text } = await request(path);
    expect(parseJson(text)).toMatchObject({ token: expect.stringMatching(/./) });
  });
}

function describeClaims({ request }: Client, path: string): void {
  const issue = async (deviceId?: string) => {
    const answer = await request(path, deviceId === undefined ? {} : { deviceId });
    return { ...answer, claims: claimsOf(tokenOf(answer)) };
  };

  test('the token is a JWT', async () => {
    const parts = tokenOf(await request(path)).split('.');
    expect(parts).toHaveLength(3);
    for (const part of parts) expect(part).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(decodePart(parts[0])).toBeInstanceOf(Object);
    expect(decodePart(parts[1])).toBeInstanceOf(Object);
  });

  test('the claims are sub, iat, exp, aud and iss, and at most a jti beside them', async () => {
    const { claims } = await issue();
    const names = Object.keys(claims).filter((name) => name !== 'jti');
    expect(names.sort()).toEqual(['aud', 'exp', 'iat', 'iss', 'sub']);
  });

  test('sub is the device ID from the request', async () => {
    const deviceId = `Gerät № 7, ${newDevice()}`;
    expect((await issue(deviceId)).claims.sub).toBe(deviceId);
  });

  test('iat is the issue time, as a numeric timestamp', async () => {
    const { claims, sentAt, answeredAt } = await issue();
    const { iat } = claims;
    // Whole seconds may be rounded either way.
    expect(iat).toBeGreaterThanOrEqual(Math.floor(sentAt / 1000) - 1);
    expect(iat).toBeLessThanOrEqual(Math.ceil(answeredAt / 1000) + 1);
  });

  test('exp is 60 seconds after iat', async () => {
    const { iat, exp } = (await issue()).claims;
    expect(exp).toBeTypeOf('number');
    expect(Number(exp) - Number(iat)).toBe(60);
  });

  test('aud is the constant voice-api', async () => {
    expect((await issue()).claims.aud).toBe('voice-api');
  });

  test('iss is a fixed string, whichever device asks', async () => {
    const [first, second] = await Promise.all([issue(), issue()]);
    expect(first.claims.iss).toEqual(expect.stringMatching(/./));
    expect(second.claims.iss).toBe(first.claims.iss);
  });
}

function describeInvalidRequests({ post, requestWith }: Client, path: string): void {
  const fields = ['apiKey', 'deviceId'];
  const refused = { error: { code: 'INVALID_REQUEST', message: expect.stringMatching(/./) } };

  test.each(fields)('a request without %s is an INVALID_REQUEST', async (field) => {
    const answer = await requestWith(path, { [field]: undefined });
    expect(errorOf(answer)).toMatchObject(refused);
  });

  test.each(fields)('where %s is missing, the message names it', async (field) => {
    const answer = await requestWith(path, { [field]: undefined });
    expect(errorOf(answer).error.message).toContain(field);
  });

  test.each(fields)('where %s is missing, the details hold its name and its expected type', async (field) => {
    const answer = await requestWith(path, { [field]: undefined });
    expect(errorOf(answer).error.details).toMatchObject({ field, expected: 'string' });
  });

  test.each(fields)('an empty string as %s is an INVALID_REQUEST with details', async (field) => {
    const answer = await requestWith(path, { [field]: '' });
    expect(errorOf(answer)).toMatchObject(refused);
    expect(errorOf(answer).error.details).toMatchObject({ field, expected: 'string' });
  });

  test.each([
    ['nothing at all', ''],
    ['an object that does not end', '{"apiKey": "a", "deviceId": "b"'],
    ['a form', 'apiKey=a&deviceId=b'],
    ['an object in single quotes', "{'apiKey': 'a', 'deviceId': 'b'}"],
  ])('a body that is not valid JSON is an INVALID_REQUEST: %s', async (_what, body) => {
    expect(errorOf(await post(path, body))).toMatchObject(refused);
  });
}

function describeRateLimit({ request }: Client, path: string): void {
  test('the answer says how many requests are allowed, how many are left and when that resets', async () => {
    const { headers } = await request(path);
    expect(headers).toMatchObject({
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '59',
      'x-ratelimit-reset': expect.stringMatching(/./),
    });
  });

  test('X-RateLimit-Reset is a timestamp: 60 seconds after the first request', async () => {
    const { headers, sentAt, answeredAt } = await request(path);
    const resetAt = readTimestamp(String(headers['x-ratelimit-reset']));
    // Whole seconds may be rounded either way.
    expect(resetAt).toBeGreaterThanOrEqual(sentAt + 59_000);
    expect(resetAt).toBeLessThanOrEqual(answeredAt + 61_000);
  });

  test('a device has 60 requests a minute, counted down; one more is an error, and no other device notices', async () => {
    const [deviceId, other] = [newDevice(), newDevice()];
    await request(path, { deviceId: other });
    for (let left = 59; left >= 0; left -= 1) {
      const { status, headers, text } = await request(path, { deviceId });
      expect(status, `with ${left} left after it: ${text}`).toBe(200);
      expect(headers['x-ratelimit-remaining']).toBe(String(left));
    }
    const tooMany = await request(path, { deviceId });
    expect(errorOf(tooMany)).toMatchObject({
      error: { code: expect.stringMatching(/./), message: expect.stringMatching(/./) },
    });
    const { status, headers } = await request(path, { deviceId: other });
    expect(status).toBe(200);
    expect(headers['x-ratelimit-remaining']).toBe('58');
  });
}

function describeStream({ request, open, connect }: Client): void {
  const token = async (path = tokenPaths[0]!, deviceId = newDevice()) =>
    tokenOf(await request(path, { deviceId }));

  test('the service says nothing before it has the JWT', async () => {
    const stream = open();
    await stream.opened;
    await stream.settle();
    expect(stream.heard).toEqual([]);
  });

  test.each(tokenPaths)(
    'a JWT of %s, as the first message, is answered with JSON of kind service_voice_connected',
    async (path) => {
      const stream = await connect(await token(path));
      expectConnected(stream);
    },
  );

  test('after the confirmation binary audio goes both ways', async () => {
    const stream = await connect(await token());
    expectConnected(stream);
    const pcm = tone(440);
    speak(stream, pcm);
    await stream.until(() => stream.audio.length >= pcm.length);
    expect(stream.audio.equals(pcm), 'the audio that came back is what was said').toBe(true);
  });

  test('what the service sends is binary audio or JSON', async () => {
    const stream = await connect(await token());
    const pcm = tone(330);
    speak(stream, pcm);
    await stream.until(() => stream.audio.length >= pcm.length);
    await stream.settle();
    const texts = stream.heard.filter((message) => typeof message === 'string');
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) parseJson(text);
  });

  test('a device may have 10 connections at the same time', async () => {
    const deviceId = newDevice();
    const tokens = await Promise.all(Array.from({ length: 10 }, () => token(tokenPaths[0], deviceId)));
    const connections = await Promise.all(tokens.map(connect));
    for (const stream of connections) expectConnected(stream);
    const said = connections.map((_stream, index) => tone(200 + 40 * index));
    for (const [index, stream] of connections.entries()) speak(stream, said[index]!);
    await Promise.all(
      connections.map((stream, index) => stream.until(() => stream.audio.length >= said[index]!.length)),
    );
    const answered = connections.map((stream, index) => stream.audio.equals(said[index]!));
    expect(answered, 'each connection gets its own audio back').toEqual(Array(10).fill(true));
    expect(connections.map((stream) => stream.isOpen)).toEqual(Array(10).fill(true));
  });
}

function newDevice(): string {
  return `contract-${randomUUID()}`;
}

function tokenOf({ status, text }: Answer): string {
  const body = parseJson(text) as { token?: unknown };
  if (typeof body.token !== 'string') throw new Error(`no token: ${status} ${text}`);
  return body.token;
}

function decodePart(part = ''): unknown {
  return parseJson(Buffer.from(part, 'base64url').toString());
}

function claimsOf(token: string): Record<string, unknown> {
  return decodePart(token.split('.')[1]) as Record<string, unknown>;
}

/** The error body of an answer that a client must take for a failure, because its status is not 200. */
function errorOf({ status, text }: Answer): {
  error: { code: unknown; message: unknown; details?: unknown };
} {
  expect(status, text).not.toBe(200);
  const body = parseJson(text);
  expect(body).toMatchObject({ error: { code: expect.any(String), message: expect.any(String) } });
  return body as ReturnType<typeof errorOf>;
}

/** Wall-clock milliseconds; the specification leaves open how a timestamp is written. */
function readTimestamp(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) return Date.parse(text);
  const number = Number(text);
  return number < 100_000_000_000 ? number * 1000 : number;
}

/** Which field names the kind is not shown: it may be any. */
function expectConnected({ heard }: PlainStream): void {
  const [first] = heard;
  if (typeof first !== 'string') throw new Error('the first message is binary');
  const strings: unknown[] = [];
  JSON.parse(JSON.stringify(parseJson(first)), (_key, value) => {
    strings.push(value);
    return value;
  });
  expect(strings, first).toContain('service_voice_connected');
}

/** 200 ms of 16-bit little-endian mono at 16 kHz. */
function tone(hertz: number): Buffer {
  const pcm = Buffer.alloc(6_400);
  for (let sample = 0; sample < pcm.length / 2; sample += 1) {
    pcm.writeInt16LE(Math.round(8_000 * Math.sin((2 * Math.PI * hertz * sample) / 16_000)), sample * 2);
  }
  return pcm;
}

/** Sends audio in messages of 20 ms. */
function speak(stream: PlainStream, pcm: Buffer): void {
  for (let at = 0; at < pcm.length; at += 640) stream.send(pcm.subarray(at, at + 640));
}
