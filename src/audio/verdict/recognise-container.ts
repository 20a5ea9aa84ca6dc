import { recogniseForeignFile } from '../foreign-file.ts';
import { isWavForm } from '../wav/wav-header.ts';

/** The kind of a stream whose first message does not begin with samples. */
export type Container = 'riff-header' | 'compressed' | 'base64' | 'json';

/** Fewer characters may be samples by chance. */
const fewestCharacters = 32;

/** The kind of the first binary message of a stream, if it is not samples. */
export function recogniseContainer(message: Buffer): Container | undefined {
  if (isWavForm(message.toString('latin1', 0, 4))) return 'riff-header';
  if (recogniseForeignFile(message)?.isCompressed) return 'compressed';
  return recogniseText(message.toString('latin1'));
}

/** The kind of audio that is sent as text; undefined if it is not audio. */
export function recogniseText(text: string): 'base64' | 'json' | undefined {
  if (text.length < fewestCharacters) return undefined;
  const isVaried = [/[A-Z]/, /[a-z]/, /\d/].every((kind) => kind.test(text));
  if (isVaried && /^[\w+/=\s-]+$/.test(text)) return 'base64';
  return /^\s*\{/.test(text) && /"[\w+/=-]{32,}"/.test(text) ? 'json' : undefined;
}
