import { countText } from '../../protocol/count-text.ts';
import { isRecord } from '../../protocol/error-body.ts';
import { ownValue } from '../../protocol/parse-json.ts';
import type { SeenStream } from '../../rules/stream-seen.ts';
import { streamTooMany } from '../steps/connection-steps.ts';
import { furtherText, namesBeside } from './answer-remarks.ts';
import { learned, notProbed, quote, type Remark, type Setting } from './setting.ts';
import { fieldsOf, samplesOf } from './template.ts';
import { lateSteps } from './token-settings.ts';
import { kindFieldOf, type LearnView, serviceClose, type TimedServiceMessage, textsOf } from './view.ts';

const refusedStreams = ['S4', 'S5', 'S2', 'S6', 'S8', ...lateSteps, streamTooMany, 'S3'];
const refusedSteps = refusedStreams.map((id) => (id === streamTooMany ? 'C' : id));

/** What the service sends before it closes a stream. */
export const errorSettings: readonly Setting[] = [
  {
    path: 'stream.error.kind',
    steps: refusedSteps,
    how: 'the kind of the message before a close',
    infer(view) {
      const [error, field] = [errorsOf(view)[0], kindFieldOf(view)];
      const kind =
        field !== undefined && isRecord(error?.said.body) ? ownValue(error.said.body, field) : undefined;
      return typeof kind === 'string' && kind !== ''
        ? learned(kind, `the error of ${error?.stream.id}`)
        : undefined;
    },
  },
  {
    path: 'stream.error.shape',
    steps: refusedSteps,
    how: 'whether the code is in `error` or beside the kind',
    infer(view) {
      const [error] = errorsOf(view);
      if (error === undefined || !isRecord(error.said.body)) return undefined;
      return learned(
        isRecord(error.said.body.error) ? 'nested' : 'flat',
        `${error.stream.id}: ${quote(error.said.body)}`,
      );
    },
  },
  {
    path: 'stream.error.fields',
    steps: refusedSteps,
    how: 'further fields of the error messages; those that differ are templates',
    infer(view) {
      const [errors, field] = [errorsOf(view), kindFieldOf(view)];
      if (errors.length === 0 || field === undefined) return undefined;
      const samples = errors.flatMap(({ stream, said }) => samplesOf(view, stream, [said]));
      return learned(
        fieldsOf(samples, [field, 'error', 'code', 'message']),
        countText(samples.length, 'error message'),
      );
    },
  },
  {
    path: 'stream.errorBeforeClose',
    steps: ['S4', 'S5', 'S2'],
    how: 'whether an error message is the last message before a close',
    infer(view) {
      const ends = ['S4', 'S5', 'S2'].flatMap((id) => serviceClose(view.stream(id)) ?? []);
      if (ends.length === 0) return undefined;
      const explained = ends.filter(({ error }) => error !== undefined).length;
      return learned(explained > 0, `${explained} of ${ends.length} refusals came with an error message`);
    },
  },
  notProbed('stream.replyFailed.code', 'seen only when a reply fails'),
  notProbed('stream.replyFailed.message', 'seen only when a reply fails'),
];

export const errorRemarks: readonly Remark[] = [
  {
    steps: refusedSteps,
    find: (view) =>
      furtherText(
        'errors on streams contain',
        errorBodies(view)
          .flatMap(({ error }) => namesBeside(error, ['code', 'message']))
          .map((name) => `error.${name}`),
      ),
  },
  {
    steps: refusedSteps,
    find: (view) =>
      errorBodies(view).some(({ code, error }) => typeof (isRecord(error) ? error.code : code) === 'number')
        ? 'the code of an error on a stream is a number: an emulator sends text'
        : undefined,
  },
  {
    steps: refusedSteps,
    find(view) {
      const ended = refusedStreams.filter((id) => serviceClose(view.stream(id)) !== undefined);
      const bare = ended.filter((id) => serviceClose(view.stream(id))?.error === undefined);
      return bare.length === 0 || bare.length === ended.length
        ? undefined
        : `the closes of ${bare.join(', ')} come without an error message, the others with one: an emulator treats all closes alike`;
    },
  },
];

/** The errors on streams as objects. */
function errorBodies(view: LearnView): Record<string, unknown>[] {
  return errorsOf(view).flatMap(({ said: { body } }) => (isRecord(body) ? [body] : []));
}

interface ErrorSaid {
  stream: SeenStream;
  said: TimedServiceMessage;
}

/** Error messages, the first of each stream. */
function errorsOf(view: LearnView): ErrorSaid[] {
  return refusedStreams.flatMap((id) => {
    const stream = view.stream(id);
    const said = stream && textsOf(stream).find(({ category }) => category === 'error');
    return stream === undefined || said === undefined ? [] : [{ stream, said }];
  });
}
