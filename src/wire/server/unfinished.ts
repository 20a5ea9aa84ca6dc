import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { closeCodes, reasonNotUtf8 } from '../../protocol/close-codes.ts';

/** Maximum bytes of messages that have not arrived whole, over all streams of a process, if none of them may be longer. */
const usuallyUnfinishedBytes = 32 * 1024 * 1024;
/** What each piece of such a message costs besides its bytes: a peer may send it byte by byte. */
const pieceCostBytes = 128;
/** A stream that has less is closed only if no stream has more: any stream is in the middle of a message now and then. */
const ordinaryBytes = 64 * 1024;

/** What reads the frames of a socket, and holds a message until it is whole. It is not in the types of ws. */
interface Receiver extends EventEmitter {
  _opcode: number;
  _buffers: Buffer[];
  _bufferedBytes: number;
  _fragments: Buffer[];
  _messageLength: number;
}

export function receiverOf(socket: WebSocket): Receiver {
  return (socket as unknown as { _receiver: Receiver })._receiver;
}

/** RFC 6455, section 5.2. */
const closeOpcode = 8;

/**
 * How the peer violated the WebSocket protocol, for an error of its socket. ws has the same message for an invalid text and an
 * invalid close reason, and ends both with 1007.
 */
export function violationOf(socket: WebSocket, { message, code }: NodeJS.ErrnoException): string {
  const isReason = code === 'WS_ERR_INVALID_UTF8' && receiverOf(socket)._opcode === closeOpcode;
  return isReason ? reasonNotUtf8 : message;
}

/** The code with which ws ends a stream because of what it received. A limit of ours is no violation. */
export function violationCode({ code }: NodeJS.ErrnoException): number {
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return closeCodes.messageTooBig;
  if (code === 'WS_ERR_TOO_MANY_BUFFERED_PARTS') return closeCodes.policyViolation;
  return code === 'WS_ERR_INVALID_UTF8' ? closeCodes.invalidData : closeCodes.protocolError;
}

interface Unfinished {
  bytes: number;
  /** Ends the stream, and lets go of what is held. */
  close(): void;
}

/** Bounds the bytes of unfinished messages over all streams: beyond it the newest stream is closed. */
export class UnfinishedMessages {
  /** In the order in which they opened. */
  private readonly streams = new Set<Unfinished>();
  private readonly maxBytes: number;
  private bytes = 0;
  private closed = 0;

  /** `maxMessageBytes`: the longest message that a stream may send, which has room with the cost of its pieces. */
  constructor(maxMessageBytes = 0) {
    this.maxBytes = Math.max(usuallyUnfinishedBytes, 2 * maxMessageBytes);
  }

  /** Counts what `socket` holds until it closes. `close` sends the close frame. */
  watch(socket: WebSocket, transport: Socket, close: (why: string) => void): void {
    const receiver = receiverOf(socket);
    const one: Unfinished = {
      bytes: 0,
      close: () => {
        forget();
        this.closed += 1;
        const mebibytes = Math.floor(this.maxBytes / 1024 / 1024);
        close(
          `the unfinished messages of all streams exceed ${mebibytes} MiB (streams closed for this: ${this.closed})`,
        );
        // Later bytes are dropped.
        transport.removeAllListeners('data').pause();
        letGo();
      },
    };
    const letGo = () => Object.assign(receiver, { _buffers: [], _bufferedBytes: 0, _fragments: [] });
    // After the listener of ws.
    const count = () => {
      const bytes = heldBy(receiver);
      if (bytes === one.bytes) return;
      this.bytes += bytes - one.bytes;
      one.bytes = bytes;
      if (this.bytes > this.maxBytes) this.newest().close();
    };
    const forget = () => {
      transport.off('data', count);
      this.streams.delete(one);
      this.bytes -= one.bytes;
      one.bytes = 0;
    };
    this.streams.add(one);
    transport.on('data', count);
    socket.once('close', () => {
      forget();
      // The socket of an ended stream may stay in memory for longer.
      letGo();
    });
  }

  private newest(): Unfinished {
    const newestFirst = [...this.streams].reverse();
    return (
      newestFirst.find(({ bytes }) => bytes > ordinaryBytes) ??
      (newestFirst.find(({ bytes }) => bytes > 0) as Unfinished)
    );
  }
}

function heldBy({ _buffers, _bufferedBytes, _fragments, _messageLength }: Receiver): number {
  const pieces = _buffers.length + _fragments.length;
  return pieces === 0 ? 0 : _bufferedBytes + _messageLength + pieces * pieceCostBytes;
}
