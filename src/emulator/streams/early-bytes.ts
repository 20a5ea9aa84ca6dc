import type { Socket } from 'node:net';
import { maxTokenBytes } from '../../protocol/token-response.ts';
import type { Connection } from './connection.ts';

/** What the frames around the longest token, and around the messages that may be held, can take. */
const framingBytes = 64 * 1024;
/** What all connections without an accepted token may have sent together: each alone stays far below its own bound. */
const maxTogether = 8 * 1024 * 1024;

/** Bounds what is received before a token is accepted, whether or not it has become a message. */
export interface EarlyBytes {
  /** Counts what a connection sends, until the result is called or the connection is gone. */
  watch(connection: Pick<Connection, 'socket' | 'close' | 'stopReading'>, transport: Socket): () => void;
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
            ? `${alone} bytes came before the token was accepted`
            : 'the connections without a token have sent too much together';
        connection.close('earlyAudioOverflow', why);
        // Unread, what it still sends costs nothing until the connection is cut.
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
