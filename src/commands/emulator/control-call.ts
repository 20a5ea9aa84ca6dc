import type { OptionName } from '../../config/options.ts';
import type { CommandContext } from '../command.ts';

export const reachOptions = ['baseUrl', 'ca', 'controlSecretFile', 'timeout'] as const satisfies OptionName[];
export const streamOptions = [...reachOptions, 'onStream', 'onDevice'] as const satisfies OptionName[];

export type ReachContext = CommandContext<(typeof reachOptions)[number]>;
type StreamContext = CommandContext<(typeof streamOptions)[number]>;

/** Calls an operation of the emulator that the flags name. */
export async function call(
  context: ReachContext,
  ...[name, details]: [CallName, CallDetails?]
): Promise<unknown> {
  const { callControl } = await import('../../wire/client/control.ts');
  return callControl(await controlTarget(context), name, details);
}

type CallName = Parameters<typeof import('../../wire/client/control.ts').callControl>[1];
type CallDetails = Parameters<typeof import('../../wire/client/control.ts').callControl>[2];

export async function controlTarget({ settings, io, signal }: ReachContext) {
  const { readControlSecret } = await import('../control/secret.ts');
  const { readTrusted } = await import('../../config/trusted.ts');
  return {
    baseUrl: settings.baseUrl,
    ca: await readTrusted(settings.ca, { stdin: io.stdin, signal }),
    secret: await readControlSecret({ settings, io, signal }),
    signal,
  };
}

export async function print(
  { lines, json }: ReachContext,
  answer: unknown,
  text: string[],
): Promise<undefined> {
  const { jsonLine } = await import('../../kernel/escape.ts');
  await lines.write(json ? jsonLine(answer) : `${text.join('\n')}\n`);
}

export function selectedStreams({ settings: { onStream, onDevice } }: StreamContext) {
  return { stream: onStream, device: onDevice };
}

export async function printReached(context: StreamContext, answer: unknown): Promise<undefined> {
  const { reachedLine } = await import('../../report/control-lines.ts');
  await print(context, answer, [reachedLine((answer as { streams: number[] }).streams)]);
}
