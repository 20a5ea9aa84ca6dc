import { measureLevel } from '../audio/level.ts';
import { wireFormat } from '../audio/source.ts';
import { makeWavHeader } from '../audio/wav/wav-header.ts';
import { checkOptions } from '../files/check-options.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { JoinedBytes } from '../kernel/joined-bytes.ts';
import { msForBytes } from '../protocol/audio-format.ts';
import { type StreamSelector, streamsSchema } from '../protocol/control.ts';
import type { EmulatorEvents } from '../service/events.ts';
import type { Tap } from '../wire/tap.ts';

/**
 * What a device sent: its binary messages in order, except a token, taken as 16 kHz s16le mono. Audio that was sent before
 * the token is included.
 */
export interface DeviceAudio {
  pcm: Buffer;
  /** The same as a WAV file. */
  wav: Buffer;
  /** Length of the audio, without pauses between messages. */
  durationMs: number;
  /** −100 for silence. */
  rmsDbfs: number;
  peakDbfs: number;
  /** Bytes that were not kept, because the stream already had 10 minutes. */
  droppedBytes: number;
}

/** A stream, open or ended. */
export interface KeptStream {
  /** Its number, as in events and in `control`. */
  readonly stream: number;
  /** Undefined before its token was accepted. */
  readonly device: string | undefined;
  /** What the device has sent so far. Throws `usage` if it is no longer kept. */
  audio(): DeviceAudio;
}

export interface KeptAudio {
  /** Keeps the audio of one more stream. */
  tap(stream: number): Tap;
  /** The newest stream, open or ended, that matches the selector. Throws `usage` if there is none. */
  find(selector: StreamSelector): KeptStream;
  clear(): void;
}

/** Ten minutes. What comes after them is dropped and counted. */
const maxBytesPerStream = 600 * 32_000;
/** All streams together: beyond it the oldest streams are dropped. */
const maxBytes = 4 * maxBytesPerStream;

const maxStreams = 1_000;

interface Kept {
  device: string | undefined;
  /** Joined, because each buffer of a short message takes far more memory than its audio. */
  audio: JoinedBytes;
  droppedBytes: number;
}

/** Keeps what devices send, within bounds. */
export function createKeptAudio(events: EmulatorEvents): KeptAudio {
  const streams = new Map<number, Kept>();
  let bytes = 0;

  events.subscribe((event) => {
    if (event.type !== 'stream-authorised') return;
    const kept = streams.get(event.stream);
    if (kept !== undefined) kept.device = event.device;
  });

  const makeRoom = () => {
    for (const [stream, kept] of streams) {
      if (bytes <= maxBytes && streams.size <= maxStreams) return;
      streams.delete(stream);
      bytes -= kept.audio.length;
    }
  };
  const keep = (stream: number, pcm: Buffer) => {
    const kept = streams.get(stream);
    if (kept === undefined || pcm.length === 0) return;
    if (kept.audio.length + pcm.length > maxBytesPerStream) {
      kept.droppedBytes += pcm.length;
      return;
    }
    kept.audio.add(pcm);
    bytes += pcm.length;
    makeRoom();
  };
  const read = (stream: number): DeviceAudio => {
    const kept = streams.get(stream);
    if (kept === undefined) throw noLongerKept(stream);
    return describe(kept);
  };

  return {
    tap(stream) {
      streams.set(stream, { device: undefined, audio: new JoinedBytes(), droppedBytes: 0 });
      makeRoom();
      return {
        message(message) {
          if (message.from === 'device' && 'data' in message) keep(stream, message.data);
        },
      };
    },
    find(selector) {
      checkOptions(selector, { of: 'stream', schemas: streamsSchema.shape });
      const { stream, device } = selector;
      const isMeant = (id: number, kept: Kept) =>
        id === (stream ?? id) && kept.device === (device ?? kept.device);
      const found = [...streams].findLast(([id, kept]) => isMeant(id, kept));
      if (found === undefined) throw noSuchStream({ stream, device });
      const [id, kept] = found;
      return { stream: id, device: kept.device, audio: () => read(id) };
    },
    clear() {
      streams.clear();
      bytes = 0;
    },
  };
}

function noLongerKept(stream: number): VoicectlError {
  return new VoicectlError('usage', `The audio of stream ${stream} is no longer kept`, {
    hint: `At most ${maxBytes} bytes are kept, and nothing from before a reset.`,
  });
}

function noSuchStream({ stream, device }: StreamSelector): VoicectlError {
  const of = device === undefined ? '' : ` of ${device}`;
  return new VoicectlError('usage', `There is no stream${stream === undefined ? '' : ` ${stream}`}${of}`, {
    hint: "Wait for it: await emulator.waitFor('stream-authorised').",
  });
}

function describe({ audio, droppedBytes }: Kept): DeviceAudio {
  const pcm = audio.copy();
  const { rmsDbfs, peakDbfs } = measureLevel(pcm);
  return {
    pcm,
    wav: Buffer.concat([makeWavHeader(wireFormat, pcm.length), pcm]),
    durationMs: msForBytes(pcm.length),
    rmsDbfs,
    peakDbfs,
    droppedBytes,
  };
}
