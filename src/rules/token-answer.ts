import { parseJson } from '../protocol/parse-json.ts';
import { tokenPath } from '../protocol/paths.ts';
import { jsonMediaType } from '../protocol/token-request.ts';
import { cacheControl } from '../protocol/token-response.ts';
import { headerValue } from '../wire/headers.ts';
import { type Finding, fail, pass, type Rule, type Seen, show, unknown, warn } from './rule.ts';
import {
  grantsSeen,
  hasSucceeded,
  isFromGateway,
  isVersioned,
  mediaTypeOf,
  notFoundStatuses,
  pathOf,
  properAnswers,
  type SeenAnswer,
  type SeenGrant,
  saidText,
} from './token-seen.ts';

const section = `POST ${tokenPath()}`;

/** The answer to a valid request. */
export const tokenAnswerRules: readonly Rule[] = [
  {
    id: 'R1',
    section,
    title: 'the unversioned path answers 200',
    says: `POST ${tokenPath()} issues a JWT with success status 200.`,
    judge: (seen) => judgePath(seen, false),
  },
  {
    id: 'R2',
    section: 'Versioning',
    title: 'the v1 path answers 200',
    says: `The versioned token path is ${tokenPath('v1')}; both forms appear.`,
    judge: (seen) => judgePath(seen, true),
  },
  {
    id: 'R3',
    section,
    title: 'the answer is application/json',
    says: 'Success headers: Content-Type: application/json.',
    judge: (seen) =>
      judgeGrants(seen, ({ exchange: { answer } }) => {
        const found = mediaTypeOf(answer);
        return found === jsonMediaType ? undefined : `Content-Type is ${show(found)}`;
      }),
  },
  {
    id: 'R4',
    section,
    title: 'Cache-Control forbids caching',
    says: `Success headers: Cache-Control: ${cacheControl}.`,
    judge: (seen) =>
      judgeGrants(seen, ({ exchange: { answer } }) => {
        const found = headerValue(answer.headers, 'Cache-Control');
        if (found === undefined) return 'Cache-Control is missing';
        const missing = directives(cacheControl).filter((one) => !directives(found).includes(one));
        return missing.length === 0
          ? undefined
          : `Cache-Control is ${show(found)}, without ${missing.join(', ')}`;
      }),
  },
  {
    id: 'R5',
    section,
    title: 'the answer is not cached',
    says: 'The response must not be cached.',
    judge: judgeCaching,
  },
  {
    id: 'R6',
    section: 'Token response (JSON body)',
    title: 'the body is an object with a string token',
    says: 'Success body: JSON object with token (string).',
    judge: judgeBody,
  },
  {
    id: 'R7',
    section,
    title: 'Accept is not needed',
    says: 'Accept is used in one example; Content-Type is used in all.',
    judge: judgeAccept,
  },
  {
    id: 'R8',
    section: 'Authentication',
    title: 'no other credential is needed',
    says: 'The endpoint is called with the API key and device ID in the body. No other credential is shown.',
    judge: judgeCredentials,
  },
];

/** Checks each granted answer; `problemOf` names the problem of one. */
function judgeGrants(
  seen: readonly Seen[],
  problemOf: (grant: SeenGrant) => string | undefined,
): Finding | undefined {
  const granted = grantsSeen(seen);
  if (granted.length === 0) return undefined;
  const wrong = granted.filter((grant) => problemOf(grant) !== undefined);
  const [first] = wrong;
  return first === undefined ? pass('as specified', granted) : fail(problemOf(first) ?? '', wrong);
}

function directives(value: string): string[] {
  return value.split(',').map((one) => one.trim().toLowerCase());
}

function judgePath(seen: readonly Seen[], versioned: boolean): Finding | undefined {
  const asked = properAnswers(seen).filter((one) => isVersioned(one) === versioned);
  const granted = asked.filter((one) => hasSucceeded(one) && !isFromGateway(one, seen));
  const wrong = granted.find(({ exchange }) => exchange.answer.status !== 200);
  if (wrong !== undefined) return fail(`answered ${wrong.exchange.answer.status}`, wrong);
  if (granted.length > 0) return pass('answered 200', granted);
  const [refused] = asked;
  return refused && judgeRefusal(refused, seen);
}

/** Why no request of this path was granted. */
function judgeRefusal(refused: SeenAnswer, seen: readonly Seen[]): Finding {
  const { status } = refused.exchange.answer;
  const said = saidText(refused);
  const others = grantsSeen(seen).filter((one) => pathOf(one) !== pathOf(refused));
  const elsewhere = others.length > 0;
  if (notFoundStatuses.includes(status) && elsewhere)
    return warn(`answered ${status}, although the other form of the path works`, [refused, ...others]);
  if (isFromGateway(refused, seen))
    return unknown(`answered ${status} with a web page, not by the service`, refused);
  if (notFoundStatuses.includes(status)) return fail(`answered ${status}${said}`, refused);
  if (status >= 300 && status < 400) return unknown(`redirected with ${status}: not followed`, refused);
  // If every request without Accept is refused, Accept is the cause and not the path.
  const isForAccept = lacksAccept(refused) && !grantsSeen(seen).some(lacksAccept);
  const isOddRefusal = status === 400 || status === 422;
  if (!isForAccept && (isOddRefusal || elsewhere)) return fail(`answered ${status}${said}`, refused);
  const reason = isForAccept ? ': because of the path, or because Accept is missing' : '';
  return unknown(`refused with ${status}${said}${reason}`, refused);
}

const cacheStepMs = 1_100;

/** Without a `jti`, tokens of the same second may be equal: only later ones must differ. */
function judgeCaching(seen: readonly Seen[]): Finding | undefined {
  const granted = grantsSeen(seen);
  const aged = granted.filter(({ exchange }) => headerValue(exchange.answer.headers, 'Age') !== undefined);
  if (aged.length > 0) return fail('the answer has an Age header: it came from a cache', aged);
  const byHash = new Map<string, SeenGrant[]>();
  for (const grant of granted) {
    const { hash } = grant.exchange.granted;
    byHash.set(hash, [...(byHash.get(hash) ?? []), grant]);
  }
  const same = [...byHash.values()].map(farApart).find((alike) => alike.length > 0);
  // Far enough apart: a second try cannot change this.
  if (same !== undefined)
    return { ...fail('two requests were answered with the same token', same), isProof: true };
  const apart = farApart(granted);
  return apart.length > 0 ? pass('each request gets its own token', apart) : undefined;
}

/** The grants with another grant at least `cacheStepMs` before or after them. */
function farApart(granted: readonly SeenGrant[]): SeenGrant[] {
  const times = granted.map(({ exchange }) => exchange.wallAt);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  return granted.filter(({ exchange: { wallAt } }) => Math.max(wallAt - first, last - wallAt) >= cacheStepMs);
}

function judgeBody(seen: readonly Seen[]): Finding | undefined {
  const answers = properAnswers(seen).filter((one) => hasSucceeded(one));
  const page = answers.find((one) => isFromGateway(one, seen));
  const wrong = answers.filter((one) => one.exchange.granted === undefined && !isFromGateway(one, seen));
  const [first] = wrong;
  if (first !== undefined) {
    const body = parseJson(first.exchange.answer.body);
    const found = body === undefined ? `not JSON: ${show(first.exchange.answer.body)}` : show(body);
    return fail(`the body is ${found}`, wrong);
  }
  if (page !== undefined) return unknown('the body is a web page, not from the service', page);
  return answers.length > 0 ? pass('the body contains a token', answers) : undefined;
}

function lacksAccept({ exchange }: { exchange: SeenAnswer['exchange'] }): boolean {
  return headerValue(exchange.request.headers, 'Accept') === undefined;
}

function judgeAccept(seen: readonly Seen[]): Finding | undefined {
  const without = properAnswers(seen).filter(lacksAccept);
  const granted = without.filter(hasSucceeded);
  if (granted.length > 0) return pass('granted without Accept', granted);
  const [first] = without;
  if (first === undefined) return undefined;
  // A missing path says nothing about Accept.
  const paths = new Set(without.map(pathOf));
  const withAccept = grantsSeen(seen).filter((one) => !lacksAccept(one) && paths.has(pathOf(one)));
  const { status } = first.exchange.answer;
  if (withAccept.length === 0)
    return unknown(`refused with ${status}${saidText(first)}, as with Accept`, first);
  return fail(`refused with ${status}${saidText(first)} without Accept, but granted with it`, [
    ...without,
    ...withAccept,
  ]);
}

const credentials = ['Authorization', 'Cookie', 'X-Api-Key', 'Proxy-Authorization'];

function judgeCredentials(seen: readonly Seen[]): Finding | undefined {
  const bare = properAnswers(seen).filter(({ exchange }) =>
    credentials.every((name) => headerValue(exchange.request.headers, name) === undefined),
  );
  const granted = bare.filter(hasSucceeded);
  if (granted.length > 0) return pass('granted with the key and the device alone', granted);
  const asking = bare.filter(
    ({ exchange }) => headerValue(exchange.answer.headers, 'WWW-Authenticate') !== undefined,
  );
  const [asked] = asking;
  if (asked !== undefined) {
    const wanted = headerValue(asked.exchange.answer.headers, 'WWW-Authenticate');
    return fail(`requires another credential: WWW-Authenticate is ${show(wanted)}`, asking);
  }
  const [first] = bare;
  if (first === undefined) return undefined;
  const { status } = first.exchange.answer;
  return unknown(
    `refused with ${status}${saidText(first)}: because of the key, or because another credential is missing`,
    first,
  );
}
