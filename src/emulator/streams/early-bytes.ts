import type { Socket } from 'node:net';
import { bytesForMs, defaultFrameMs } from '../../protocol/audio-format.ts';
import { maxTokenBytes } from '../../protocol/token-response.ts';
import type { StreamConnection } from './connection.ts';

/** Room for the frame header of each message that may be held. */
const framingBytes = 16;
/**
 * Maximum bytes from all connections without an accepted token together, if the dialect does not allow one of them more: many
 * small amounts could fill the memory too.
 */
const usuallyTogether = 8 * 1024 * 1024;

/** Maximum number of messages held, besides the bound on their bytes: even an empty message costs memory. */
export function maxHeldMessages(earlyAudioBytes: number): number {
  return Math.max(4_096, Math.ceil(earlyAudioBytes / bytesForMs(defaultFrameMs)));
}

/** Bounds the bytes received before a token is accepted, including incomplete messages. */
export interface EarlyBytes {
  /** Counts the bytes of a connection until the result is called or the connection ends. */
  watch(
    connection: Pick<StreamConnection, 'socket' | 'close' | 'stopReading'>,
    transport: Socket,
  ): () => void;
}

export function createEarlyBytes(earlyAudioBytes: number): EarlyBytes {
  const maxAlone = earlyAudioBytes + maxTokenBytes + framingBytes * maxHeldMessages(earlyAudioBytes);
  const maxTogether = Math.max(usuallyTogether, maxAlone);
  let together = 0;
  return {
    watch(connection, transport) {
      let alone = 0;
      const count = ({ length }: Buffer) => {
        alone += length;
        together += length;
        if (alone <= maxAlone && together <= maxTogether) return;
        transport.off('data', count);
        const why =
          alone > maxAlone
            ? `${alone} bytes arrived before the token was accepted`
            : 'all connections without a token together sent too much';
        connection.close('earlyAudioOverflow', why);
        // Unread, later bytes cost nothing until the connection is cut.
        connection.stopReading();
      };
      const stop = () => {
        transport.off('data', count);
        together -= alone;
        alone = 0;
      };
      transport.on('data', count);
      connection.socket.once('close', stop);
      return stop;
    },
  };
}
