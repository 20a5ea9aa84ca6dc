import type { DeviceCheck } from '../../audio/verdict/device-verdict.ts';
import { bytesPerSample } from '../../protocol/audio-format.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import type { EmulatorEvents, StreamTotals } from '../events.ts';
import type { Reply } from '../replies/reply.ts';
import type { Connection } from './connection.ts';

export interface IncomingAudioOptions {
  connection: Connection;
  dialect: Dialect;
  events: EmulatorEvents;
  device: string;
  /** Hears whole samples. */
  reply: Reply;
}

/**
 * What a device says: its messages are counted and judged, and whole samples are made of them. Specification:
 * "WSS /voice-stream". A class, as all that every frame passes: see ARCHITECTURE.md.
 */
export class IncomingAudio {
  private readonly check: DeviceCheck;
  private readonly totals: StreamTotals;
  private readonly reply: Reply;
  private half: Buffer | undefined;
  private readonly options: IncomingAudioOptions;

  constructor(options: IncomingAudioOptions) {
    this.check = options.connection.device;
    this.totals = options.connection.totals;
    this.reply = options.reply;
    this.options = options;
  }

  take(message: Buffer): void {
    for (const found of this.check.push(message)) this.tell(found);
    if (message.length === 0) {
      this.totals.emptyMessages += 1;
      return;
    }
    this.totals.framesIn += 1;
    this.totals.bytesIn += message.length;
    const isWhole = this.half === undefined && message.length % bytesPerSample === 0;
    if (isWhole) this.reply.hear(message);
    else this.takeParts(message);
  }

  /** Takes a message that ends within a sample, or comes after one: what becomes of half a sample is the dialect's choice. */
  private takeParts(message: Buffer): void {
    const { connection, dialect } = this.options;
    const { oddBytes } = dialect.stream;
    const isOdd = message.length % bytesPerSample !== 0;
    if (isOdd) this.totals.oddMessages += 1;
    if (isOdd && oddBytes === 'close') {
      connection.close('oddBytes');
      return;
    }
    const bytes = this.half === undefined ? message : Buffer.concat([this.half, message]);
    const whole = bytes.length - (bytes.length % bytesPerSample);
    const hasHalf = whole < bytes.length && oddBytes === 'carry';
    this.half = hasHalf ? Buffer.from(bytes.subarray(whole)) : undefined;
    if (whole > 0) this.reply.hear(bytes.subarray(0, whole));
  }

  private tell(found: ReturnType<DeviceCheck['push']>[number]): void {
    const { connection, device, events } = this.options;
    events.emit({ type: 'device-finding', stream: connection.id, device, ...found });
  }
}
