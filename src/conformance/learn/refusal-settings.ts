import type { InvalidCase, RefusalCause } from '../../protocol/dialect.ts';
import { readError } from '../../protocol/error-body.ts';
import { parseJson } from '../../protocol/parse-json.ts';
import { showsLimit } from '../../rules/rate-limit.ts';
import { hasSucceeded, type SeenAnswer } from '../../rules/token-seen.ts';
import type { HttpAnswer } from '../../wire/exchange.ts';
import { learned, mostCommon, notProbed, type Remark, type Setting, unlearned } from './setting.ts';
import { refusedUpgrade } from './stream-settings.ts';
import type { LearnView } from './view.ts';

/** The step that sends each invalid request. */
const caseSteps: Partial<Record<InvalidCase, string>> = {
  missingApiKey: 'E4',
  missingDeviceId: 'E5',
  invalidJson: 'E6',
  emptyApiKey: 'E7',
  emptyDeviceId: 'E8',
  wrongType: 'E9',
};
const untriedCases: readonly InvalidCase[] = [
  'notAnObject',
  'tooLong',
  'badCharacters',
  'badNesting',
  'badHttp',
];

/** The step that triggers each refusal. */
const causeSteps: Partial<Record<RefusalCause, string>> = {
  unauthorized: 'E10',
  notFound: 'K3',
  methodNotAllowed: 'K1',
  upgradeRequired: 'K2',
  unsupportedMediaType: 'H1',
  bodyTooLarge: 'H3',
  headersTooLarge: 'H4',
};
const never = {
  forbidden: 'never sent: a request with another host name would look like an attack',
  requestTimeout: 'never sent: a slow request would look like an attack',
  unavailable: 'seen only when it happens',
} as const;

export const refusalSettings: readonly Setting[] = [
  {
    path: 'refusals.invalidRequest.status',
    steps: Object.values(caseSteps),
    how: 'the most common status of the invalid requests',
    infer(view) {
      const usual = usualStatus(view);
      return usual === undefined ? undefined : statusOf(usual, 'most of E4 to E9');
    },
  },
  ...Object.entries(caseSteps).map(
    ([name, step]): Setting => ({
      path: `refusals.invalidRequest.statuses.${name}`,
      steps: [step],
      how: `the status of ${step}, if it differs from the usual one`,
      infer(view) {
        const status = refusalOf(view.answer(step))?.status;
        if (status === undefined) return undefined;
        return status === usualStatus(view)
          ? learned(undefined, `${step}: same as refusals.invalidRequest.status`, [status, status])
          : statusOf(status, step);
      },
    }),
  ),
  ...untriedCases.map((name) =>
    notProbed(`refusals.invalidRequest.statuses.${name}`, 'no request tests this'),
  ),
  ...Object.entries(causeSteps).flatMap(([cause, step]) =>
    answerSettings(cause, [step], (view) => refusalOf(view.answer(step)), step),
  ),
  ...answerSettings(
    'rateLimited',
    ['X'],
    (view) => limitedOf(view)?.exchange.answer,
    'the request over the limit',
  ),
  ...answerSettings(
    'tooManyConnections',
    ['C'],
    (view) => refusedUpgrade(view)?.exchange.upgrade.answer,
    'the upgrade of one connection too many',
  ),
  ...Object.entries(never).flatMap(([cause, how]) =>
    ['status', 'code', 'message'].map((field) => notProbed(`refusals.${cause}.${field}`, how)),
  ),
];

export const refusalRemarks: readonly Remark[] = Object.values({ ...caseSteps, ...causeSteps }).map(
  (step) => ({
    steps: [step],
    find(view) {
      const one = view.answer(step);
      if (one === undefined || !hasSucceeded(one)) return undefined;
      const { status } = one.exchange.answer;
      return step === causeSteps.unauthorized
        ? `a wrong key gets a token (${step}, status ${status}), as with serve without --accept-key`
        : `${step} is granted (status ${status}) although the specification requires a refusal`;
    },
  }),
);

/** The request over the limit. */
export function limitedOf(view: LearnView): SeenAnswer | undefined {
  for (let count = 1; count <= 100; count += 1) {
    const one = view.answer(`X-${count}`);
    if (one !== undefined && !hasSucceeded(one)) return showsLimit(one, count - 1) ? one : undefined;
  }
  return undefined;
}

function refusalOf(one: SeenAnswer | undefined): HttpAnswer | undefined {
  return one === undefined || hasSucceeded(one) ? undefined : one.exchange.answer;
}

function usualStatus(view: LearnView): number | undefined {
  return mostCommon(Object.values(caseSteps).flatMap((step) => refusalOf(view.answer(step))?.status ?? []));
}

/** A status that the dialect can express. */
function statusOf(status: number, evidence: string) {
  return status >= 400 && status <= 599
    ? learned(status, evidence)
    : unlearned(`the status of ${evidence} is ${status}, which is not an error status`);
}

/** Status, code and message of one refusal. */
function answerSettings(
  cause: string,
  steps: readonly string[],
  find: (view: LearnView) => HttpAnswer | undefined,
  what: string,
): Setting[] {
  const path = (field: string) => `refusals.${cause}.${field}`;
  return [
    {
      ...{ path: path('status'), steps, how: `the status of ${what}` },
      infer(view) {
        const status = find(view)?.status;
        return status === undefined ? undefined : statusOf(status, what);
      },
    },
    ...(['code', 'message'] as const).map(
      (field): Setting => ({
        ...{ path: path(field), steps, how: `\`error.${field}\` of ${what}` },
        infer(view) {
          const answer = find(view);
          if (answer === undefined) return undefined;
          const text = readError(parseJson(answer.body))[field];
          return text === undefined ? unlearned(`${what} has no error.${field}`) : learned(text, what);
        },
      }),
    ),
  ];
}
