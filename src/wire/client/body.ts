import { VoicectlError } from '../../kernel/errors.ts';

/** Far more than any answer of the service needs. */
const maxBodyBytes = 64 * 1024;

/** The body of an HTTP answer, and the error that cut it off. */
export interface ReadBody {
  /** As UTF-8, up to the limit. */
  text: string;
  /** `protocol-violation` if it is longer, else the error of reading it. */
  failure: unknown;
}

/** A body that is received. */
export interface BodyParts {
  /** Throws `protocol-violation` if the body is too long. */
  add(chunk: Buffer): void;
  /** What was received so far, up to the limit. */
  bytes(): Buffer;
  /** The same as UTF-8. */
  text(): string;
}

/** Collects a body of `host`, by default at most 64 KiB of it. */
export function collectBody(host: string, maxBytes = maxBodyBytes): BodyParts {
  const chunks: Buffer[] = [];
  let length = 0;
  const bytes = () => Buffer.concat(chunks).subarray(0, maxBytes);
  return {
    add(chunk) {
      length += chunk.length;
      chunks.push(chunk);
      if (length > maxBytes) throw tooLong(host, maxBytes);
    },
    bytes,
    text: () => new TextDecoder().decode(bytes()),
  };
}

/** Reads as much of a body as arrives. Never throws. */
export async function readBody(
  body: AsyncIterable<Buffer>,
  host: string,
  maxBytes?: number,
): Promise<ReadBody> {
  const parts = collectBody(host, maxBytes);
  let failure: unknown;
  try {
    for await (const chunk of body) parts.add(chunk);
  } catch (thrown) {
    failure = thrown;
  }
  return { text: parts.text(), failure };
}

export function tooLong(host: string, maxBytes: number): VoicectlError {
  const kibibytes = maxBytes / 1024;
  const size = kibibytes < 1024 ? `${kibibytes} KiB` : `${kibibytes / 1024} MiB`;
  return new VoicectlError('protocol-violation', `${host} answered with more than ${size}`);
}
