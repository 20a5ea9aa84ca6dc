import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Clock, ClockTimer } from '../../../kernel/clock.ts';
import type { NetworkQuality } from '../../../protocol/network.ts';
import { createOneWay, type OneWay, retransmitMs, type Sent } from './one-way.ts';

export interface LineOptions {
  clock: Clock;
  /** The quality of the network now. */
  quality: () => NetworkQuality;
  /** Called with the first bytes of the device, before the network delays them. */
  onFirst?: (bytes: Buffer) => void;
  /** For each direction, numbers from 0 up to 1. */
  chances: { upload: () => number; download: () => number };
  /** Round trips that a device needs before it can send a first byte: one for TCP, and one for TLS if there is TLS. */
  roundTrips: number;
  inFlight: InFlightTotals;
}

/** What is under way on all lines together. */
export interface InFlightTotals {
  bytes: number;
  /** Lines of which one end has closed while bytes were still under way. */
  readonly ended: Set<{ readonly bytes: number }>;
}

/** A line ends this long after its device has gone, even if what the device sent before is lost again and again. */
const goneMs = 60_000;

/** What such lines may have under way together. Beyond it the newest line is cut, and its bytes are dropped. */
const maxEndedBytes = 2 * 1024 * 1024;

type Done = (error?: Error | null) => void;

/**
 * A connection through a slow network. HTTP and WebSocket use it in place of the socket. A class, because it is a stream.
 */
export class Line extends Duplex {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  readonly encrypted: boolean;
  readonly connecting = false;
  private readonly inner: Socket;
  private readonly upload: OneWay;
  private readonly download: OneWay;
  private readonly inFlight: InFlightTotals;
  private readonly clock: Clock;
  private readonly quality: () => NetworkQuality;
  private written: Done | undefined;
  private giveUp: ClockTimer | undefined;
  /** The newest bytes of the device that have arrived. */
  private arrived: Sent = { at: 0, lostMs: 0 };
  private pausedAt: number | undefined;
  private pausedMs = 0;
  private passed = 0;

  constructor(inner: Socket, options: LineOptions) {
    const { clock, quality, chances, roundTrips, inFlight, onFirst } = options;
    super({ allowHalfOpen: true });
    this.inner = inner;
    this.inFlight = inFlight;
    this.clock = clock;
    this.quality = quality;
    this.remoteAddress = inner.remoteAddress;
    this.remotePort = inner.remotePort;
    this.localAddress = inner.localAddress;
    this.localPort = inner.localPort;
    this.encrypted = 'encrypted' in inner;
    this.upload = createOneWay({
      clock,
      quality: () => ({ ...quality(), bitsPerSecond: quality().upload }),
      chance: chances.upload,
      deliver: (bytes, sent) => {
        this.arrived = sent;
        if (!this.push(bytes)) this.upload.allow(false);
      },
      onRoom: () => this.readOn(),
      inFlight,
    });
    this.download = createOneWay({
      clock,
      quality: () => ({ ...quality(), bitsPerSecond: quality().rate }),
      chance: chances.download,
      deliver: (bytes) => {
        this.passed += bytes.length;
        if (inner.destroyed || inner.write(bytes) || this.destroyed) return;
        this.download.allow(false);
      },
      onRoom: () => this.callWritten(),
      inFlight,
    });
    inner.on('drain', () => this.download.allow(true));
    const openedAt = clock.now();
    inner.once('data', (bytes: Buffer) => {
      onFirst?.(bytes);
      this.upload.hold(openedAt + 2 * roundTrips * quality().latency - clock.now());
    });
    this.listen();
  }

  private listen(): void {
    const { inner, upload } = this;
    inner.on('data', (bytes: Buffer) => {
      if (this.destroyed) return;
      upload.send(bytes, this.pausedMs);
      if (!upload.isFull) return;
      inner.pause();
      this.pausedAt ??= this.clock.now();
    });
    inner.on('end', () => {
      upload.after(() => this.push(null));
      this.limitRest();
    });
    // A reset: bytes under way are lost.
    inner.on('error', (error) => this.destroy(error));
    inner.on('close', () => {
      this.download.close();
      this.callWritten();
      if (this.destroyed) {
        this.forget();
        return;
      }
      // Set before `after`, which may destroy the line at once and then cancels this timer.
      this.giveUp = this.clock.after(goneMs, () => this.cut(), { background: true });
      upload.after(() => this.destroy());
      if (!this.destroyed) this.limitRest();
    });
    inner.on('timeout', () => this.emit('timeout'));
  }

  private readOn(): void {
    this.pausedMs += this.clock.now() - (this.pausedAt ?? this.clock.now());
    this.pausedAt = undefined;
    this.inner.resume();
  }

  /** How long the newest bytes of the device were under way. */
  get heldMs(): number {
    return this.clock.now() - this.arrived.at;
  }

  /** How many bytes have passed to the device so far. */
  get passedBytes(): number {
    return this.passed;
  }

  /** Time until then in which the device could not send, because too much was under way. */
  get lostMs(): number {
    return this.arrived.lostMs;
  }

  /** How long an answer takes to what is sent now, with what waits, and one loss each way; 0 if nothing passes. */
  get roundTripMs(): number {
    if (this.isDown) return 0;
    const { latency, jitter, loss, rate, upload } = this.quality();
    const againMs = loss === 0 ? 0 : retransmitMs(latency);
    const queuedMs = (bytes: number, bitsPerSecond = Number.POSITIVE_INFINITY) =>
      (bytes * 8_000) / bitsPerSecond;
    return (
      2 * (latency + jitter + againMs) +
      queuedMs(this.download.bytes, rate) +
      queuedMs(this.upload.bytes, upload)
    );
  }

  /** Calls when all that is written so far has reached the device. */
  whenReached(call: () => void): void {
    if (!this.writable) return;
    this.write(Buffer.alloc(0), (error) => {
      if (!error) this.download.after(call);
    });
  }

  /** Whether nothing passes now in one direction, or both. */
  get isDown(): boolean {
    const { rate, upload } = this.quality();
    return rate === 0 || upload === 0;
  }

  /** Memory for what waits or is under way, in both directions, about. */
  get bytes(): number {
    return this.upload.costBytes + this.download.costBytes + (this.destroyed ? 0 : this.writableLength);
  }

  /** One end has closed: what is under way arrives, if it is not too much. */
  private limitRest(): void {
    const { ended } = this.inFlight;
    ended.add(this);
    let bytes = 0;
    for (const line of ended) {
      if (line.bytes === 0) ended.delete(line);
      bytes += line.bytes;
    }
    if (bytes > maxEndedBytes) this.cut();
  }

  /** Nothing is under way any more. A line that stayed in the set would keep its stream in memory. */
  private forget(): void {
    this.inFlight.ended.delete(this);
  }

  /** Call it when the quality has changed. */
  changed(): void {
    this.upload.changed();
    this.download.changed();
  }

  /** Ends the connection now, whatever is under way. */
  cut(): void {
    this.download.close();
    this.inner.destroy();
    this.destroy();
    this.forget();
  }

  private callWritten(): void {
    const { written } = this;
    this.written = undefined;
    written?.();
  }

  override _read(): void {
    this.upload.allow(true);
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.download.send(bytes);
    if (this.download.isFull) this.written = done;
    else done();
  }

  override _writev(chunks: { chunk: Buffer }[], done: Done): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'binary', done);
  }

  override _final(done: Done): void {
    this.download.after(() => this.inner.end());
    done();
  }

  override _destroy(error: Error | null, done: Done): void {
    this.giveUp?.cancel();
    this.upload.close();
    this.callWritten();
    if (!this.writableFinished) this.download.drop();
    // What was sent before is on its way.
    this.download.allow(true);
    this.download.after(() => {
      this.inner.destroySoon();
      this.forget();
    });
    if (this.inner.destroyed) this.forget();
    else this.limitRest();
    done(error);
  }

  /** Like `destroySoon` of Node's sockets: ends it, then destroys it. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  resetAndDestroy(): this {
    this.download.close();
    this.download.after(() => this.inner.resetAndDestroy());
    return this.destroy();
  }

  setTimeout(ms: number, call?: () => void): this {
    this.inner.setTimeout(ms);
    if (call !== undefined) this.once('timeout', call);
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    this.inner.ref();
    return this;
  }

  unref(): this {
    this.inner.unref();
    return this;
  }
}
