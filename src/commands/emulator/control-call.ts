import { readTrusted } from '../../config/trusted.ts';
import type { ControlAnswers } from '../../protocol/control.ts';
import { reachedLine } from '../../report/control-lines.ts';
import { type ControlCall, callControl } from '../../wire/client/control.ts';
import type { ContextOf } from '../command.ts';
import { readControlSecret } from '../control/secret.ts';

export type ReachContext = ContextOf<'emulator state'>;
/** Settings of the commands that act on streams. */
type StreamContext = ContextOf<'emulator event'>;

/** Calls an operation of the selected emulator. */
export async function call<Name extends keyof ControlAnswers>(
  context: ReachContext,
  name: Name,
  details?: ControlCall,
): Promise<ControlAnswers[Name]> {
  return callControl(await controlTarget(context), name, details);
}

export async function controlTarget(context: ReachContext) {
  const { settings, io, signal } = context;
  return {
    baseUrl: settings.baseUrl,
    ca: await readTrusted(settings.ca, { stdin: io.stdin, signal }),
    secret: await readControlSecret(context),
    signal,
  };
}

export function selectedStreams({ settings: { onStream, onDevice } }: StreamContext) {
  return { stream: onStream, device: onDevice };
}

/** Prints the streams that an action reached. The exit code is 1 if it reached none. */
export async function printReached(context: StreamContext, answer: ControlAnswers['close']): Promise<number> {
  await context.print(answer, [reachedLine(answer.streams)]);
  return answer.streams.length === 0 ? 1 : 0;
}
