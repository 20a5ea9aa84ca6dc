import { invalidRequestCode, isRecord } from '../protocol/error-body.ts';
import { parseJson } from '../protocol/parse-json.ts';
import { tokenPath } from '../protocol/paths.ts';
import { jsonMediaType } from '../protocol/token-request.ts';
import { type Finding, fail, mostSevere, pass, type Rule, type Seen, show, unknown } from './rule.ts';
import {
  errorOf,
  hasSucceeded,
  isFromGateway,
  isMissingPath,
  isProper,
  mediaTypeOf,
  requestFields,
  type SeenAnswer,
  tokenAnswers,
} from './token-seen.ts';

const section = `POST ${tokenPath()}`;
const expectedType = 'string';

function missingRule(id: string, field: string): Rule {
  return {
    id,
    section,
    title: `a missing ${field} is named`,
    says: `A missing field: INVALID_REQUEST, the message names it, details.field is ${field}, details.expected string.`,
    judge: (seen) =>
      judgeInvalid(seen, {
        applies: (fields, one) =>
          fields !== undefined && !Object.hasOwn(fields, field) && isElseRight(one, field),
        problem: (one) => codeProblem(one) ?? nameProblem(one, field) ?? detailsProblem(one, field),
      }),
  };
}

function emptyRule(id: string, field: string): Rule {
  return {
    id,
    section,
    title: `an empty ${field} is refused`,
    says: `A value that is an empty string: INVALID_REQUEST with details.`,
    judge: (seen) =>
      judgeInvalid(seen, {
        applies: (fields, one) => fields?.[field] === '' && isElseRight(one, field),
        problem: (one) => codeProblem(one) ?? detailsProblem(one, field),
      }),
  };
}

/** Invalid requests, and the form of every error. */
export const invalidRequestRules: readonly Rule[] = [
  missingRule('R15', 'apiKey'),
  missingRule('R16', 'deviceId'),
  {
    id: 'R17',
    section,
    title: 'a body that is not JSON is refused',
    says: 'When the request body is not valid JSON, the code is INVALID_REQUEST.',
    judge: (seen) =>
      judgeInvalid(seen, {
        applies: (_fields, one) => parseJson(one.exchange.request.body) === undefined && isReadable(one),
        problem: codeProblem,
      }),
  },
  emptyRule('R18', 'apiKey'),
  emptyRule('R19', 'deviceId'),
  {
    id: 'R20',
    section: 'Token request (JSON body)',
    title: 'a value of another type is refused',
    says: 'deviceId is a string (implied: another type is an invalid request parameter).',
    judge(seen) {
      const finding = judgeInvalid(seen, {
        applies: (fields) => [fields?.apiKey, fields?.deviceId].some(isOfAnotherType),
        problem: codeProblem,
      });
      return finding?.verdict === 'fail' ? { ...finding, verdict: 'warn' } : finding;
    },
  },
  {
    id: 'R21',
    section: 'Error body',
    title: 'every error is {error: {code, message}}',
    says: 'All errors use the error body: error.code, error.message, optional error.details.',
    judge: judgeShape,
  },
  {
    id: 'R22',
    section: 'Errors',
    title: 'an error is never 200',
    says: 'A client treats any non-200 token response as an authentication failure.',
    judge: judgeStatus,
  },
];

/** Refusals that may be for something other than the content: the body has another media type, or is too large. */
const unreadable: readonly number[] = [413, 415];

function isReadable({ exchange: { request, answer } }: SeenAnswer): boolean {
  return mediaTypeOf(request) === jsonMediaType && !unreadable.includes(answer.status);
}

/** Whether this field is the only problem: a refusal names only one. */
function isElseRight(one: SeenAnswer, field: string): boolean {
  const other = requestFields(one)?.[field === 'apiKey' ? 'deviceId' : 'apiKey'];
  return isReadable(one) && typeof other === 'string' && other !== '';
}

function isOfAnotherType(value: unknown): boolean {
  return value !== undefined && typeof value !== 'string';
}

interface Invalid {
  applies(fields: Record<string, unknown> | undefined, one: SeenAnswer): boolean;
  /** What is wrong with the refusal. */
  problem(one: SeenAnswer): string | undefined;
}

function judgeInvalid(seen: readonly Seen[], { applies, problem }: Invalid): Finding | undefined {
  const answers = tokenAnswers(seen).filter((one) => applies(requestFields(one), one));
  return mostSevere(
    answers.map((one) => {
      if (one.exchange.granted !== undefined) return fail('it was granted', one);
      if (isFromGateway(one, seen)) return unknown(`a gateway answered ${one.exchange.answer.status}`, one);
      if (isMissingPath(one, seen)) return unknown('this form of the path does not exist', one);
      const wrong = problem(one);
      return wrong === undefined ? pass(`refused as ${invalidRequestCode}`, one) : fail(wrong, one);
    }),
  );
}

function codeProblem(one: SeenAnswer): string | undefined {
  const { code, sent, message } = errorOf(one);
  if (code === invalidRequestCode) return undefined;
  const { status, body } = one.exchange.answer;
  return code === undefined
    ? `answered ${status} without a code: ${show(body)}`
    : `the code is ${show(sent)}${message === undefined ? '' : `: ${show(message)}`}`;
}

function nameProblem(one: SeenAnswer, field: string): string | undefined {
  const { message } = errorOf(one);
  return message?.includes(field) ? undefined : `the message does not name ${field}: ${show(message)}`;
}

function detailsProblem(one: SeenAnswer, field: string): string | undefined {
  const { details } = errorOf(one);
  if (isRecord(details) && details.field === field && details.expected === expectedType) return undefined;
  return `details are ${show(details)}`;
}

/** Statuses with which something in front of the service may answer in its own format. */
const inFront: readonly number[] = [408, 411, 413, 414, 415, 431, 502, 503, 504];

function judgeShape(seen: readonly Seen[]): Finding | undefined {
  const errors = tokenAnswers(seen).filter((one) => one.exchange.answer.status >= 400);
  return mostSevere(
    errors.map((one) => {
      const problem = shapeProblem(one);
      const { status } = one.exchange.answer;
      if (problem === undefined) return pass('as specified', one);
      if (isFromGateway(one, seen) || isMissingPath(one, seen) || inFront.includes(status))
        return unknown(`${status} may come from something in front of the service: ${problem}`, one);
      return fail(problem, one);
    }),
  );
}

function shapeProblem({ exchange: { answer } }: SeenAnswer): string | undefined {
  const body = parseJson(answer.body);
  const error = isRecord(body) ? body.error : undefined;
  if (!isRecord(error)) return `the body is ${body === undefined ? show(answer.body) : show(body)}`;
  if (typeof error.code !== 'string' || error.code === '') return `error.code is ${show(error.code)}`;
  if (typeof error.message !== 'string') return `error.message is ${show(error.message)}`;
  const hasOddDetails = error.details !== undefined && !isRecord(error.details);
  return hasOddDetails ? `error.details is ${show(error.details)}` : undefined;
}

function judgeStatus(seen: readonly Seen[]): Finding | undefined {
  const answers = tokenAnswers(seen).filter((one) => one.exchange.granted === undefined);
  const wrong = answers.filter((one) => hasSucceeded(one) && isError(one) && !isFromGateway(one, seen));
  const [first] = wrong;
  if (first !== undefined) return fail(`an error with status ${first.exchange.answer.status}`, wrong);
  const right = answers.filter((one) => one.exchange.answer.status >= 400);
  return right.length > 0 ? pass('errors have an error status', right) : undefined;
}

/** What is no token is an error if the request is one to refuse, whatever it says. */
function isError(one: SeenAnswer): boolean {
  if (one.provoked === true || !isProper(one)) return true;
  const body = parseJson(one.exchange.answer.body);
  return isRecord(body) && (body.error !== undefined || errorOf(one).code !== undefined);
}
