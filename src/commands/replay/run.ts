import type { ContextOf } from '../command.ts';
import { run as serve } from '../serve/run.ts';

/** Runs the emulator of `serve` with the recording as its reply. */
export function run(context: ContextOf<'replay'>): Promise<number> {
  const settings = { ...context.settings, reply: `replay:${context.args[0]}`, scenario: undefined };
  return serve({ ...context, settings }, 'replay');
}
