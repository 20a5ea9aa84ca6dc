import { AsyncLocalStorage } from 'node:async_hooks';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isError, VoicectlError } from '../../kernel/errors.ts';
import { onUncaught } from '../../kernel/uncaught.ts';
import { type CreateReply, guardReply } from './reply.ts';

/**
 * A JavaScript module as the AI: its export `createReply(voice)` is called for each stream. Throws `bad-input`
 * if the module cannot be loaded or lacks this export.
 */
export async function loadModule(path: string): Promise<CreateReply> {
  const loaded = (await import(pathToFileURL(resolve(path)).href).catch((cause) => {
    const why = isError(cause) ? cause.message.split('\n')[0] : String(cause);
    throw new VoicectlError('bad-input', `Cannot load the reply module ${path}: ${why}`, {
      hint: lacksLibrary(cause) ? installHint : undefined,
      cause,
    });
  })) as Record<string, unknown>;
  const { createReply } = loaded;
  if (typeof createReply !== 'function') {
    throw new VoicectlError('bad-input', `The reply module ${path} does not export createReply`, {
      hint: 'Add: export function createReply(voice) { return { hear(pcm) {} }; }',
    });
  }
  return (voice) => guardReply(createReply as CreateReply, voice, (fail, call) => failures.run(fail, call));
}

/** Takes the errors of a module's code, while it or anything that it started runs. */
const failures = new AsyncLocalStorage<(thrown: unknown) => void>();
onUncaught((thrown) => {
  const fail = failures.getStore();
  fail?.(thrown);
  return fail !== undefined;
});

const installHint = 'Install voicectl in the folder of the module: Node looks for it there.';

/** Whether a module imports the library from a folder where it is not installed. */
function lacksLibrary(thrown: unknown): boolean {
  if (!(isError(thrown) && 'code' in thrown)) return false;
  return (
    thrown.code === 'ERR_MODULE_NOT_FOUND' && thrown.message.startsWith("Cannot find package 'voicectl'")
  );
}
