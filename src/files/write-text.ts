import { type OutputFileOptions, openOutputFile } from './output-file.ts';

/** Writes text to an output that the user named. Throws `input-output`. */
export async function writeText(path: string, text: string, options: OutputFileOptions = {}): Promise<void> {
  const file = await openOutputFile(path, options);
  try {
    await file.write(Buffer.from(text));
  } finally {
    await file.close();
  }
}
