import { replyOverAt } from '../../audio/turn-taking.ts';
import { bytesForMs, bytesPerMs, defaultFrameMs } from '../../protocol/audio-format.ts';
import type { Asker, RefusalExpectation } from '../asker.ts';
import { noCost, oneConnection } from '../cost.ts';
import type { ServiceLine } from '../service-line.ts';
import type { Step } from './step.ts';

const muteMs = 500;
const shortSpeechMs = 1_000;
/** For the confirmation or the refusal of a token. */
const answerMs = 10_000;
const refusalMs = 5_000;
/** The maximum time spent listening to a reply. */
const replyMs = 10_000;
/** A pause this long ends a reply. */
const quietMs = 800;
/** A service that spoke during the speech may have nothing more to say. */
const moreMs = 2_000;
/** After something that needs no answer. */
const noticeMs = 500;

function streamStep(
  id: string,
  title: string,
  uses: readonly string[],
  run: (ask: Asker) => Promise<void>,
  more: Partial<Step> = {},
): Step {
  return { id, title, level: 'base', cost: oneConnection, uses, ...more, run };
}

/** After another message than the confirmation, which may still follow. */
const besideMs = 1_000;

/** Presents a token, and waits until it is confirmed or the line has ended. */
export async function presentToken(
  ask: Asker,
  line: ServiceLine,
  token: string,
  opcode?: 'text' | 'binary',
): Promise<void> {
  const isUsual = opcode !== 'binary';
  const before = line.heard.messages;
  line.present(token, opcode);
  const isAnswered = () => line.isConfirmed || line.heard.messages > before;
  await ask.wait(line, isAnswered, isUsual ? answerMs : refusalMs, isUsual);
  if (isAnswered()) await line.until(() => line.isConfirmed, besideMs);
}

/** A fresh token must be confirmed or refused: silence is neither. */
async function presentFresh(ask: Asker, line: ServiceLine, token: string): Promise<void> {
  const before = line.heard.messages;
  await presentToken(ask, line, token);
  if (line.isOpen && !line.isConfirmed && line.heard.messages === before)
    ask.miss('a token is neither confirmed nor refused');
}

/** Sends the speech in real time, then silence like a microphone, until the reply has ended. */
async function speak(ask: Asker, line: ServiceLine): Promise<void> {
  const { clock } = ask.clockwork;
  const frameBytes = bytesForMs(defaultFrameMs);
  const silence = Buffer.alloc(frameBytes);
  // An emulator echoes everything: a little is enough.
  const speech = ask.clockwork.isMoved ? ask.speech.subarray(0, bytesForMs(shortSpeechMs)) : ask.speech;
  const startedAt = clock.now();
  let replyEndsAt = Number.POSITIVE_INFINITY;
  for (let at = 0; line.isOpen && clock.now() < replyEndsAt; at += frameBytes) {
    const frame = at < speech.length ? speech.subarray(at, at + frameBytes) : silence;
    line.sendAudio(frame);
    const dueAt = startedAt + ((at + frameBytes) / frameBytes) * defaultFrameMs;
    // Passes that much time, unless the line ends.
    await line.until(() => false, dueAt - clock.now());
    if (frame === silence)
      replyEndsAt = listensUntil(line.heard.audibleAt, startedAt + speech.length / bytesPerMs, ask);
  }
}

/** When listening to the reply ends, if the speech ended at `spokeUntil`. */
function listensUntil(heardAt: number, spokeUntil: number, { waitMs }: Asker): number {
  const begunAt = heardAt > spokeUntil ? heardAt : undefined;
  const hasSpokenBefore = begunAt === undefined && heardAt > Number.NEGATIVE_INFINITY;
  const overAt = replyOverAt(
    { awaitedFrom: spokeUntil, begunAt, heardAt },
    { waitMs: hasSpokenBefore ? Math.min(moreMs, waitMs) : waitMs, settleMs: quietMs },
  );
  return Math.min(overAt, spokeUntil + waitMs + replyMs);
}

/** The first of these that was granted provides the token of the conversation. */
const ofConversation = ['E1', 'E2', 'E3', 'E11'] as const;

async function converse(ask: Asker): Promise<void> {
  const token = ask.tokenOf(...ofConversation);
  const line = await ask.open('S1');
  await line.until(() => false, muteMs);
  await presentFresh(ask, line, token);
  // If it was confirmed, it stays open for S9.
  if (line.isConfirmed) await speak(ask, line);
  else await line.close();
}

/** A step that opens a line, does something on it, waits for the reaction, and closes. */
function shortStep(
  id: string,
  title: string,
  uses: readonly string[],
  act: (ask: Asker, line: ServiceLine) => Promise<void>,
  expectation: RefusalExpectation = {},
): Step {
  return streamStep(id, title, uses, async (ask) => {
    // Before the line is opened: without a token there is nothing to open it for.
    for (const used of uses.filter((name) => name.startsWith('E'))) ask.tokenOf(used);
    const line = await ask.open(id, expectation);
    await act(ask, line);
    await line.close();
  });
}

/** Sends what the service did not grant. A service that confirms it may still refuse it. */
async function sendForged(ask: Asker, line: ServiceLine, send: () => void): Promise<void> {
  send();
  await ask.wait(line, () => line.isConfirmed, refusalMs);
  if (line.isConfirmed) await line.until(() => false, besideMs);
}

/** The whole conversation; it continues while other steps are asked. */
export const conversationStep = streamStep(
  'S1',
  'a conversation: silence, JWT, speech, reply',
  ['E1'],
  converse,
  { background: true, takesMs: 7_000 },
);

/** A connection that sends nothing: opened early, and examined when its time has passed. */
export function silentSteps(waitMs: number): readonly Step[] {
  return [
    streamStep('S6', 'a connection that sends nothing', [], async (ask) => void (await ask.open('S6'))),
    {
      ...{ id: 'S6-end', title: `the same, after ${waitMs / 1000} s`, level: 'base', cost: noCost },
      after: { step: 'S6', ms: waitMs },
      uses: ['S6'],
      run: async (ask) => {
        await ask.settle();
        await ask.lineOf('S6').close();
      },
    },
  ];
}

export const streamSteps: readonly Step[] = [
  shortStep('S3', 'a token from the v1 path, then 641 bytes, then text', ['E2'], async (ask, line) => {
    await presentFresh(ask, line, ask.tokenOf('E2'));
    if (!line.isConfirmed) return;
    line.sendAudio(Buffer.alloc(bytesForMs(defaultFrameMs) + 1));
    await line.until(() => false, noticeMs);
    line.sendText('voicectl check');
    await line.until(() => false, noticeMs);
  }),
  shortStep('S8', 'a token in a binary message', ['E3'], (ask, line) =>
    presentToken(ask, line, ask.tokenOf('E3'), 'binary'),
  ),
  shortStep('S4', 'text that is not a token', [], (ask, line) =>
    sendForged(ask, line, () => line.sendText('not-a-jwt')),
  ),
  shortStep(
    'S5',
    'a token with an altered signature',
    ['E11'],
    (ask, line) => sendForged(ask, line, () => line.present(withAlteredSignature(ask.tokenOf('E11')))),
    { provoked: true },
  ),
  shortStep('S7', '640 bytes of audio before a token', ['E11'], async (ask, line) => {
    line.sendAudio(Buffer.alloc(bytesForMs(defaultFrameMs)));
    await presentToken(ask, line, ask.tokenOf('E11'));
  }),
];

/** The token of the conversation again: while the conversation is open, and afterwards. */
export const reuseSteps: readonly Step[] = [
  streamStep('S9', 'the token of S1 again, while S1 is open', ['E1', 'S1'], async (ask) => {
    const first = ask.lineOf('S1');
    if (!first.isOpen || !first.isConfirmed) return;
    const line = await ask.open('S9', { provoked: true });
    await presentToken(ask, line, ask.tokenOf(...ofConversation));
    await line.close();
  }),
  shortStep('S2', 'the token of S1 again, after S1', ['E1', 'S1'], async (ask, line) => {
    await ask.lineOf('S1').close();
    await presentToken(ask, line, ask.tokenOf(...ofConversation));
  }),
];

/** Another first character of the signature: the last one may hold bits that mean nothing. */
function withAlteredSignature(token: string): string {
  const at = token.lastIndexOf('.') + 1;
  const other = token[at] === 'A' ? 'B' : 'A';
  return token.slice(0, at) + other + token.slice(at + 1);
}
