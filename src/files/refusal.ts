import { VoicectlError } from '../kernel/errors.ts';

export const convertHint =
  'Convert it with: ffmpeg -i INPUT -ar 16000 -ac 1 -c:a pcm_s16le OUTPUT.wav (or: sox INPUT -r 16000 -c 1 -b 16 OUTPUT.wav)';

/** The error for audio that cannot be used: `bad-input`, "Cannot read NAME: REASON". */
export function refusal(name: string, reason: string, hint?: string, cause?: unknown): VoicectlError {
  return new VoicectlError('bad-input', `Cannot read ${name}: ${reason}`, {
    hint,
    cause,
    details: { input: name },
  });
}

const plainReasons: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of its path is not a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ELOOP: 'its symbolic links go in circles',
  ENAMETOOLONG: 'its name is too long',
  ENXIO: 'it is not a file or pipe that can be opened',
  ERR_INVALID_ARG_VALUE: 'its name is not a valid path',
};

/** The system's error code of what was thrown, such as ENOENT; undefined where there is none. */
export function systemCode(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** What opening or reading an input threw: `bad-input` where the path is at fault, else `input-output`. */
export function readFailure(name: string, thrown: unknown): VoicectlError {
  if (thrown instanceof VoicectlError) return thrown;
  const reason = plainReasons[systemCode(thrown) ?? ''];
  if (reason !== undefined) return refusal(name, reason, undefined, thrown);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new VoicectlError('input-output', `Cannot read ${name}: ${message}`, {
    cause: thrown,
    details: { input: name },
  });
}
