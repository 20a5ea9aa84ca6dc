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

/** Reads as much of a body as arrives. Never throws. */
export async function readBody(body: AsyncIterable<Buffer>, host: string): Promise<ReadBody> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let failure: unknown;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > maxBodyBytes) throw tooLong(host);
    }
  } catch (thrown) {
    failure = thrown;
  }
  return { text: new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxBodyBytes)), failure };
}

function tooLong(host: string): VoicectlError {
  return new VoicectlError('protocol-violation', `${host} answered with more than ${maxBodyBytes} bytes`);
}
