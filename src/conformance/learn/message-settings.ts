import { cutText } from '../../kernel/escape.ts';
import { countText } from '../../protocol/count-text.ts';
import { isRecord } from '../../protocol/error-body.ts';
import { connectedKind } from '../../protocol/messages.ts';
import { audioOf, type SeenStream } from '../../rules/stream-seen.ts';
import { type Learned, learned, quote, type Remark, type Setting, unlearned } from './setting.ts';
import { isStatus } from './status-settings.ts';
import { fieldsOf, type Sample, samplesOf, toTemplate } from './template.ts';
import {
  confirmedAt,
  confirmedStreams,
  isConnected,
  kindFieldOf,
  type LearnView,
  presentedAt,
  type TimedServiceMessage,
  textsOf,
} from './view.ts';

const conversation = ['S1'] as const;

/** What comes before any audio: a greeting, the confirmation, and what is around it. */
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
];

export const messageRemarks: readonly Remark[] = [
  {
    steps: conversation,
    find(view) {
      const stream = view.stream('S1');
      const texts = stream === undefined ? [] : textsOf(stream).filter(({ body }) => !isRecord(body));
      return texts.length === 0
        ? undefined
        : `${countText(texts.length, 'text message')} of S1 contain no JSON object: ${cutText(texts.map(({ text }) => text).join(' '), 80)}`;
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
];

function confirmations(view: LearnView): Sample[] {
  return confirmedStreams(view).flatMap((stream) =>
    samplesOf(view, stream, textsOf(stream).filter(isConnected)),
  );
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
  const lists = [main, ...confirmedStreams(view).filter((stream) => stream !== main)].map((stream) =>
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
