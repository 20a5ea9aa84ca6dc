import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { isError, messageOf, VoicectlError } from '../kernel/errors.ts';

export const convertHint =
  'Convert it with: ffmpeg -i INPUT -ar 16000 -ac 1 -c:a pcm_s16le OUTPUT.wav (or: sox INPUT -r 16000 -c 1 -b 16 OUTPUT.wav)';

/** The error for an input that cannot be used: `bad-input`, "Cannot read NAME: REASON". */
export function refusal(name: string, reason: string, hint?: string, cause?: unknown): VoicectlError {
  return new VoicectlError('bad-input', `Cannot read ${name}: ${reason}`, {
    hint,
    cause,
    details: { input: name },
  });
}

/** The system's error codes in plain words. */
const plainReasons: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of its path is not a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ELOOP: 'its symbolic links form a loop',
  ENAMETOOLONG: 'its name is too long',
  ENXIO: 'it is not a file or pipe that can be opened',
  ERR_INVALID_ARG_VALUE: 'its name is not a valid path',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file has reached the largest allowed size',
  EEXIST: 'it already exists',
  EROFS: 'the file system is read-only',
  EPIPE: 'nobody is reading from it any more',
};

/** Codes that mean a wrong input path. Any other code is a failure of the system. */
const wrongPaths = new Set([
  'ENOENT',
  'ENOTDIR',
  'EACCES',
  'EPERM',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENXIO',
  'ERR_INVALID_ARG_VALUE',
]);

/** The system's code of an error, such as ENOENT; undefined if it has none. */
export function systemCode(thrown: unknown): string | undefined {
  if (!isError(thrown) || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** The error for a failed open or read: `bad-input` if the path is wrong, else `input-output`. */
export function readFailure(name: string, thrown: unknown): VoicectlError {
  if (thrown instanceof VoicectlError) return thrown;
  if (wrongPaths.has(systemCode(thrown) ?? '')) return refusal(name, reasonOf(thrown), undefined, thrown);
  return new VoicectlError('input-output', `Cannot read ${name}: ${reasonOf(thrown)}`, {
    cause: thrown,
    details: { input: name },
  });
}

/** The error for a failed create or write: `input-output`, "Cannot write PATH: REASON". */
export function writeFailure(path: string, thrown: unknown): VoicectlError {
  if (thrown instanceof VoicectlError) return thrown;
  const reason = systemCode(thrown) === 'ENOENT' ? missingReason(path, thrown) : reasonOf(thrown);
  return cannotWrite(path, reason, thrown);
}

/** A file or folder that is missing is created: its folder is missing, or takes none, as /proc. */
function missingReason(path: string, thrown: unknown): string {
  const refused = isError(thrown) && 'path' in thrown ? String(thrown.path) : path;
  return existsSync(dirname(refused)) ? 'its folder takes no new files' : 'its folder does not exist';
}

/** The error for an output that cannot be used: `input-output`, "Cannot write PATH: REASON". */
export function cannotWrite(path: string, reason: string, cause?: unknown): VoicectlError {
  return new VoicectlError('input-output', `Cannot write ${path}: ${reason}`, {
    cause,
    details: { output: path },
  });
}

/** Why the system refused, in plain words if possible. */
function reasonOf(thrown: unknown): string {
  const message = messageOf(thrown);
  return plainReasons[systemCode(thrown) ?? ''] ?? message;
}

/** The name of a path in messages: `-` is standard input. */
export function nameOf(path: string): string {
  return path === '-' ? 'standard input' : path;
}
