import { recogniseText } from '../../audio/verdict/recognise-container.ts';
import type { FoundInVoice, VoiceCheck } from '../../audio/verdict/voice-check.ts';
import { type BlockJoiner, createBlockJoiner } from '../../audio/whole-samples.ts';
import { bytesPerSample } from '../../protocol/audio-format.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import type { EmulatorEvents, StreamTotals } from '../../service/events.ts';
import type { Reply } from '../replies/reply.ts';
import type { StreamConnection } from './connection.ts';

export interface IncomingAudioOptions {
  connection: StreamConnection;
  dialect: Dialect;
  events: EmulatorEvents;
  device: string;
  /** Takes whole samples. */
  reply: Reply;
}

/**
 * Audio from a device: counts and judges its messages, and joins them to whole samples. Specification:
 * "WSS /voice-stream". A class, because every frame passes it: see ARCHITECTURE.md.
 */
export class IncomingAudio {
  private readonly check: VoiceCheck;
  private readonly totals: StreamTotals;
  private readonly reply: Reply;
  /** Created at the first message that ends within a sample. Most devices send none. */
  private samples: BlockJoiner | undefined;
  private readonly options: IncomingAudioOptions;

  constructor(options: IncomingAudioOptions) {
    this.check = options.connection.device;
    this.totals = options.connection.totals;
    this.reply = options.reply;
    this.options = options;
  }

  take(message: Buffer): void {
    for (const found of this.check.push(message)) this.tell(found);
    if (this.check.isDue) this.tellVerdict();
    if (message.length === 0) {
      this.totals.emptyMessages += 1;
      return;
    }
    this.totals.framesIn += 1;
    this.totals.bytesIn += message.length;
    const isOdd = message.length % bytesPerSample !== 0;
    if (isOdd) this.totals.oddMessages += 1;
    if (isOdd || this.samples !== undefined) this.takeParts(message, isOdd);
    else this.reply.hear(message);
  }

  /** Takes a message that ends within a sample, or follows such a message. The dialect says what happens to half a sample. */
  private takeParts(message: Buffer, isOdd: boolean): void {
    const { connection, dialect } = this.options;
    const { oddBytes } = dialect.stream;
    if (isOdd && oddBytes === 'close') {
      connection.close('oddBytes');
      return;
    }
    this.samples ??= createBlockJoiner();
    const whole = this.samples.push(message);
    if (oddBytes === 'drop') this.samples.clear();
    if (whole.length > 0) this.reply.hear(whole);
  }

  /** Takes a text message; true if it is audio sent as text. Reports this once. */
  takeText(text: string): boolean {
    const kind = recogniseText(text);
    if (kind === undefined) return false;
    for (const found of this.check.note(`${kind}-text`)) this.tell(found);
    return true;
  }

  private tellVerdict(): void {
    const verdict = this.check.judgePace();
    const { connection, device, events } = this.options;
    if (verdict !== undefined)
      events.emit({ type: 'device-verdict', stream: connection.id, device, ...verdict });
  }

  private tell({ finding, remark }: FoundInVoice): void {
    const { connection, device, events } = this.options;
    events.emit({ type: 'device-finding', stream: connection.id, device, finding, remark });
  }
}
