import { parseDuration } from '../../config/parse.ts';
import { readTrusted } from '../../config/target.ts';
import { readBytes } from '../../files/read-text.ts';
import { findShippedSound } from '../../files/shipped-file.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { jsonText } from '../../kernel/escape.ts';
import type { ControlAnswers } from '../../protocol/control.ts';
import { reachedLine, stateLines } from '../../report/control-lines.ts';
import { emulatorLines } from '../../report/emulator-lines.ts';
import type { Style } from '../../report/style.ts';
import type { EmulatorEvent } from '../../service/events.ts';
import { type ControlCall, callControl, followJournal } from '../../wire/client/control.ts';
import type { ContextOf } from '../command.ts';
import { parseMessage } from '../control/message.ts';
import { readControlSecret } from '../control/secret.ts';

type ReachContext = ContextOf<'emulator state'>;
/** The context of the commands that act on streams. */
type StreamContext = ContextOf<'emulator event'>;

export async function state(context: ReachContext): Promise<undefined> {
  const answer = await call(context, 'state');
  await context.print(answer, stateLines(answer));
}

export async function journal(context: ContextOf<'emulator journal'>): Promise<undefined> {
  const { settings, style, signal } = context;
  const query = { ...selectedStreams(context), type: settings.type };
  const show = (entry: unknown) => context.print(entry, linesOf(entry as EmulatorEvent, style));
  if (!settings.follow) {
    const entries = await call(context, 'journal', { query: { ...query, limit: settings.limit } });
    for (const entry of entries) await show(entry);
    return undefined;
  }
  const target = await controlTarget(context);
  context.awaits(`events of ${target.baseUrl}`);
  for await (const entry of followJournal(target, query)) await show(entry);
  signal.throwIfAborted();
  return undefined;
}

/** The lines of an event. An event of another program, in a form of its own, is shown unchanged. */
function linesOf(event: EmulatorEvent, style: Style): string[] {
  try {
    return emulatorLines(event, style);
  } catch {
    return [jsonText(event)];
  }
}

export async function reset(context: ReachContext): Promise<undefined> {
  await context.print(await call(context, 'reset'), ['The emulator was reset']);
}

/** Shows the time of the emulator. With `advance DURATION`, moves it forward first. */
export async function clock(context: ReachContext): Promise<undefined> {
  const [action, duration] = context.args;
  const answer =
    action === undefined ? await call(context, 'clock') : await advance(context, action, duration);
  await context.print(answer, [`${answer.now}, ${answer.aheadMs / 1000} s ahead of this machine`]);
}

async function advance(context: ReachContext, action: string, duration = '') {
  try {
    if (action !== 'advance') throw new Error(`expected advance, not ${action}`);
    return await call(context, 'advance', { body: { advanceMs: parseDuration(duration) } });
  } catch (thrown) {
    if (thrown instanceof VoicectlError) throw thrown;
    throw new VoicectlError('usage', `clock: ${(thrown as Error).message}`, { cause: thrown });
  }
}

export async function send(context: ContextOf<'emulator send'>): Promise<number> {
  const { status, errorCode, message } = context.settings;
  const body = {
    ...selectedStreams(context),
    ...parseMessage({ status, errorCode, message, json: context.args[0] }),
  };
  return printReached(context, await call(context, 'send', { body }));
}

export async function speak(context: ContextOf<'emulator speak'>): Promise<number> {
  const body = await readBytes(await findShippedSound(context.args[0] ?? ''), context);
  return printReached(context, await call(context, 'speak', { query: selectedStreams(context), body }));
}

export async function event(context: ContextOf<'emulator event'>): Promise<number> {
  const body = { ...selectedStreams(context), event: context.args[0] };
  const answer = await call(context, 'event', { body });
  const text =
    answer.streams.length === 0 ? 'No stream is waiting for this event' : reachedLine(answer.streams);
  await context.print(answer, [text]);
  return answer.streams.length === 0 ? 1 : 0;
}

export async function close(context: ContextOf<'emulator close'>): Promise<number> {
  const { code, reason } = context.settings;
  const body = { ...selectedStreams(context), code, reason };
  return printReached(context, await call(context, 'close', { body }));
}

/** Calls an operation of the selected emulator. */
export async function call<Name extends keyof ControlAnswers>(
  context: ReachContext,
  name: Name,
  details?: ControlCall,
): Promise<ControlAnswers[Name]> {
  return callControl(await controlTarget(context), name, details);
}

async function controlTarget(context: ReachContext) {
  const { settings, signal } = context;
  const ca = await readTrusted(settings.ca, context);
  const secret = await readControlSecret(context);
  context.awaits(`an answer from ${settings.baseUrl}`);
  return { baseUrl: settings.baseUrl, ca, secret, signal };
}

function selectedStreams({ settings: { onStream, onDevice } }: StreamContext) {
  return { stream: onStream, device: onDevice };
}

/** Prints the streams that an action reached. The exit code is 1 if it reached none. */
async function printReached(context: StreamContext, answer: ControlAnswers['close']): Promise<number> {
  await context.print(answer, [reachedLine(answer.streams)]);
  return answer.streams.length === 0 ? 1 : 0;
}
