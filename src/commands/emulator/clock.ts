import { parseDuration } from '../../config/parse.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { call, print, type ReachContext } from './control-call.ts';

/** Shows the time of the emulator. With `advance DURATION`, moves it forward first. */
export async function clock(context: ReachContext): Promise<undefined> {
  const [action, duration] = context.args;
  const answer =
    action === undefined ? await call(context, 'clock') : await advance(context, action, duration);
  return print(context, answer, [`${answer.now}, ${answer.aheadMs / 1000} s ahead of this machine`]);
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
