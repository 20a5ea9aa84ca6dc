import { bytesPerSample, channels, sampleRate } from '../protocol/audio-format.ts';
import { groupDigits } from '../protocol/count-text.ts';

/** How samples are stored. A-law and µ-law are the two companded encodings of ITU-T G.711. */
export type SampleEncoding = 'pcm' | 'float' | 'alaw' | 'mulaw';

/** The format of audio before any conversion. */
export interface SampleFormat {
  readonly encoding: SampleEncoding;
  /** Samples per second in each channel. */
  readonly sampleRate: number;
  readonly channels: number;
  readonly bitsPerSample: number;
}

export interface SourceFormat extends SampleFormat {
  /** Whether the samples had to be changed: resampled, mixed to mono or decoded. */
  readonly converted: boolean;
  /** For people, such as "48,000 Hz, 24-bit, stereo". */
  readonly text: string;
}

/** A message and when to send it, in milliseconds from the start of sending. */
export interface TimedMessage {
  readonly atMs: number;
  readonly pcm: Buffer;
}

/** Audio to send, from any origin, converted to 16 kHz s16le mono. */
export interface AudioSource {
  readonly description: SourceFormat;
  /** Undefined for a stream, whose length is unknown until the end. */
  readonly durationMs: number | undefined;
  /**
   * 16 kHz s16le mono in chunks of whole samples, at the pace of the consumer. Ending the loop early closes the file or
   * stream. Rejects with the signal's reason, with `bad-input` if the input is gone, or is read twice although it is not
   * `repeatable`, and with `input-output` if reading fails.
   */
  read(signal?: AbortSignal): AsyncIterable<Buffer>;
  /** Set if its own clock sets the pace: a microphone. */
  readonly isLive?: boolean;
  /** Whether `read` may be called again for the same audio. */
  readonly repeatable: boolean;
  /**
   * Set if the audio has its own messages and timing, such as a recording. They are sent instead of frames at an even pace,
   * and include the final silence.
   */
  readonly messages?: readonly TimedMessage[];
}

/** A source and its name. */
export interface NamedSource {
  source: AudioSource;
  name: string;
}

/** The audio format of the protocol. */
export const wireFormat: SampleFormat = {
  encoding: 'pcm',
  sampleRate,
  channels,
  bitsPerSample: bytesPerSample * 8,
};

/** Whether audio in this format can be sent without conversion. */
function isWireFormat(format: SampleFormat): boolean {
  return (
    format.encoding === wireFormat.encoding &&
    format.sampleRate === wireFormat.sampleRate &&
    format.channels === wireFormat.channels &&
    format.bitsPerSample === wireFormat.bitsPerSample
  );
}

/** A format with a text for people, and whether it has to be converted. */
export function describeFormat(format: SampleFormat): SourceFormat {
  const { encoding, sampleRate: rate, channels: count, bitsPerSample } = format;
  const samples = {
    pcm: `${bitsPerSample}-bit`,
    float: `${bitsPerSample}-bit float`,
    alaw: 'A-law',
    mulaw: 'µ-law',
  };
  const layout = count === 1 ? 'mono' : count === 2 ? 'stereo' : `${count} channels`;
  return {
    encoding,
    sampleRate: rate,
    channels: count,
    bitsPerSample,
    converted: !isWireFormat(format),
    text: `${groupDigits(rate)} Hz, ${samples[encoding]}, ${layout}`,
  };
}
