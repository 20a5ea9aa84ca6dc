import { Readable } from 'node:stream';

/** Standard input, and the signal that ends the wait for it. */
export interface Stdin {
  stdin: Readable;
  signal: AbortSignal;
}

/** For a program that reads files but not our standard input. */
export const noStdin: Stdin = { stdin: Readable.from([]), signal: new AbortController().signal };

/**
 * The text (UTF-8) of a file that the user names, or of standard input for `-`. Throws `bad-input` if it cannot be
 * used, `input-output` if the system fails, or the signal's reason.
 */
export async function readText(path: string, input: Stdin): Promise<string> {
  // Loaded here because most commands read no file.
  const { readAllText } = await import('./read-all.ts');
  return readAllText(path, input);
}

/** The bytes of a file that the user names, or of standard input for `-`. Throws as `readText` does. */
export async function readBytes(path: string, input: Stdin): Promise<Buffer> {
  const { readAllBytes } = await import('./read-all.ts');
  return readAllBytes(path, input);
}
