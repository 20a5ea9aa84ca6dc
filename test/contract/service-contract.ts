import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { CheckResult } from '../../src/conformance/check.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { serviceRules } from '../../src/rules/catalogue.ts';
import { check, everything } from '../helpers/checks.ts';
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

/** Where time cannot be moved, only what takes no time is asked. */
export type Time = 'moved' | 'real';

/**
 * What the specification says of the service, rule by rule: the catalogue of `check`, run against whatever claims to
 * be the service. What the rules cannot tell is asked by a client that shares no code with the project, with the
 * specification's own values.
 *
 * @param startService starts a service whose AI gives audio back as it comes (echo), once for the whole suite;
 *   each test is a device of its own.
 */
export function describeService(
  name: string,
  startService: () => Promise<Service>,
  time: Time = 'moved',
): void {
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

    describeRules(() => service!, time);
    describe.each(tokenPaths)('POST %s', (path) => {
      describeClaims(client, path);
      describeInvalidRequests(client, path);
    });
    describeRateLimit(client);
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

/** Asked over TLS only. */
const elsewhere: readonly string[] = ['R32'];
const slow: readonly string[] = ['R29', 'R30', 'R31', 'R40', 'R41', 'R42', 'R43', 'R44'];

function describeRules(service: () => Service, time: Time): void {
  let result: CheckResult | undefined;
  beforeAll(async () => {
    const scope = { levels: time === 'moved' ? everything : new Set(['base'] as const), waitMs: 1_000 };
    result = await check(service(), { scope, requestsPerSecond: 200, clock: systemClock });
  });
  const left = time === 'moved' ? elsewhere : [...elsewhere, ...slow];

  test.each(serviceRules.filter(({ id }) => !left.includes(id)))('$id: $title', ({ id }) => {
    const judged = result?.rules.find(({ rule }) => rule.id === id);
    // A leeway after `exp`, and a second use, are choices that the specification leaves to the service.
    // A reply with less than a second of speech cannot be judged.
    const more = ['R41', 'R45'].includes(id) ? 'observed' : id === 'R38' ? 'unknown' : undefined;
    const allowed = ['pass', ...(more === undefined ? [] : [more])];
    expect(allowed, judged?.finding.message).toContain(judged?.finding.verdict);
  });
}

function describeClaims({ request }: Client, path: string): void {
  const issue = async (deviceId?: string) => {
    const answer = await request(path, deviceId === undefined ? {} : { deviceId });
    return { ...answer, claims: claimsOf(tokenOf(answer)) };
  };

  test('the claims are sub, iat, exp, aud and iss, and at most a jti beside them', async () => {
    const { claims } = await issue();
    const names = Object.keys(claims).filter((name) => name !== 'jti');
    expect(names.sort()).toEqual(['aud', 'exp', 'iat', 'iss', 'sub']);
  });

  test('sub is the device ID from the request, whatever it is', async () => {
    const deviceId = `Gerät № 7, ${newDevice()}`;
    expect((await issue(deviceId)).claims.sub).toBe(deviceId);
  });
}

function describeInvalidRequests({ post }: Client, path: string): void {
  test.each([
    ['nothing at all', ''],
    ['a form', 'apiKey=a&deviceId=b'],
    ['an object in single quotes', "{'apiKey': 'a', 'deviceId': 'b'}"],
  ])('a body that is not valid JSON is an INVALID_REQUEST: %s', async (_what, body) => {
    expect(errorOf(await post(path, body))).toMatchObject({
      error: { code: 'INVALID_REQUEST', message: expect.stringMatching(/./) },
    });
  });
}

function describeRateLimit({ request }: Client): void {
  test('a device has 60 requests a minute on both paths together, counted down; one more is an error on either, and no other device notices', async () => {
    const [deviceId, other] = [newDevice(), newDevice()];
    const [path = ''] = tokenPaths;
    await request(path, { deviceId: other });
    for (let left = 59; left >= 0; left -= 1) {
      const { status, headers, text } = await request(tokenPaths[left % 2] ?? '', { deviceId });
      expect(status, `with ${left} left after it: ${text}`).toBe(200);
      expect(headers['x-ratelimit-remaining']).toBe(String(left));
    }
    for (const either of tokenPaths)
      expect(errorOf(await request(either, { deviceId }))).toMatchObject({
        error: { code: expect.stringMatching(/./), message: expect.stringMatching(/./) },
      });
    const { status, headers } = await request(path, { deviceId: other });
    expect(status).toBe(200);
    expect(headers['x-ratelimit-remaining']).toBe('58');
  });
}

function describeStream({ request, connect }: Client): void {
  const token = async (path = tokenPaths[0]!, deviceId = newDevice()) =>
    tokenOf(await request(path, { deviceId }));

  test('after the confirmation binary audio goes both ways', async () => {
    const stream = await connect(await token());
    expectConnected(stream);
    const pcm = tone(440);
    speak(stream, pcm);
    await stream.until(() => stream.audio.length >= pcm.length);
    expect(stream.audio.equals(pcm), 'the audio that came back is what was said').toBe(true);
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
