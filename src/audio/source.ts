/** How samples are stored. A-law and µ-law are the two companded encodings of ITU-T G.711. */
export type SampleEncoding = 'pcm' | 'float' | 'alaw' | 'mulaw';

/** How audio is laid out where it comes from, before any conversion. */
export interface SampleFormat {
  readonly encoding: SampleEncoding;
  /** Samples per second and channel. */
  readonly sampleRate: number;
  readonly channels: number;
  readonly bitsPerSample: number;
}

/** What a source was before it became 16 kHz s16le mono. */
export interface SourceFormat extends SampleFormat {
  /** Whether the samples had to be changed: resampled, mixed to mono or decoded. */
  readonly converted: boolean;
  /** For people, such as "48,000 Hz, 24-bit, stereo". */
  readonly text: string;
}

/** A message of its own, and when it is sent, in milliseconds from the begin of the talk. */
export interface TimedMessage {
  readonly atMs: number;
  readonly pcm: Buffer;
}

/** Audio to send: wherever it came from, it reads as 16 kHz s16le mono. */
export interface AudioSource {
  readonly description: SourceFormat;
  /** Undefined where the length is unknown until the end: a stream. */
  readonly durationMs: number | undefined;
  /**
   * 16 kHz s16le mono, in chunks of any whole number of samples, at the pace of the consumer. Ending the
   * loop early closes the file or stream. Rejects with the signal's reason, with `bad-input` when the input
   * has gone or is read twice and is not `repeatable`, with `input-output` when reading fails.
   */
  read(signal?: AbortSignal): AsyncIterable<Buffer>;
  /** Whether `read` may be called again for the same audio. */
  readonly repeatable: boolean;
  /**
   * Set where the audio has messages and a timing of its own, such as a recording: it is sent like that, in place
   * of frames at an even pace, and the silence at its end is part of it.
   */
  readonly messages?: readonly TimedMessage[];
}

/** A source, and what it is called. */
export interface NamedSource {
  source: AudioSource;
  name: string;
}
