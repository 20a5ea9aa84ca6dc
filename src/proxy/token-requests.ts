import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../kernel/clock.ts';
import { toVoicectlError } from '../kernel/errors.ts';
import type { Redactor } from '../kernel/redact.ts';
import type { Dialect } from '../protocol/dialect.ts';
import { isRecord } from '../protocol/error-body.ts';
import { parseJson } from '../protocol/parse-json.ts';
import { tokenPaths } from '../protocol/paths.ts';
import { eventPath } from '../service/event-path.ts';
import type { Faults } from '../service/faults/faults.ts';
import { refuseRequest } from '../service/http/refusal.ts';
import { addressOf } from '../service/http/service-server.ts';
import type { State } from '../service/state/state.ts';
import { bodyText } from '../wire/body-text.ts';
import { concealText, secretsIn } from '../wire/conceal.ts';
import type { TokenExchange } from '../wire/exchange.ts';
import { headerPairs, readRateLimit } from '../wire/headers.ts';
import { type OutgoingAnswer, sendAnswer } from '../wire/server/http-answer.ts';
import { tokenEvidence } from './evidence.ts';
import type { ProxyJudge, SeenTokenRequest } from './judge.ts';
import { deviceName, issuedClaims, type TokenMatches } from './match-tokens.ts';
import type { ProxyEvents } from './proxy-events.ts';
import { type Deadlines, failureText, refusedByTarget } from './reach-target.ts';
import type { Secrets } from './secrets.ts';
import { spoilToken } from './spoil-token.ts';
import { askTarget, type DeviceRequest, relayAnswer } from './token-leg.ts';

export interface TokenRequestsOptions {
  ca: string | undefined;
  deadlines: Deadlines;
  dialect: Dialect;
  clock: Clock;
  events: ProxyEvents;
  judge: ProxyJudge;
  matches: TokenMatches;
  secrets: Secrets;
  faults: Pick<Faults, 'strike'>;
  state: Pick<State, 'countRequest' | 'rememberIssued'>;
}

/** Passes a request on, answers the device and emits events. */
export type PassRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  /** `url`: on the target; `path`: of the request, without its query. */
  about: { url: string; path: string; body: Buffer },
) => Promise<void>;

export function createTokenRequests(options: TokenRequestsOptions): PassRequest {
  const { clock, dialect, events, secrets, ca, deadlines } = options;

  return async (request, response, { url, path, body }) => {
    const startedAt = clock.now();
    const wallAt = clock.wall();
    const sent: DeviceRequest = {
      method: request.method ?? '',
      url,
      headers: headerPairs(request.rawHeaders),
      body,
    };
    const isToken = tokenPaths.includes(path);
    const text = bodyText(sent);
    for (const secret of secretsIn({ ...sent, body: text }, isToken)) secrets.learn(secret);
    const redactor = secrets.redactor();
    const asker = isToken ? readAsker(text, redactor) : { device: undefined };
    const about = {
      path: eventPath(path, events),
      remote: addressOf(request),
      ...withDevice(asker.device),
    };
    if (asker.device !== undefined) options.matches.asked(about.remote, asker.device);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const moment = { secrets, startedAt, wallAt };
    const ask = () => askTarget(sent, { ca, ...deadlines }, gone.signal);
    const struck = asker.device === undefined ? [] : options.faults.strike('token', { device: asker.device });
    try {
      if (struck.length > 0) {
        const asked = { ask, gone: gone.signal, sent, moment, about };
        const spoilt = await spoilToken(struck, response, { ...options, ...asked });
        rememberToken(spoilt, asker.device, about, options);
        return;
      }
      const answer = await relayAnswer(await ask(), response, deadlines, startedAt);
      const passed = tokenEvidence(sent, answer, moment);
      // Nobody knows the rest of an answer that the device did not wait for.
      const isUnknown = answer.failure?.by === 'device' && passed.granted === undefined;
      const evidence = isUnknown ? { ...passed, answer: undefined } : passed;
      if (isToken) rememberToken({ device: evidence, service: evidence }, asker.device, about, options);
      if (answer.status >= 400 && (isUnknown || !isToken)) events.of.service.emit(refusal(passed, about));
    } catch (thrown) {
      const failure = toVoicectlError(thrown);
      if (gone.signal.aborted) return;
      // Not the target's fault.
      if (failure.code === 'internal') throw thrown;
      const answer = refuseRequest('unavailable', {
        dialect,
        events: events.of.service,
        ...about,
        detail: failureText(failure),
      });
      sendIfPossible(response, answer);
    }
  };
}

function withDevice(device: string | undefined): { device?: string } {
  return device === undefined ? {} : { device };
}

function sendIfPossible(response: ServerResponse, answer: OutgoingAnswer): void {
  if (response.headersSent || response.destroyed) response.destroy();
  else sendAnswer(response, { ...answer, hangUp: true });
}

/** The device that a body names. A key or token that was put there by mistake is not shown. */
function readAsker(body: string, redactor: Redactor): { device: string | undefined } {
  const fields = parseJson(body);
  if (!isRecord(fields)) return { device: undefined };
  const { deviceId } = fields;
  return { device: deviceName(typeof deviceId === 'string' ? concealText(deviceId, redactor) : undefined) };
}

/** Remembers a granted token, emits the event for the request, and has it judged. */
function rememberToken(
  seen: SeenTokenRequest,
  device: string | undefined,
  about: { path: string; remote: string; device?: string },
  { clock, events, judge, matches, state }: TokenRequestsOptions,
): void {
  if (seen.device !== undefined) {
    matches.granted(seen.device);
    const { answer, granted } = seen.device;
    if (granted !== undefined && answer !== undefined) {
      const named = device ?? deviceName(granted.claims?.sub) ?? '';
      void state.countRequest(named);
      void state.rememberIssued(issuedClaims(granted, named));
      const { rateLimit } = readRateLimit(answer, clock.wall());
      const { jti, exp } = issuedClaims(granted, named);
      const { remaining = 0, resetAtMs = 0 } = rateLimit;
      const ms = Math.round(seen.device.totalMs * 1000) / 1000;
      events.of.service.emit({ type: 'token-issued', device: named, jti, exp, remaining, resetAtMs, ms });
    } else if (answer !== undefined && seen.device === seen.service && !isPreflight(seen.device))
      events.of.service.emit(refusal(seen.device, about));
  }
  judge.token(seen, device);
}

/** The event for an answer that grants nothing. `why`: it is incomplete. */
function refusal(
  { answer, breakdown }: TokenExchange,
  about: { path: string; remote: string; device?: string },
): ReturnType<typeof refusedByTarget> {
  const { status = 0, body = '' } = answer ?? {};
  const refused = refusedByTarget({ status, body }, about);
  return breakdown === undefined ? refused : { ...refused, why: breakdown.message };
}

/** Whether a browser asked only whether it may ask, and may. */
function isPreflight({ request, answer }: TokenExchange): boolean {
  return request.method === 'OPTIONS' && answer !== undefined && answer.status < 300;
}
