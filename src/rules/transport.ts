import { invalidRequestCode } from '../protocol/error-body.ts';
import { isLoopbackHost } from '../protocol/loopback.ts';
import { type Finding, fail, mostSevere, pass, type Rule, type Seen, skipped, warn } from './rule.ts';

const secureProtocols: readonly string[] = ['https:', 'wss:'];

/** How the service is reached. */
export const transportRules: readonly Rule[] = [
  {
    id: 'R32',
    section: 'What the service does',
    title: 'TLS: https and wss',
    says: 'Transport is TLS (https and wss); the token request is made over HTTPS.',
    judge: (seen) => mostSevere(seen.map(judgeOne)),
  },
];

function judgeOne(one: Seen): Finding | undefined {
  const { request, answer, breakdown } = one.exchange.kind === 'token' ? one.exchange : one.exchange.upgrade;
  const { protocol, hostname } = new URL(request.url);
  if (breakdown?.code === 'tls-failed') return fail(breakdown.message, one);
  if (answer === undefined) return undefined;
  if (secureProtocols.includes(protocol)) return pass('TLS with a trusted certificate', one);
  if (isLoopbackHost(hostname)) return skipped('not applicable on loopback', one);
  if (one.provoked !== true) return fail(`${protocol}//${hostname}: keys and tokens are not encrypted`, one);
  // The plain port of a service that is used over TLS; no key was sent.
  const isService = answer.status < 300 || answer.body.includes(invalidRequestCode);
  return isService ? warn(`${hostname} also answers over plain HTTP, with ${answer.status}`, one) : undefined;
}
