import { join } from 'node:path';
import { writeText } from '../../files/write-text.ts';
import { systemClock } from '../../kernel/clock.ts';
import { toVoicectlError } from '../../kernel/errors.ts';
import type { Action } from '../../ui/port.ts';

/** The actions that every screen offers. */
type OwnAction = Extract<Action, { type: 'copy' | 'copyCurl' | 'save' }>;

export interface OwnActionOptions {
  cwd: string;
  /** The curl command that asks for a token. */
  curl: () => string;
  copy: (text: string) => void;
  tell: (text: string) => void;
}

/** Copies or saves text for the user, and reports the result. */
export async function runOwnAction(
  action: OwnAction,
  { cwd, curl, copy, tell }: OwnActionOptions,
): Promise<void> {
  if (action.type === 'save') {
    tell(await saveEvents(action.text, cwd));
    return;
  }
  copy(action.type === 'copy' ? action.text : curl());
  tell(`Copied ${action.type === 'copy' ? action.what : 'the curl line'}, if the terminal allows it`);
}

/** Writes to a new file that only its owner can read. */
async function saveEvents(text: string, cwd: string): Promise<string> {
  const stamp = new Date(systemClock.wall())
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replaceAll(':', '');
  const name = `voicectl-${stamp}.jsonl`;
  try {
    await writeText(join(cwd, name), text, { existing: 'refuse', isPrivate: true, name });
    return `Saved ${name}`;
  } catch (thrown) {
    return toVoicectlError(thrown).message;
  }
}
