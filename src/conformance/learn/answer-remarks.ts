import { cutText } from '../../kernel/escape.ts';
import { isRecord } from '../../protocol/error-body.ts';
import { parseJson } from '../../protocol/parse-json.ts';
import { rateLimitHeaderNames } from '../../protocol/rate-limit.ts';
import { missingHeaders } from '../../rules/rate-window.ts';
import { hasSucceeded } from '../../rules/token-seen.ts';
import { limitedOf } from './refusal-settings.ts';
import type { Remark } from './setting.ts';
import type { LearnView } from './view.ts';

const refusedSteps = ['E4', 'E5', 'E6', 'E7', 'E8', 'E9', 'E10', 'K1', 'K2', 'K3'];

/** The headers of an emulator’s answer with a token, those that HTTP sends in their place, and the names of programs. */
const sentHeaders: ReadonlySet<string> = new Set([
  ...[
    'content-type',
    'cache-control',
    'content-length',
    'transfer-encoding',
    'date',
    'connection',
    'keep-alive',
    'server',
    'via',
    'x-powered-by',
  ],
  ...Object.values(rateLimitHeaderNames).map((name) => name.toLowerCase()),
]);

/** What answers hold beside what the specification says, or lack of it: an emulator sends just that. */
export const answerRemarks: readonly Remark[] = [
  {
    steps: ['E1', 'X'],
    find(view) {
      const [first] = view.grants;
      const limited = limitedOf(view);
      const areLate = limited !== undefined && missingHeaders(limited).length === 0;
      const missing = first === undefined || areLate ? [] : missingHeaders(first);
      return missing.length === 0
        ? undefined
        : `answers with a token lack ${missing.join(', ')}: an emulator sends them`;
    },
  },
  {
    steps: ['E1'],
    find(view) {
      const names = view.grants.flatMap(({ exchange }) => exchange.answer.headers.map(([name]) => name));
      const further = names.filter((name) => !sentHeaders.has(name.toLowerCase()));
      return further.length === 0
        ? undefined
        : `answers with a token have headers that an emulator does not send: ${listNames(further)}`;
    },
  },
  {
    steps: ['E1'],
    find(view) {
      const bodies = view.grants.map(({ exchange }) => parseJson(exchange.answer.body));
      const names = bodies.flatMap((body) => namesBeside(body, ['token']));
      return furtherText('answers with a token contain', names);
    },
  },
  {
    steps: refusedSteps,
    find(view) {
      const errors = errorBodies(view);
      const names = errors.flatMap((body) => [
        ...namesBeside(body, ['error']),
        ...namesBeside(body.error, ['code', 'message', 'details']).map((name) => `error.${name}`),
      ]);
      return furtherText('errors of the token endpoint contain', names);
    },
  },
  {
    steps: refusedSteps,
    find: (view) =>
      errorBodies(view).some(({ error }) => isRecord(error) && typeof error.code === 'number')
        ? 'error.code of the token endpoint is a number: an emulator sends text'
        : undefined,
  },
];

function errorBodies(view: LearnView): Record<string, unknown>[] {
  return refusedSteps.flatMap((step) => {
    const one = view.answer(step);
    const body = one === undefined || hasSucceeded(one) ? undefined : parseJson(one.exchange.answer.body);
    return isRecord(body) ? [body] : [];
  });
}

/** The fields of an object, except these. */
export function namesBeside(body: unknown, own: readonly string[]): string[] {
  return isRecord(body) ? Object.keys(body).filter((name) => !own.includes(name)) : [];
}

/** A remark on fields that an emulator does not send; undefined if there are none. */
export function furtherText(what: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  return `${what} further fields: ${listNames(names)}`;
}

function listNames(names: readonly string[]): string {
  return cutText([...new Set(names)].join(', '), 80);
}
