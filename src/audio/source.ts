/** How samples are stored. A-law and µ-law are the two companded encodings of ITU-T G.711. */
export type SampleEncoding = 'pcm' | 'float' | 'alaw' | 'mulaw';

/** The format of audio before any conversion. */
export interface SampleFormat {
  readonly encoding: SampleEncoding;
  /** Samples per second and channel. */
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

/** A message and the time to send it, in milliseconds from the beginning of the talk. */
export interface TimedMessage {
  readonly atMs: number;
  readonly pcm: Buffer;
}

/** Audio to send, from any origin; it reads as 16 kHz s16le mono. */
export interface AudioSource {
  readonly description: SourceFormat;
  /** Undefined for a stream, whose length is unknown until the end. */
  readonly durationMs: number | undefined;
  /**
   * 16 kHz s16le mono, in chunks of any whole number of samples, at the pace of the consumer. Ending the
   * loop early closes the file or stream. Rejects with the signal's reason, with `bad-input` when the input
   * has gone or is read twice and is not `repeatable`, with `input-output` when reading fails.
   */
  read(signal?: AbortSignal): AsyncIterable<Buffer>;
  /** Set if its own clock sets the pace: a microphone. */
  readonly isLive?: boolean;
  /** Whether `read` may be called again for the same audio. */
  readonly repeatable: boolean;
  /**
   * Set if the audio has its own messages and timing, such as a recording. It is sent with these, in place
   * of frames at an even pace, and includes its final silence.
   */
  readonly messages?: readonly TimedMessage[];
}

/** A source and its name. */
export interface NamedSource {
  source: AudioSource;
  name: string;
}
