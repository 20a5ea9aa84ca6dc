import { isSendableCloseCode } from '../../protocol/close-codes.ts';
import type { CloseCause } from '../../protocol/dialect.ts';
import { streamTooMany } from '../steps/connection-steps.ts';
import { learned, notProbed, type Setting, unlearned } from './setting.ts';
import { earlyAudioEnd, evictedEnd, expiryEnd, textSentAt } from './stream-settings.ts';
import { isLateReuse, lateSteps } from './token-settings.ts';
import { confirmedAt, type LearnView, type ServiceClose, serviceClose, textsOf } from './view.ts';

/** Where the service closes a stream for each cause. */
const causes: Partial<
  Record<CloseCause, { steps: readonly string[]; find(view: LearnView): ServiceClose | undefined }>
> = {
  tokenTimeout: { steps: ['S6', 'S6-end'], find: (view) => serviceClose(view.stream('S6')) },
  tokenInvalid: { steps: ['S4'], find: (view) => serviceClose(view.stream('S4')) },
  tokenExpired: { steps: lateSteps, find: (view) => firstRefusal(view, lateSteps) },
  tokenReused: { steps: ['S2'], find: (view) => firstRefusal(view, ['S2']) },
  tooManyConnections: { steps: ['C'], find: (view) => firstRefusal(view, [streamTooMany]) },
  evicted: { steps: ['C'], find: evictedEnd },
  earlyAudioOverflow: { steps: ['S7'], find: earlyAudioEnd },
  unexpectedText: {
    steps: ['S3'],
    find: (view) => (hasText(view) ? serviceClose(view.stream('S3')) : undefined),
  },
  oddBytes: { steps: ['S3'], find: oddBytesEnd },
  sessionExpired: { steps: ['A55', 'A55-end'], find: expiryEnd },
};

/** Causes that no exchange can trigger. */
const never: Partial<Record<CloseCause, string>> = {
  unavailable: 'seen only when the service is full',
  idle: 'a stream is watched for 75 s at most',
  sessionTooLong: 'a stream is watched for 75 s at most',
  slowReader: 'seen only when a device does not read',
  shutdown: 'seen only when the service stops',
};

/** Causes for which a token is refused: what is said then may come without a close. */
const refusals: ReadonlySet<string> = new Set<CloseCause>([
  'tokenTimeout',
  'tokenInvalid',
  'tokenExpired',
  'tokenReused',
  'tooManyConnections',
]);

const fields = ['close', 'reason', 'code', 'message'] as const;

export const closeSettings: readonly Setting[] = [
  ...Object.entries(causes).flatMap(([cause, { steps, find }]) =>
    fields.map(
      (field): Setting => ({
        path: `stream.closes.${cause}.${field}`,
        steps,
        how: `how ${listText(steps)} ${steps.length > 1 ? 'end' : 'ends'}`,
        infer(view) {
          if (cause === 'tokenReused' && isLateReuse(view))
            return unlearned('S2 presented a token that had expired');
          const end = find(view);
          if (end !== undefined) return fieldOf(end, field, steps.join(', '));
          if (cause === 'unexpectedText') return wordOf(view, field);
          return refusals.has(cause) ? saidWithoutClose(view, steps, field) : undefined;
        },
      }),
    ),
  ),
  ...Object.entries(never).flatMap(([cause, how]) =>
    fields.map((field) => notProbed(`stream.closes.${cause}.${field}`, how)),
  ),
];

/** `S6`, `S6 and S6-end`, `A62, A66 and A72` */
function listText(names: readonly string[]): string {
  return names.join(', ').replace(/, ([^,]*)$/, ' and $1');
}

function fieldOf(end: ServiceClose, field: (typeof fields)[number], evidence: string) {
  if (field === 'reason' && !isSendableCloseCode(end.close))
    return unlearned(`a close with ${end.close} has no reason`);
  if (field === 'close' || field === 'reason') return learned(end[field], evidence);
  const value = end.error?.error?.[field];
  if (end.error === undefined) return unlearned('no error message came before the close');
  return value === undefined ? unlearned(`the error message has no ${field}`) : learned(value, evidence);
}

/** The words of a refusal that the service does not follow with a close. */
function saidWithoutClose(view: LearnView, steps: readonly string[], field: (typeof fields)[number]) {
  if (field === 'close' || field === 'reason') return undefined;
  for (const id of steps.map((step) => (step === 'C' ? streamTooMany : step))) {
    const stream = view.stream(id);
    if (stream === undefined || confirmedAt(stream) !== undefined) continue;
    const value = textsOf(stream).find(({ category }) => category === 'error')?.error?.[field];
    if (value !== undefined) return learned(value, `the error message on ${id}`);
  }
  return undefined;
}

/** If text after the token is answered and not followed by a close, the answer has the words of the close. */
function wordOf(view: LearnView, field: (typeof fields)[number]) {
  const stream = view.stream('S3');
  const sentAt = stream && textSentAt(stream);
  if (stream === undefined || sentAt === undefined || serviceClose(stream) !== undefined) return undefined;
  const error = textsOf(stream).find(({ category, at }) => category === 'error' && at >= sentAt)?.error;
  if (error === undefined || field === 'close' || field === 'reason') return undefined;
  const value = error[field];
  return value === undefined ? undefined : learned(value, 'the error message on S3');
}

function firstRefusal(view: LearnView, ids: readonly string[]): ServiceClose | undefined {
  for (const id of ids) {
    const stream = view.stream(id);
    const end = stream && confirmedAt(stream) === undefined ? serviceClose(stream) : undefined;
    if (end !== undefined) return end;
  }
  return undefined;
}

/** The close that follows a message of 641 bytes on a confirmed stream, before any text was sent. */
function oddBytesEnd(view: LearnView): ServiceClose | undefined {
  const stream = view.stream('S3');
  if (stream === undefined || confirmedAt(stream) === undefined || hasText(view)) return undefined;
  return serviceClose(stream);
}

/** Whether text had been sent on S3 before it ended. */
function hasText(view: LearnView): boolean {
  const stream = view.stream('S3');
  return stream !== undefined && textSentAt(stream) !== undefined;
}
