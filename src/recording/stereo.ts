import { createBlockJoiner } from '../audio/whole-samples.ts';
import { bytesForMs, bytesPerSample } from '../protocol/audio-format.ts';
import type { Direction } from './format.ts';
import { createTrack, slackMs } from './track.ts';

/** Stereo PCM, or how many bytes of silence. */
export type StereoPart = Buffer | number;

/** Both voices on one time axis: the client in the left channel, the AI in the right one. Pure. */
export interface Stereo {
  /** Takes a binary message at time `t`, in milliseconds. Returns what is complete by now. */
  add(direction: Direction, t: number, pcm: Buffer): StereoPart[];
  /** Makes both voices end together, at `endMs` or later. Returns the rest. */
  end(endMs: number): StereoPart[];
}

const directions = ['out', 'in'] as const;

/** Holds one voice back until the other has reached the same time. */
export function createStereo(): Stereo {
  const tracks = { out: createTrack(slackMs.out), in: createTrack(slackMs.in) };
  const waiting = { out: createPieces(), in: createPieces() };

  /** Silence that was returned before the message that it precedes. */
  const ahead = { out: 0, in: 0 };
  const take = () => {
    const parts: StereoPart[] = [];
    for (;;) {
      const bytes = Math.min(waiting.out.frontBytes, waiting.in.frontBytes);
      if (bytes === 0) return parts;
      parts.push(interleave(waiting.out.take(bytes), waiting.in.take(bytes)));
    }
  };
  return {
    add(direction, t, pcm) {
      const { silenceBytes } = tracks[direction].place(t, pcm.length);
      waiting[direction].push(silenceBytes - ahead[direction]);
      waiting[direction].push(pcm);
      ahead[direction] = 0;
      const other = direction === 'out' ? 'in' : 'out';
      const missing = bytesForMs(t) - tracks[other].endBytes;
      // A message that still comes is later than the slack allows and gets its own time, so the other voice is silent until now.
      if (missing > bytesForMs(slackMs[other])) {
        const silent = missing - (missing % bytesPerSample);
        waiting[other].push(silent - ahead[other]);
        ahead[other] = silent;
      }
      return take();
    },
    end(endMs) {
      const longest = Math.max(bytesForMs(endMs), tracks.out.endBytes, tracks.in.endBytes);
      for (const direction of directions) {
        waiting[direction].push(
          tracks[direction].fill(longest + (longest % bytesPerSample)) - ahead[direction],
        );
      }
      return take();
    },
  };
}

/** One voice that waits for the other. */
interface Pieces {
  /** Takes PCM, or how many bytes of silence. Half a sample is carried to the next piece. */
  push(piece: Buffer | number): void;
  /** How many bytes the first piece has: whole samples. */
  readonly frontBytes: number;
  /** Takes so many bytes of the first piece. */
  take(bytes: number): Buffer | number;
}

function createPieces(): Pieces {
  const joiner = createBlockJoiner();
  const pieces: (Buffer | number)[] = [];
  const lengthOf = (piece: Buffer | number = 0) => (typeof piece === 'number' ? piece : piece.length);
  return {
    push(piece) {
      // Silence after half a sample completes it.
      const isOdd = typeof piece === 'number' && piece % bytesPerSample !== 0;
      const whole = isOdd
        ? joiner.push(Buffer.alloc(1))
        : typeof piece === 'number'
          ? undefined
          : joiner.push(piece);
      if (whole !== undefined && whole.length > 0) pieces.push(whole);
      if (typeof piece === 'number' && piece >= bytesPerSample) pieces.push(piece - (piece % bytesPerSample));
    },
    get frontBytes() {
      return lengthOf(pieces[0]);
    },
    take(bytes) {
      const first = pieces.shift() ?? 0;
      const isWhole = lengthOf(first) === bytes;
      if (typeof first === 'number') {
        if (!isWhole) pieces.unshift(first - bytes);
        return bytes;
      }
      if (!isWhole) pieces.unshift(first.subarray(bytes));
      return first.subarray(0, bytes);
    },
  };
}

/** Both are as long, as PCM or as bytes of silence. */
function interleave(left: Buffer | number, right: Buffer | number): StereoPart {
  if (typeof left === 'number' && typeof right === 'number') return left + right;
  const bytes = typeof left === 'number' ? left : left.length;
  const stereo = Buffer.alloc(bytes * 2);
  for (const [channel, voice] of [left, right].entries()) {
    if (typeof voice === 'number') continue;
    for (let at = 0; at < bytes; at += bytesPerSample) {
      stereo.writeInt16LE(voice.readInt16LE(at), at * 2 + channel * bytesPerSample);
    }
  }
  return stereo;
}
