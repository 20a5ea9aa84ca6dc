import { VoicectlError } from '../../kernel/errors.ts';

/** Far more than any answer of the service needs. */
const maxBodyBytes = 64 * 1024;

/** The body of an HTTP answer, and the error that cut it off. */
export interface ReadBody {
  /** As UTF-8, at most 64 KiB of it. */
  text: string;
  /** `protocol-violation` if it is longer, else the error of reading it. */
  failure: unknown;
}

/** A body that is received. */
export interface BodyParts {
  /** Throws `protocol-violation` where the body is too long. */
  add(chunk: Buffer): void;
  /** What was received so far: at most 64 KiB of it. */
  bytes(): Buffer;
  /** The same as UTF-8. */
  text(): string;
}

/** Collects a body of `host`. */
export function collectBody(host: string): BodyParts {
  const chunks: Buffer[] = [];
  let length = 0;
  const bytes = () => Buffer.concat(chunks).subarray(0, maxBodyBytes);
  return {
    add(chunk) {
      length += chunk.length;
      chunks.push(chunk);
      if (length > maxBodyBytes) throw tooLong(host);
    },
    bytes,
    text: () => new TextDecoder().decode(bytes()),
  };
}

/** Reads as much of a body as arrives. Never throws. */
export async function readBody(body: AsyncIterable<Buffer>, host: string): Promise<ReadBody> {
  const parts = collectBody(host);
  let failure: unknown;
  try {
    for await (const chunk of body) parts.add(chunk);
  } catch (thrown) {
    failure = thrown;
  }
  return { text: parts.text(), failure };
}

function tooLong(host: string): VoicectlError {
  return new VoicectlError('protocol-violation', `${host} answered with more than ${maxBodyBytes} bytes`);
}
