import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { LatestLevel } from '../../audio/level.ts';
import type { StreamTotals } from '../../service/events.ts';
import type { BatchedSocket } from '../../wire/server/batched-socket.ts';
import type { EndingOptions } from './ending.ts';
import type { SentWatch } from './tap-stream.ts';

/** Maximum bytes that wait in a socket whose peer does not read. Beyond it the stream is closed, then cut. */
const maxUnsentBytes = 1024 * 1024;

export interface AudioOutOptions
  extends Pick<EndingOptions, 'socket' | 'transport' | 'batched' | 'totals' | 'clock'> {
  headerOf: (length: number) => Buffer;
  /** Called when the peer does not read. */
  onSlowReader: () => void;
  /** Whether this side, or a network that it simulates, holds back what is sent. */
  isHeldBack: () => boolean;
  /** Observes what is sent. */
  watch: Pick<SentWatch, 'audio'> | undefined;
}

/** Sends audio on a connection. A class, because every frame passes it: see ARCHITECTURE.md. */
export class AudioOut {
  /** Level of the sent audio. */
  readonly level: LatestLevel;
  private isOpen = true;
  private readonly socket: WebSocket;
  private readonly transport: Socket;
  private readonly batched: BatchedSocket;
  private readonly headerOf: (length: number) => Buffer;
  private readonly totals: StreamTotals;
  private readonly onSlowReader: () => void;
  private readonly isHeldBack: () => boolean;
  private wasHeldBack = false;
  /** Observes what is sent. */
  watch: Pick<SentWatch, 'audio'> | undefined;

  constructor(options: AudioOutOptions) {
    this.level = new LatestLevel(options.clock);
    this.socket = options.socket;
    this.transport = options.transport;
    this.batched = options.batched;
    this.headerOf = options.headerOf;
    this.totals = options.totals;
    this.onSlowReader = options.onSlowReader;
    this.isHeldBack = options.isHeldBack;
    this.watch = options.watch;
  }

  /** Whether anything may be sent, audio or text. Reports a peer that does not read. */
  maySend(): boolean {
    if (!this.isOpen || this.socket.readyState !== this.socket.OPEN) return false;
    const isOurs = this.isBacklogOurs();
    if (this.transport.writableLength <= maxUnsentBytes) return true;
    if (!isOurs) this.onSlowReader();
    return false;
  }

  /** Whether what waits was held back here, and has not left yet: until then it does not tell whether the peer reads. */
  isBacklogOurs(): boolean {
    const { transport } = this;
    if (this.isHeldBack()) this.wasHeldBack = true;
    else if (transport.writableLength <= transport.writableHighWaterMark) this.wasHeldBack = false;
    return this.wasHeldBack;
  }

  /** Sends one binary message. */
  send(pcm: Buffer): void {
    if (!this.maySend()) return;
    this.batched.write(this.headerOf(pcm.length), pcm);
    this.totals.framesOut += 1;
    this.totals.bytesOut += pcm.length;
    this.level.measure(pcm);
    this.watch?.audio(pcm);
  }

  /** Sends nothing more. */
  shut(): void {
    this.isOpen = false;
  }
}
