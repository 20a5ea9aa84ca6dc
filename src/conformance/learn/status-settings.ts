import { cutText } from '../../kernel/escape.ts';
import { isRecord } from '../../protocol/error-body.ts';
import { ownValue } from '../../protocol/parse-json.ts';
import { memoise } from '../../rules/memo.ts';
import { audioOf, type SeenStream } from '../../rules/stream-seen.ts';
import { learned, quote, type Remark, type Setting, unlearned } from './setting.ts';
import { fieldsOf, samplesOf, toTemplate } from './template.ts';
import { confirmedStreams, kindFieldOf, type LearnView, type TimedServiceMessage, textsOf } from './view.ts';

const conversation = ['S1'] as const;

/** What comes around a reply: the states of the AI. */
export const statusSettings: readonly Setting[] = [
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
        isSent
          ? `${quote((speaking ?? listening)?.body)} around the reply`
          : 'no text came before or after the reply',
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
];

export const statusRemarks: readonly Remark[] = [
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
        : `S1 has messages other than the states, which an emulator does not send: ${cutText(others.join(', '), 80)}`;
    },
  },
  {
    steps: conversation,
    find(view) {
      const states = statesOf(view);
      const silent = confirmedStreams(view).filter(({ id }) => id !== 'S1');
      if (states?.speaking === undefined || silent.length === 0) return undefined;
      return silent.some((stream) => textsOf(stream).some((said) => isStatus(view, said)))
        ? undefined
        : 'no state is sent before the first reply: an emulator sends the listening state after the confirmation';
    },
  },
];

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

interface States<Message> {
  speaking: Message | undefined;
  listening: Message | undefined;
}

/**
 * The last text before the reply of S1, and the first after it; undefined if no reply was heard. A service that speaks before
 * the turn has ended, as with a greeting, says its states of the reply later.
 */
const statesOf = memoise((view: LearnView): States<TimedServiceMessage> | undefined => {
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
});

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
export function isStatus(view: LearnView, said: TimedServiceMessage): boolean {
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
