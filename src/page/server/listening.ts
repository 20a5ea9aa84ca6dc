import type { ServerResponse } from 'node:http';
import { cacheControl } from '../../protocol/token-response.ts';
import type { PageHost } from '../../service/control/page-handler.ts';

/** A listener that does not keep up loses audio: this much waits for it, some seconds of both voices. */
const maxUnreadBytes = 256 * 1024;

/**
 * Sends what both voices of a stream say, as they say it: chunks of one byte for the voice (0 the device, 1 the service), two
 * for the length, little-endian, and so many bytes of 16 kHz s16le mono. Ends with the stream.
 */
export function sendVoices(response: ServerResponse, stage: PageHost, stream: number): void {
  response.writeHead(200, {
    'Content-Type': 'application/octet-stream',
    'Cache-Control': cacheControl,
    'X-Content-Type-Options': 'nosniff',
  });
  response.flushHeaders();
  let isOpen = false;
  const stop = stage.observe((opened) => {
    if (opened !== stream) return undefined;
    isOpen = true;
    return {
      message(message) {
        if (!('data' in message) || response.writableLength > maxUnreadBytes) return;
        for (const part of partsOf(message.data))
          response.write(Buffer.concat([header(message.from === 'device' ? 0 : 1, part.length), part]));
      },
      closed: () => void response.end(),
    };
  });
  response.on('close', stop);
  if (!isOpen) response.end();
}

const maxPartBytes = 32_000;

function partsOf(pcm: Buffer): Buffer[] {
  const count = Math.ceil(pcm.length / maxPartBytes);
  return Array.from({ length: count }, (_, at) => pcm.subarray(at * maxPartBytes, (at + 1) * maxPartBytes));
}

function header(voice: number, bytes: number): Buffer {
  return Buffer.from([voice, bytes & 0xff, bytes >> 8]);
}
