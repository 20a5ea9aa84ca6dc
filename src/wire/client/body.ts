import { VoicectlError } from '../../kernel/errors.ts';

/** Far more than any answer of the service needs. */
const maxBodyBytes = 64 * 1024;

/**
 * Reads the body of an HTTP answer as JSON; undefined where it is not JSON. Throws `protocol-violation` where it is
 * longer than 64 KiB, and whatever reading it throws.
 */
export async function readJsonBody(body: AsyncIterable<Buffer>, host: string): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes)
      throw new VoicectlError('protocol-violation', `${host} answered with more than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return parseJson(new TextDecoder().decode(Buffer.concat(chunks)));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
