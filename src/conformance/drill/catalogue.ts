import { streamPath } from '../../protocol/paths.ts';
import { deviceRules } from '../../rules/device/catalogue.ts';
import type { Rule } from '../../rules/rule.ts';
import type { Situation } from './situation.ts';
import {
  sendingSituations,
  stallSituation,
  strangeSituations,
  unevenSituations,
} from './situations/audio.ts';
import {
  answerSituations,
  endSituations,
  interruptionSituations,
  refusedTokenSituations,
  silenceSituations,
  tokenSituations,
} from './situations/connections.ts';
import {
  datedSituation,
  firstRequest,
  rateLimitSituations,
  redirectSituation,
  refusalSituations,
  tlsSituations,
} from './situations/requests.ts';

/** Every situation, in the order in which a device is put through them. */
export const situations: readonly Situation[] = [
  firstRequest,
  ...tokenSituations,
  ...sendingSituations,
  ...rateLimitSituations,
  ...refusalSituations,
  ...refusedTokenSituations,
  ...interruptionSituations,
  ...silenceSituations,
  stallSituation,
  ...strangeSituations,
  ...unevenSituations,
  ...endSituations,
  redirectSituation,
  ...tlsSituations,
  ...answerSituations,
  datedSituation,
];

/** A rule of the drill: in the words of the specification, or by common sense. */
export type DrillRule = Omit<Rule, 'judge'>;

/** The rules that traffic alone does not show. */
const others: readonly DrillRule[] = [
  {
    id: 'D10',
    section: 'States and transitions',
    title: 'notices that the service is gone',
    says: 'Not in the specification: a device that waits on a dead connection does nothing else.',
  },
  {
    id: 'D11',
    section: 'Events',
    title: 'tolerates unknown messages and odd audio',
    says: 'Fields of messages, further kinds and the size of audio messages: not shown.',
  },
  {
    id: 'D12',
    section: 'What the service does',
    title: 'keeps sending, no matter what it receives',
    says: 'Stream raw PCM audio as binary messages in both directions.',
  },
  {
    id: 'D14',
    section: 'Authentication',
    title: 'reveals its key only to the service',
    says: 'The token request is made over HTTPS. Transport is TLS (https and wss).',
  },
  {
    id: 'D15',
    section: `WSS ${streamPath}`,
    title: 'answers pings',
    says: 'Not in the specification, but in RFC 6455, section 5.5.2: an endpoint must send a pong in response to a ping.',
  },
  {
    id: 'D16',
    section: `WSS ${streamPath}`,
    title: 'answers a close, and stops',
    says: 'Not in the specification, but in RFC 6455, section 5.5.1: an endpoint that receives a close must send one, and no more data.',
  },
  {
    id: 'D17',
    section: 'Limits',
    title: 'waits until the date in Retry-After',
    says: 'Clients are advised to retry rate-limited token requests with exponential backoff. RFC 9110: Retry-After may be a date.',
  },
];

export const drillRules: readonly DrillRule[] = [...deviceRules, ...others].sort(
  (a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)),
);

/** The rule of a situation: `D9` for `D9-1012`. */
export function ruleOf(id: string): DrillRule {
  const rule = drillRules.find((one) => one.id === id.split('-')[0]);
  if (rule === undefined) throw new RangeError(`There is no rule for ${id}`);
  return rule;
}
