import { tokenPath } from '../../../protocol/paths.ts';
import { secondsText } from '../../../protocol/time-text.ts';
import { findStorm } from '../../../rules/device/backoff.ts';
import { deviceRequests } from '../../../rules/device/device-seen.ts';
import { type Finding, fail, pass, unknown, warn } from '../../../rules/rule.ts';
import { streamsSeen } from '../../../rules/stream-seen.ts';
import { deviceEndText, judgeBy } from '../judging.ts';
import { firstRefusal, isGrantedAfterRefusal, sinceRefusal, streamsConfirmed } from '../moments.ts';
import type { DrillView, Service, Situation } from '../situation.ts';

const usual = { ms: 30_000 };
/** How long a device is watched for what it must not do. */
const watchMs = 3_000;

/** Token requests: D1, D6, D7 and the redirect of D14. */
export const firstRequest: Situation = {
  id: 'D1',
  title: 'requests a token as specified',
  until: (view) =>
    view.seen.some(({ exchange }) => exchange.kind === 'stream') || (sinceRefusal(view) ?? 0) > 1_000,
  longest: usual,
  judge: judgeBy('D1'),
};

export const rateLimitSituations: readonly Situation[] = [
  {
    id: 'D6-told',
    title: 'rate limited three times: waits as long as the answer says',
    service: {
      faults: [
        { name: 'rate-limited', reset: 2_000, times: 1 },
        { name: 'rate-limited', reset: 1_000, skip: 1, times: 1 },
        { name: 'rate-limited', reset: 2_000, skip: 2, times: 1 },
      ],
    },
    until: (view) => isGrantedAfterRefusal(view),
    longest: usual,
    judge: judgeLimited,
  },
  {
    id: 'D6-backoff',
    title: 'rate limited four times, without being told how long to wait',
    service: {
      dialect: { rateLimit: { retryAfter: 'none', headersOn: 'success' } },
      faults: [{ name: 'rate-limited', times: 4 }],
    },
    until: (view) => isGrantedAfterRefusal(view),
    longest: { ms: 60_000 },
    judge: judgeLimited,
  },
];

/** A service that says when to try again, not how long to wait: D17. */
export const datedSituation: Situation = {
  id: 'D17',
  title: 'rate limited, with a date in Retry-After',
  service: {
    dialect: { rateLimit: { retryAfter: 'http-date', headersOn: 'success' } },
    faults: [{ name: 'rate-limited', reset: 3_000, times: 1 }],
  },
  until: (view) => isGrantedAfterRefusal(view),
  longest: usual,
  judge: judgeLimited,
};

function judgeLimited(view: DrillView): Finding {
  const found = judgeBy('D6')(view);
  if (found.verdict !== 'unknown') return found;
  const [first] = deviceRequests(view.seen);
  if (first === undefined) return found;
  if (view.device.ended !== undefined) return pass(`it gave up: ${deviceEndText(view)}`, first);
  return warn(`it did not try again within ${secondsText(view.now - first.exchange.at, 1)}`, first);
}

function refusing(name: string, title: string, service: Service): Situation {
  return {
    id: `D7-${name}`,
    title,
    service,
    until: (view) => hasConnected(view) || isStorm(view) || (sinceRefusal(view) ?? 0) >= watchMs,
    longest: usual,
    judge: judgeBy('D7'),
  };
}

/** Whether it opened a connection although it has no token. */
function hasConnected({ seen }: DrillView): boolean {
  return streamsSeen(seen).length > 0;
}

function isStorm({ seen }: DrillView): boolean {
  return findStorm(deviceRequests(seen).map(({ exchange }) => exchange.at)) !== undefined;
}

const answer = (status: number, code: string): Service => ({
  faults: [{ name: 'token-error', status, code }],
});

export const refusalSituations: readonly Situation[] = [
  refusing('400', 'token refused with 400', answer(400, 'INVALID_REQUEST')),
  refusing('401', 'token refused with 401', { faults: [{ name: 'token-unauthorized' }] }),
  refusing('403', 'token refused with 403', answer(403, 'FORBIDDEN')),
  refusing('500', 'token refused with 500', answer(500, 'INTERNAL_ERROR')),
  refusing('html', 'an HTML page instead of a token', { faults: [{ name: 'token-html' }] }),
  refusing('truncated', 'the body with the token is cut off', { faults: [{ name: 'token-truncated' }] }),
];

export const redirectSituation: Situation = {
  id: 'D14-redirect',
  title: 'the token request is redirected to another host',
  service: ({ elsewhere }) => ({
    faults: [{ name: 'token-redirect', location: `${elsewhere}${tokenPath()}` }],
  }),
  until: (view) => view.elsewhere.length > 0 || (sinceRefusal(view) ?? 0) >= watchMs,
  longest: usual,
  judge(view) {
    const [followed] = view.elsewhere;
    const first = firstRefusal(view);
    if (first === undefined) return unknown('it did not request a token', []);
    if (followed === undefined) return pass('it did not follow the redirect', first);
    const hasKey = followed.request.body.includes('apiKey');
    return fail(
      `it followed the redirect with a ${followed.request.method}${hasKey ? ' that contained its key' : ''}`,
      first,
    );
  },
};

/** TLS: certificates that a device must not accept. */
export const tlsSituations: readonly Situation[] = [
  wrongCertificate('D14-name', 'a certificate for another name', 'wrong-name'),
  wrongCertificate('D14-untrusted', 'a certificate from an unknown authority', 'untrusted'),
];

function wrongCertificate(id: string, title: string, tls: NonNullable<Situation['tls']>): Situation {
  const attempt = ({ journal }: DrillView) =>
    journal.find(({ type }) => type === 'tls-failed' || type === 'tls-opened');
  return {
    id,
    title,
    tls,
    until(view) {
      const first = attempt(view);
      return view.seen.length > 0 || (first !== undefined && view.now - first.at >= watchMs);
    },
    longest: usual,
    judge(view) {
      const [sent] = view.seen;
      if (sent !== undefined)
        return fail(
          `it accepted the certificate and ${sent.exchange.kind === 'token' ? 'sent its key' : 'connected'}`,
          sent,
        );
      return attempt(view) === undefined
        ? unknown('it did not try to connect over TLS', [])
        : pass('it refused the certificate', streamsConfirmed(view));
    },
  };
}
