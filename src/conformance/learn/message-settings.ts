import { cutText } from '../../kernel/escape.ts';
import { countText } from '../../protocol/count-text.ts';
import { isRecord } from '../../protocol/error-body.ts';
import { connectedKind } from '../../protocol/messages.ts';
import { ownValue } from '../../protocol/parse-json.ts';
import { audioOf, type SeenStream } from '../../rules/stream-seen.ts';
import { streamTooMany } from '../steps/connection-steps.ts';
import { furtherText, namesBeside } from './answer-remarks.ts';
import { type Learned, learned, notProbed, quote, type Remark, type Setting, unlearned } from './setting.ts';
import { type Sample, samplesOf, toTemplate } from './template.ts';
import { lateSteps } from './token-settings.ts';
import {
  confirmedAt,
  type LearnView,
  presentedAt,
  serviceClose,
  type TimedServiceMessage,
  textsOf,
} from './view.ts';

const conversation = ['S1'] as const;
const refusedStreams = ['S4', 'S5', 'S2', 'S6', 'S8', ...lateSteps, streamTooMany, 'S3'];
const refusedSteps = refusedStreams.map((id) => (id === streamTooMany ? 'C' : id));

export const messageSettings: readonly Setting[] = [
  {
    path: 'stream.kindField',
    steps: conversation,
    how: `the field of the first message that contains ${connectedKind}`,
    infer(view) {
      const field = kindFieldOf(view);
      return field === undefined ? undefined : learned(field, `S1 has ${quote({ [field]: connectedKind })}`);
    },
  },
  {
    path: 'stream.greeting',
    steps: ['S1', 'S6'],
    how: 'what comes before any token',
    infer: (view) => listOf(view, (stream) => before(stream, presentedAt(stream)), 'before the token'),
  },
  {
    path: 'stream.connected.before',
    steps: conversation,
    how: 'what comes between the token and the confirmation',
    infer: (view) =>
      listOf(
        view,
        (stream) => between(stream, presentedAt(stream), confirmedAt(stream)),
        'before the confirmation',
      ),
  },
  {
    path: 'stream.connected.fields',
    steps: ['S1', 'S3'],
    how: 'further fields of the confirmation; those that differ are templates',
    infer(view) {
      const field = kindFieldOf(view);
      const samples = confirmations(view);
      if (field === undefined || samples.length === 0) return undefined;
      return learned(fieldsOf(samples, [field]), countText(samples.length, 'confirmation'));
    },
  },
  {
    path: 'stream.connected.after',
    steps: conversation,
    how: 'what comes after the confirmation and before any audio, except status messages',
    infer: (view) => listOf(view, (stream) => afterConfirmed(view, stream), 'after the confirmation'),
  },
  {
    path: 'stream.status.send',
    steps: conversation,
    how: 'whether text comes before and after the reply of S1',
    infer(view) {
      const states = statesOf(view);
      if (states === undefined) return undefined;
      const { speaking, listening } = states;
      const isSent = speaking !== undefined || listening !== undefined;
      return learned(
        isSent,
        isSent ? `${quote((speaking ?? listening)?.body)} around the reply` : 'no text came around the reply',
      );
    },
  },
  stateSetting('kind', 'kind of the message after the reply', ({ listening }, field) =>
    ownValue(listening, field),
  ),
  {
    path: 'stream.status.kinds.listening',
    steps: conversation,
    how: 'never needed: `status.kind` covers it',
    infer: (view) =>
      statesOf(view)?.listening === undefined ? undefined : learned(undefined, 'same as stream.status.kind'),
  },
  stateSetting(
    'kinds.speaking',
    'kind of the message before the reply, if it differs',
    ({ listening, speaking }, field) =>
      ownValue(speaking, field) === ownValue(listening, field) ? undefined : ownValue(speaking, field),
  ),
  stateSetting(
    'stateField',
    'the field that differs before and after the reply',
    (states, field) => stateFieldOf(states, field) ?? '',
  ),
  stateSetting('states.listening', 'the state after the reply', (states, field) =>
    textOf(states, 'listening', field),
  ),
  stateSetting('states.speaking', 'the state before the reply', (states, field) =>
    textOf(states, 'speaking', field),
  ),
  {
    path: 'stream.status.fields',
    steps: conversation,
    how: 'further fields of the status messages; those that differ are templates',
    infer(view) {
      const [states, bodies, field] = [statesOf(view), stateBodies(view), kindFieldOf(view)];
      const stream = view.stream('S1');
      if (states === undefined || bodies === undefined || field === undefined || stream === undefined)
        return undefined;
      const messages = [states.listening, states.speaking].filter((one) => one !== undefined);
      const own = [field, stateFieldOf(bodies, field) ?? field];
      return messages.length === 0
        ? undefined
        : learned(fieldsOf(samplesOf(view, stream, messages), own), 'status messages of S1');
    },
  },
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
      return learned(explained > 0, `${explained} of ${ends.length} refusals came with one`);
    },
  },
  notProbed('stream.replyFailed.code', 'seen only when a reply fails'),
  notProbed('stream.replyFailed.message', 'seen only when a reply fails'),
];

export const messageRemarks: readonly Remark[] = [
  {
    steps: conversation,
    find(view) {
      const stream = view.stream('S1');
      const texts = stream === undefined ? [] : textsOf(stream).filter(({ body }) => !isRecord(body));
      return texts.length === 0
        ? undefined
        : `${countText(texts.length, 'text message')} of S1 hold no JSON object: ${cutText(texts.map(({ text }) => text).join(' '), 80)}`;
    },
  },
  {
    steps: conversation,
    find(view) {
      const { varying } = toTemplate(confirmations(view));
      return varying.length === 0
        ? undefined
        : `fields of the confirmation that differ: ${varying.join(', ')}`;
    },
  },
  {
    steps: conversation,
    find(view) {
      const stream = view.stream('S1');
      const { listening, speaking } = statesOf(view) ?? {};
      if (stream === undefined) return undefined;
      const messages = [listening, speaking].filter((one) => one !== undefined);
      const { varying } = toTemplate(samplesOf(view, stream, messages));
      const [bodies, field] = [stateBodies(view), kindFieldOf(view)];
      const own = bodies && field !== undefined ? [field, stateFieldOf(bodies, field)] : [];
      const others = varying.filter((name) => !own.includes(name));
      return others.length === 0
        ? undefined
        : `fields of the status messages that differ: ${others.join(', ')}`;
    },
  },
  {
    steps: conversation,
    find(view) {
      const { listening, speaking } = statesOf(view) ?? {};
      if ((listening === undefined) === (speaking === undefined)) return undefined;
      const [when, other] = speaking === undefined ? ['after', 'before'] : ['before', 'after'];
      return `a message comes ${when} the reply and none ${other} it: an emulator sends its own states`;
    },
  },
  {
    steps: conversation,
    find(view) {
      const others = othersOf(view);
      return others.length === 0
        ? undefined
        : `S1 has messages beside the states, which an emulator does not send: ${cutText(others.join(', '), 80)}`;
    },
  },
  {
    steps: refusedSteps,
    find: (view) =>
      furtherText(
        'errors on streams hold',
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
        : `of the closes, those of ${bare.join(', ')} come without an error message: an emulator treats all alike`;
    },
  },
  {
    steps: conversation,
    find(view) {
      const states = statesOf(view);
      const silent = confirmed(view).filter(({ id }) => id !== 'S1');
      if (states?.speaking === undefined || silent.length === 0) return undefined;
      return silent.some((stream) => textsOf(stream).some((said) => isStatus(view, said)))
        ? undefined
        : 'no state is sent before the first reply: an emulator sends the listening state after the confirmation';
    },
  },
];

/** The errors on streams as objects. */
function errorBodies(view: LearnView): Record<string, unknown>[] {
  return errorsOf(view).flatMap(({ said: { body } }) => (isRecord(body) ? [body] : []));
}

/** What S1 says from its first audio on that is none of the two states, each once. */
function othersOf(view: LearnView): string[] {
  const [stream, states, field] = [view.stream('S1'), stateBodies(view), kindFieldOf(view)];
  const begun = stream && audioOf(stream, 'device')[0]?.at;
  if (stream === undefined || states === undefined || field === undefined || begun === undefined) return [];
  const stateField = stateFieldOf(states, field);
  const nameOf = (body: unknown) =>
    isRecord(body)
      ? [field, ...(stateField === undefined ? [] : [stateField])]
          .flatMap((name) => ownValue(body, name) ?? [])
          .join(' ')
      : '';
  const known = [states.listening, states.speaking].map(nameOf);
  const said = textsOf(stream).filter(({ at, category }) => at > begun && category !== 'error');
  const names = said.map(({ body }) => nameOf(body)).filter((name) => name !== '');
  return [...new Set(names)].filter((name) => !known.includes(name));
}

/** The field by which the service names the kind of a message. */
function kindFieldOf(view: LearnView): string | undefined {
  for (const stream of confirmed(view)) {
    const body = textsOf(stream).find(isConnected)?.body;
    const field = isRecord(body)
      ? Object.keys(body).find((name) => ownValue(body, name) === connectedKind)
      : undefined;
    if (field !== undefined) return field;
  }
  return undefined;
}

function isConnected({ category }: TimedServiceMessage): boolean {
  return category === 'connected';
}

function confirmed(view: LearnView): SeenStream[] {
  return view.streams.filter((stream) => confirmedAt(stream) !== undefined);
}

function confirmations(view: LearnView): Sample[] {
  return confirmed(view).flatMap((stream) => samplesOf(view, stream, textsOf(stream).filter(isConnected)));
}

function before(stream: SeenStream, at = Number.POSITIVE_INFINITY): TimedServiceMessage[] {
  return textsOf(stream).filter((said) => said.at < at && said.category !== 'error');
}

function between(
  stream: SeenStream,
  from = Number.POSITIVE_INFINITY,
  to = Number.POSITIVE_INFINITY,
): TimedServiceMessage[] {
  const all = textsOf(stream);
  const end = all.findIndex(isConnected);
  return all
    .slice(0, Math.max(0, end))
    .filter((said) => said.at >= from && said.at <= to && !isConnected(said));
}

/** Without status messages: they belong to a reply, and the first may come right after the confirmation. */
function afterConfirmed(view: LearnView, stream: SeenStream): TimedServiceMessage[] {
  const all = textsOf(stream);
  const from = all.findIndex(isConnected);
  const spoken = audioOf(stream, 'device')[0]?.at ?? Number.POSITIVE_INFINITY;
  const behind =
    from < 0 ? [] : all.slice(from + 1).filter(({ at, category }) => at <= spoken && category !== 'error');
  return behind.filter((said) => !isStatus(view, said));
}

/** The messages of the conversation, each as a template of the messages in its place on other streams. */
function listOf(
  view: LearnView,
  select: (stream: SeenStream) => TimedServiceMessage[],
  where: string,
): Learned | undefined {
  const main = view.stream('S1');
  if (main === undefined || confirmedAt(main) === undefined) return undefined;
  const lists = [main, ...confirmed(view).filter((stream) => stream !== main)].map((stream) =>
    samplesOf(view, stream, select(stream)),
  );
  const [own = []] = lists;
  const values = own.map((_sample, index) => {
    const samples = lists.filter((list) => list.length === own.length).flatMap((list) => list[index] ?? []);
    return toTemplate(samples).value;
  });
  if (!values.every(isRecord))
    return unlearned(`what comes ${where} is not a JSON object: ${quote(own.map(({ body }) => body))}`);
  return learned(values, `${countText(values.length, 'message')} ${where}`);
}

/** The fields that are the same in all messages, except those with a meaning of their own. */
function fieldsOf(samples: readonly Sample[], own: readonly string[]): Record<string, unknown> {
  const { value } = toTemplate(samples);
  const fields = isRecord(value) ? Object.entries(value) : [];
  return Object.fromEntries(fields.filter(([name]) => !own.includes(name)));
}

interface States<Message> {
  speaking: Message | undefined;
  listening: Message | undefined;
}

/**
 * The last text before the reply of S1, and the first after it; undefined if no reply was heard. A service that speaks before
 * the turn has ended, as with a greeting, says its states of the reply later.
 */
function statesOf(view: LearnView): States<TimedServiceMessage> | undefined {
  const stream = view.stream('S1');
  const audio = stream && audioOf(stream, 'service');
  const [first, last] = [audio?.[0], audio?.at(-1)];
  if (stream === undefined || first === undefined || last === undefined) return undefined;
  const begun = audioOf(stream, 'device')[0]?.at ?? first.at;
  const texts = textsOf(stream).filter(({ category }) => category === 'status' || category === 'other');
  const before = texts.filter(({ at }) => at > begun && at <= first.at).at(-1);
  const later = texts.filter(({ at }) => at > begun && at <= last.at).at(-1);
  return {
    speaking: before ?? (first.at < spokeUntil(stream) ? later : undefined),
    listening: texts.find(({ at }) => at >= last.at),
  };
}

/** When the device sent the last sound of its turn: silence follows. */
function spokeUntil(stream: SeenStream): number {
  const isSound = ({ data }: { data: Buffer }) => data.some((byte) => byte !== 0);
  return audioOf(stream, 'device').findLast(isSound)?.at ?? Number.NEGATIVE_INFINITY;
}

function stateBodies(view: LearnView): States<Record<string, unknown>> | undefined {
  const states = statesOf(view);
  const bodyOf = (said: TimedServiceMessage | undefined) => (isRecord(said?.body) ? said.body : undefined);
  return states && { speaking: bodyOf(states.speaking), listening: bodyOf(states.listening) };
}

/** Whether a message has the kind of a state. */
function isStatus(view: LearnView, said: TimedServiceMessage): boolean {
  const [states, field] = [stateBodies(view), kindFieldOf(view)];
  if (states === undefined || field === undefined || !isRecord(said.body)) return said.category === 'status';
  const { body } = said;
  return [states.listening, states.speaking].some(
    (state) => state !== undefined && ownValue(state, field) === ownValue(body, field),
  );
}

/** The field whose text differs between the two states, except the kind. */
function stateFieldOf(
  { speaking, listening }: States<Record<string, unknown>>,
  kindField: string,
): string | undefined {
  if (speaking === undefined || listening === undefined) return undefined;
  return Object.keys(listening).find((name) => {
    const [here, there] = [ownValue(listening, name), ownValue(speaking, name)];
    const areTexts = typeof here === 'string' && typeof there === 'string';
    return (
      name !== kindField && areTexts && here !== there && !/^[0-9a-f-]{36}$|^\d{4}-\d\d-\d\dT/i.test(here)
    );
  });
}

/** The text of a state; null if no field holds it. */
function textOf(
  states: States<Record<string, unknown>>,
  state: keyof States<unknown>,
  kindField: string,
): unknown {
  const field = stateFieldOf(states, kindField);
  return field === undefined ? null : ownValue(states[state], field);
}

function stateSetting(
  name: string,
  how: string,
  read: (states: States<Record<string, unknown>>, kindField: string) => unknown,
): Setting {
  return {
    path: `stream.status.${name}`,
    steps: conversation,
    how,
    infer(view) {
      const [states, field] = [stateBodies(view), kindFieldOf(view)];
      if (states === undefined || field === undefined) return undefined;
      const { speaking, listening } = states;
      if (speaking === undefined || listening === undefined) return undefined;
      const value = read(states, field);
      if (value === null) return unlearned('no field holds the state: the kinds differ');
      return learned(value, `${quote(speaking)} before the reply, ${quote(listening)} after it`);
    },
  };
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
