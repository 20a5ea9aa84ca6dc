import type { Socket } from 'node:net';
import { maxTokenBytes } from '../../protocol/token-response.ts';
import type { StreamConnection } from './connection.ts';

/** Room for the frame headers of the longest token and of the messages that may be held. */
const framingBytes = 64 * 1024;
/** Maximum bytes from all connections without an accepted token together: many small amounts could fill the memory too. */
const maxTogether = 8 * 1024 * 1024;

/** Bounds the bytes received before a token is accepted, including incomplete messages. */
export interface EarlyBytes {
  /** Counts the bytes of a connection until the result is called or the connection ends. */
  watch(
    connection: Pick<StreamConnection, 'socket' | 'close' | 'stopReading'>,
    transport: Socket,
  ): () => void;
}

export function createEarlyBytes(earlyAudioBytes: number): EarlyBytes {
  const maxAlone = earlyAudioBytes + maxTokenBytes + framingBytes;
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
