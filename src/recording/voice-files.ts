import { type FileHandle, open } from 'node:fs/promises';
import { createReceivedTrack, maxLatenessMs } from '../audio/dialogue/listener.ts';
import type { WavFile } from '../audio/wav/wav-file.ts';
import { wavHeaderBytes } from '../audio/wav/wav-header.ts';
import { bytesForMs, bytesPerSample } from '../protocol/audio-format.ts';
import type { Direction } from './format.ts';
import { createTrack } from './track.ts';

/**
 * Both voices on one time axis: each in a file of its own, and both in a stereo file, the user left, the AI right. The
 * stereo file has what a listener heard; the AI's file also has what an interruption dropped.
 */
export interface VoiceFiles {
  /** Takes a binary message at time `t`, in milliseconds; its bytes must not change. Returns its offset in its file's data. */
  add(direction: Direction, t: number, pcm: Buffer): number;
  /** The service cancels AI audio that was not yet heard at time `t`. */
  interrupted(t: number): void;
  /** Ends all files at `endMs`, or later if there is more audio. The AI's file also has what was dropped. */
  end(endMs: number): void;
  /** Writes what was taken so far. Call it again only when it has finished. Throws what the files throw. */
  write(): Promise<void>;
  /** Closes all files, and throws the first error. */
  close(): Promise<void>;
}

const directions = ['out', 'in'] as const;
/** How much is read and interleaved at a time. */
const chunkBytes = 64 * 1024;
/** The stereo file grows by at least this much, while the voices go on. */
const stepBytes = bytesForMs(100);

/**
 * The stereo file is made from the two others: one voice may be many minutes ahead of the other, and is not held in memory.
 * Both must be files that can be read.
 */
export function createVoiceFiles(files: { out: WavFile; in: WavFile; both: WavFile }): VoiceFiles {
  const tracks = { out: createTrack(maxLatenessMs.out), in: createTrack(maxLatenessMs.in) };
  const heard = createHeardParts();
  let waiting: Record<Direction, (Buffer | number)[]> = { out: [], in: [] };
  const sources: Partial<Record<Direction, FileHandle>> = {};
  let interleavedBytes = 0;
  let hasEnded = false;

  const readVoice = async (direction: Direction, at: number, into: Buffer): Promise<Buffer> => {
    sources[direction] ??= await open(files[direction].path, 'r');
    const { bytesRead } = await sources[direction].read(into, 0, into.length, wavHeaderBytes + at);
    return into.fill(0, bytesRead);
  };
  const interleaveTo = async (end: number) => {
    if (end - interleavedBytes < (hasEnded ? bytesPerSample : stepBytes)) return;
    const mostBytes = Math.min(chunkBytes, end - interleavedBytes);
    const [left, right, stereo] = [
      Buffer.alloc(mostBytes),
      Buffer.alloc(mostBytes),
      Buffer.alloc(2 * mostBytes),
    ];
    while (interleavedBytes < end) {
      const bytes = Math.min(mostBytes, end - interleavedBytes);
      await readVoice('out', interleavedBytes, left.subarray(0, bytes));
      right.fill(0, 0, bytes);
      for (const { from, fileAt, length } of heard.spansIn(interleavedBytes, interleavedBytes + bytes))
        await readVoice('in', fileAt, right.subarray(from, from + length));
      interleave(left, right, stereo);
      await files.both.write(stereo.subarray(0, 2 * bytes));
      interleavedBytes += bytes;
    }
  };
  return {
    add(direction, t, pcm) {
      const { at, silenceBytes } = tracks[direction].place(t, pcm.length);
      waiting[direction].push(silenceBytes, pcm);
      if (direction === 'in') heard.add(t, at, pcm.length);
      else heard.rest(t);
      const other = direction === 'out' ? 'in' : 'out';
      waiting[other].push(tracks[other].rest(t));
      return at;
    },
    interrupted: heard.interrupted,
    end(endMs) {
      hasEnded = true;
      // A WAV has whole samples: half a sample at the end is completed.
      const whole = (bytes: number) => bytes + (bytes % bytesPerSample);
      const endBytes = whole(Math.max(bytesForMs(endMs), tracks.out.endBytes, heard.endBytes));
      waiting.out.push(tracks.out.fill(endBytes));
      waiting.in.push(tracks.in.fill(Math.max(endBytes, whole(tracks.in.endBytes))));
    },
    async write() {
      const batch = waiting;
      waiting = { out: [], in: [] };
      const known = hasEnded ? tracks.out.endBytes : Math.min(tracks.out.endBytes, heard.certainBytes);
      for (const direction of directions) await writeParts(files[direction], batch[direction]);
      await interleaveTo(known - (known % bytesPerSample));
    },
    async close() {
      const closings = [files.out, files.in, files.both, ...Object.values(sources)].map((file) =>
        file.close(),
      );
      for (const closing of await Promise.allSettled(closings))
        if (closing.status === 'rejected') throw closing.reason;
    },
  };
}

/** A part of the AI's file, and where it is heard. */
interface HeardPart {
  heardAt: number;
  fileAt: number;
  bytes: number;
}

/** Where the parts of the AI's file are heard: in order, each once, and without what an interruption drops. */
function createHeardParts() {
  const track = createReceivedTrack();
  const slackBytes = bytesForMs(maxLatenessMs.in);
  const parts: HeardPart[] = [];
  let now = 0;
  /** Where the first byte of a split sample is: it is heard with the second one. */
  let halfAt: number | undefined;
  const pass = (t: number) => {
    now = Math.max(now, t);
  };
  const keep = (part: HeardPart) => {
    const last = parts.at(-1);
    const goesOn =
      last !== undefined &&
      last.heardAt + last.bytes === part.heardAt &&
      last.fileAt + last.bytes === part.fileAt;
    if (goesOn) last.bytes += part.bytes;
    else if (part.bytes > 0) parts.push(part);
  };
  return {
    /** Nothing has come by `t`. */
    rest: pass,
    /** Up to here nothing can change any more. */
    get certainBytes() {
      const passedBytes = bytesForMs(now);
      return passedBytes - track.endBytes > slackBytes ? passedBytes : Math.min(passedBytes, track.endBytes);
    },
    /** Where audible audio ends. */
    get endBytes() {
      return track.endBytes;
    },
    add(t: number, fileAt: number, bytes: number) {
      pass(t);
      const carried = halfAt === undefined ? 0 : 1;
      const odd = (carried + bytes) % bytesPerSample;
      const whole = carried + bytes - odd;
      if (whole > 0) {
        const heardAt = track.place(now, whole);
        if (halfAt !== undefined) keep({ heardAt, fileAt: halfAt, bytes: carried });
        keep({ heardAt: heardAt + carried, fileAt, bytes: whole - carried });
        halfAt = undefined;
      }
      if (odd > 0) halfAt ??= fileAt + bytes - odd;
    },
    interrupted(t: number) {
      pass(t);
      const at = track.drop(now);
      if (at === undefined) return;
      while ((parts.at(-1)?.heardAt ?? -1) >= at) parts.pop();
      const last = parts.at(-1);
      if (last !== undefined) last.bytes = Math.min(last.bytes, at - last.heardAt);
    },
    /** The parts heard between two bytes of the time axis, each with its place in that span. Forgets everything before. */
    spansIn(from: number, to: number): { from: number; fileAt: number; length: number }[] {
      while (parts[0] !== undefined && parts[0].heardAt + parts[0].bytes <= from && parts.length > 1)
        parts.shift();
      return parts.flatMap(({ heardAt, fileAt, bytes }) => {
        const [start, end] = [Math.max(from, heardAt), Math.min(to, heardAt + bytes)];
        return start < end
          ? [{ from: start - from, fileAt: fileAt + start - heardAt, length: end - start }]
          : [];
      });
    },
  };
}

const silence = Buffer.alloc(bytesForMs(1_000));

/** Writes PCM, and silence that is given as a number of bytes. */
async function writeParts(file: WavFile, parts: readonly (Buffer | number)[]): Promise<void> {
  let pcm: Buffer[] = [];
  let bytes = 0;
  const flush = async () => {
    const joined = pcm.length === 1 ? pcm[0] : Buffer.concat(pcm);
    pcm = [];
    bytes = 0;
    if (joined !== undefined && joined.length > 0) await file.write(joined);
  };
  for (const part of parts) {
    if (typeof part !== 'number') {
      if (bytes + part.length > chunkBytes) await flush();
      pcm.push(part);
      bytes += part.length;
    } else if (part > 0) {
      await flush();
      for (let left = part; left > 0; left -= silence.length)
        await file.write(silence.subarray(0, Math.min(left, silence.length)));
    }
  }
  await flush();
}

/** Moves whole samples unchanged, so that the byte order does not matter. */
function interleave(left: Buffer, right: Buffer, stereo: Buffer): void {
  const [ours, theirs, both] = [samplesOf(left), samplesOf(right), samplesOf(stereo)];
  for (let at = 0; at < ours.length; at += 1) {
    both[2 * at] = ours[at] ?? 0;
    both[2 * at + 1] = theirs[at] ?? 0;
  }
}

/** A view of the same memory, which begins at an even address. */
const samplesOf = ({ buffer, byteOffset, length }: Buffer) =>
  new Uint16Array(buffer, byteOffset, length / bytesPerSample);
