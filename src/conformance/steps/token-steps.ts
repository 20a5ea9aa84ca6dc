import { type ApiVersion, serviceUrl, streamPath, tokenPath } from '../../protocol/paths.ts';
import type { AskerTokenOptions, PlainRequest, ServiceUnderTest } from '../asker.ts';
import { onePlain, oneToken } from '../cost.ts';
import type { CheckLevel, Step } from './step.ts';

export function tokenStep(
  id: string,
  title: string,
  options: AskerTokenOptions,
  more: Partial<Step> = {},
): Step {
  return {
    id,
    title,
    level: 'base',
    cost: oneToken,
    ...(options.device === undefined ? {} : { device: options.device }),
    ...more,
    run: async (ask) => void (await ask.token(id, options)),
  };
}

type Fields = Parameters<NonNullable<AskerTokenOptions['body']>>[0];

/** A request whose fields are changed. */
function bodyStep(id: string, title: string, change: (fields: Fields) => object): Step {
  return tokenStep(id, title, { accept: true, body: (fields) => JSON.stringify(change(fields)) });
}

const v1: ApiVersion = 'v1';
/** So that one answer cannot be the other: tokens of the same second may be identical. */
const apartMs = 1_200;
/** A key that no service knows. */
const wrongKey = 'voicectl-wrong-key';

/** Requests that should be granted. */
export const grantedSteps: readonly Step[] = [
  tokenStep('E1', 'valid request, unversioned path, with Accept', { accept: true }),
  tokenStep('E2', 'valid request, v1 path, without Accept', { version: v1 }),
  tokenStep('E3', 'valid request from a second device', { device: 'second' }),
];

/** Requests that should be refused. */
export const refusedSteps: readonly Step[] = [
  bodyStep('E4', 'no apiKey', ({ deviceId }) => ({ deviceId })),
  bodyStep('E5', 'no deviceId', ({ apiKey }) => ({ apiKey })),
  tokenStep('E6', 'JSON that is cut off', {
    accept: true,
    body: (fields) => JSON.stringify(fields).slice(0, -1),
  }),
  bodyStep('E7', 'apiKey is empty', (fields) => ({ ...fields, apiKey: '' })),
  bodyStep('E8', 'deviceId is empty', (fields) => ({ ...fields, deviceId: '' })),
  bodyStep('E9', 'deviceId is a number', (fields) => ({ ...fields, deviceId: 42 })),
  tokenStep(
    'E10',
    'a wrong key, once',
    {
      accept: true,
      body: (fields) => JSON.stringify({ ...fields, apiKey: wrongKey }),
      provoked: true,
    },
    { sendsWrongKey: true },
  ),
];

export const lastGrantedSteps: readonly Step[] = [
  laterTokenStep('E11', 'valid request, later', { accept: true }, { step: 'E1', ms: apartMs }),
];

/**
 * A request that comes so long after the answer to an earlier one, by default that of the step before it: that step may have
 * waited before it asked, and a service may count a request when it answers it.
 */
export function laterTokenStep(
  id: string,
  title: string,
  options: AskerTokenOptions,
  { step, ms, request = step, ...more }: { step: string; ms: number; request?: string } & Partial<Step>,
): Step {
  return {
    ...tokenStep(id, title, options, { after: { step, ms }, ...more }),
    async run(ask) {
      const first = ask.seen().find((one) => one.id.split('/')[0] === request)?.exchange;
      if (first?.kind === 'token') await ask.clockwork.pass(first.at + first.totalMs + ms, ask.signal);
      await ask.token(id, options);
    },
  };
}

/** A GET without a key. */
export function plainStep(
  id: string,
  title: string,
  request: (subject: ServiceUnderTest) => PlainRequest,
  level: CheckLevel = 'base',
): Step {
  return {
    ...{ id, title, level, cost: onePlain },
    run: async (ask) => void (await ask.plain(id, request(ask.subject))),
  };
}

/** On this machine, it is also used to detect an emulator whose clock may be moved. */
export const unknownPathStep = plainStep('K3', 'a path that does not exist', ({ baseUrl }) => ({
  url: serviceUrl(baseUrl, '/voicectl-check-unknown-path'),
}));

/** Requests without a key. */
export const plainSteps: readonly Step[] = [
  plainStep('K1', 'GET of the token path', ({ baseUrl }) => ({ url: serviceUrl(baseUrl, tokenPath()) })),
  plainStep('K2', 'the stream path without an upgrade', ({ wsUrl }) => ({
    url: serviceUrl(wsUrl.replace(/^ws/i, 'http'), streamPath),
  })),
  unknownPathStep,
];

/** The plain port of a service that is used over TLS. No key is sent. */
export const plainPortStep = plainStep('K4', 'the same host over plain HTTP', ({ baseUrl }) => ({
  url: serviceUrl(`http://${new URL(baseUrl).hostname}`, tokenPath()),
  provoked: true,
}));
