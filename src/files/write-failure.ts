import { VoicectlError } from '../kernel/errors.ts';
import { systemCode } from './refusal.ts';

const plainReasons: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file has reached the largest size allowed',
  EEXIST: 'it is there already',
  EROFS: 'the file system is read-only',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of its path is not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EPIPE: 'nobody reads from it any more',
  ENXIO: 'it is not a file or pipe that can be opened',
};

/** What creating or writing an output threw: `input-output`, "Cannot write PATH: REASON". */
export function writeFailure(path: string, thrown: unknown): VoicectlError {
  if (thrown instanceof VoicectlError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const reason = plainReasons[systemCode(thrown) ?? ''] ?? message;
  return new VoicectlError('input-output', `Cannot write ${path}: ${reason}`, {
    cause: thrown,
    details: { output: path },
  });
}
