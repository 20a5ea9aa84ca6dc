import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { noStdin, readText } from '../files/read-text.ts';
import { recordingFiles } from '../files/recording-files.ts';
import { isRecord } from '../protocol/error-body.ts';
import type { PathUse } from './option.ts';

/** A file that a command line names. */
export interface NamedFile {
  /** What a refusal calls it: its flag, or its argument. */
  label: string;
  path: string;
  use: PathUse;
}

/** A file that would be written over another one, with the label of the other one. */
export interface Overwrite<File extends NamedFile> {
  file: File;
  other: string;
}

/**
 * The outputs that are also an input, or another output. Links are followed: two names of one file on the disk are the
 * same file.
 */
export async function findOverwrites<File extends NamedFile>(
  files: readonly File[],
): Promise<Overwrite<File>[]> {
  const outputs = await identify(files.filter(({ use }) => use === 'written'));
  if (outputs.length === 0) return [];
  const inputs = files.filter(({ use }) => use === 'read' || use === 'script');
  const within = await Promise.all(inputs.flatMap((input) => [soundsOf(input), recordedIn(input)]));
  const known = await identify([...inputs, ...within.flat()]);
  return outputs.flatMap(({ file, id }, index) => {
    const other = [...known, ...outputs.slice(0, index)].find((one) => one.id === id);
    return other === undefined ? [] : [{ file, other: other.file.label }];
  });
}

function identify<File extends NamedFile>(files: readonly File[]): Promise<{ file: File; id: string }[]> {
  return Promise.all(files.map(async (file) => ({ file, id: await identityOf(file.path) })));
}

/** What all names of a file on the disk have in common. What cannot be overwritten has only its path. */
async function identityOf(path: string): Promise<string> {
  const there = await stat(path, { bigint: true }).catch(() => undefined);
  return there?.isFile() ? `${there.dev}:${there.ino}` : resolve(path);
}

/** The files of a recording, if the input is its folder. */
async function recordedIn({ label, path }: NamedFile): Promise<NamedFile[]> {
  const there = await stat(path).catch(() => undefined);
  if (there?.isDirectory() !== true) return [];
  return Object.values(recordingFiles).map((name) => ({
    label: `${name} of ${label}`,
    path: join(path, name),
    use: 'read',
  }));
}

/** The sounds that a conversation or a scenario says. None if it cannot be read: its command reports that. */
export async function soundsOf({ label, path, use }: NamedFile): Promise<NamedFile[]> {
  if (use !== 'script') return [];
  try {
    // A pipe can be read only once.
    if (!(await stat(path)).isFile()) return [];
    const { openYaml } = await import('../files/yaml-document.ts');
    const sounds = spokenIn(openYaml(await readText(path, noStdin)).document.toJS());
    return sounds.map((sound) => ({
      label: `a sound of ${label}`,
      path: resolve(dirname(path), sound),
      use: 'read',
    }));
  } catch {
    return [];
  }
}

function spokenIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(spokenIn);
  if (!isRecord(value)) return [];
  const { say, ...rest } = value;
  const sound = isRecord(say) ? say.file : say;
  return [...(typeof sound === 'string' ? [sound] : []), ...spokenIn(Object.values(rest))];
}
