import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { lookAt } from './output-file.ts';
import { cannotWrite, writeFailure } from './refusal.ts';

/** Throws `input-output` if a file cannot be written, before all is done that it is for. */
export async function requireWritable(path: string): Promise<void> {
  const there = await lookAt(path);
  if (there?.isDirectory()) throw cannotWrite(path, 'it is a folder');
  await access(there === undefined ? dirname(path) : path, constants.W_OK).catch((thrown) => {
    throw writeFailure(path, thrown);
  });
}
