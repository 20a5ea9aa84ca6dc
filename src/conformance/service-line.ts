import { audibleDbfs, measureLevel } from '../audio/level.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { isConfirmation, isData } from '../rules/stream-seen.ts';
import { type Connection, connect } from '../wire/client/connect.ts';
import type { ClientLeg } from '../wire/client/http.ts';
import type { StreamEnd, StreamExchange, Upgrade, WireMessage } from '../wire/exchange.ts';

/** A connection to the voice stream: what is sent on it and what is seen of it. */
export interface ServiceLine {
  readonly isOpen: boolean;
  /** Whether the service has confirmed the token. */
  readonly isConfirmed: boolean;
  /** From the service: messages, and when the last audible audio arrived. */
  readonly heard: { readonly messages: number; readonly audibleAt: number };
  /** What has passed so far. */
  exchange(): StreamExchange;
  present(token: string, opcode?: 'text' | 'binary'): void;
  sendText(text: string): void;
  sendAudio(pcm: Buffer): void;
  /** When the device last sent a message; −∞ before the first. */
  readonly sentAt: number;
  /** Whether `check` becomes true within `ms` of the machine's time; false also if the line ends before. */
  until(check: () => boolean, ms: number): Promise<boolean>;
  /** Resolves when everything that the service sent before has arrived: it has answered a ping. Takes at most a second. */
  settle(): Promise<void>;
  /** Closes with 1000, and resolves when it is closed. After an abort it is cut. */
  close(): Promise<void>;
}

export interface ServiceLineOptions extends Omit<ClientLeg, 'tap'> {
  url: string;
}

/** More than most services send in reply to a few seconds of speech. Beyond it the line is cut, which is no fault of theirs. */
const maxBytes = 8 * 1024 * 1024;
const maxMessages = 20_000;
const settleMs = 1_000;

/** Opens a line. What the service does never throws: a refused upgrade is a line that is not open. */
export async function openLine({ clock, ...options }: ServiceLineOptions): Promise<ServiceLine> {
  const messages: WireMessage[] = [];
  const waiting = new Set<() => void>();
  const heard = { messages: 0, audibleAt: Number.NEGATIVE_INFINITY };
  let bytes = 0;
  let messagesHeard = 0;
  let pongs = 0;
  let isTooMuch = false;
  let isConfirmed = false;
  let upgrade: Upgrade | undefined;
  let end: StreamEnd | undefined;
  let connection: Connection | undefined;
  const wake = () => {
    for (const look of [...waiting]) look();
  };
  const hear = (message: WireMessage) => {
    if (message.opcode === 'pong') pongs += 1;
    if (isData(message)) heard.messages += 1;
    isConfirmed ||= isConfirmation(message);
    if (!('data' in message)) return;
    // An echo repeats silence for as long as it is sent.
    if (measureLevel(message.data).rmsDbfs > audibleDbfs) heard.audibleAt = message.at;
  };
  const keep = (message: WireMessage) => {
    if (message.from === 'service') {
      hear(message);
      bytes += message.bytes;
      messagesHeard += 1;
    }
    isTooMuch = bytes > maxBytes || messagesHeard > maxMessages;
    if (isTooMuch) connection?.cut(tooMuch());
    else messages.push(message);
    wake();
  };
  try {
    connection = await connect({
      ...options,
      clock,
      tap: {
        opened(answered) {
          upgrade = answered;
        },
        message: keep,
        closed(ended) {
          end = isTooMuch ? asOurs(ended) : ended;
          wake();
        },
      },
      onText: () => {},
      onBinary: () => {},
    });
  } catch (thrown) {
    // The tap has the service's failures. Any other error is ours.
    if (options.signal.aborted || !(thrown instanceof VoicectlError) || upgrade === undefined) throw thrown;
  }
  const opened = connection;
  const isOpen = () => opened !== undefined && end === undefined;
  let sentAt = Number.NEGATIVE_INFINITY;
  const send = (by: (connection: NonNullable<typeof opened>) => void) => {
    if (opened === undefined || !isOpen()) return;
    sentAt = clock.now();
    by(opened);
  };
  const until: ServiceLine['until'] = (check, ms) =>
    new Promise((resolve) => {
      const finish = (found: boolean) => {
        timer.cancel();
        waiting.delete(look);
        resolve(found);
      };
      const look = () => {
        if (check()) finish(true);
        else if (!isOpen()) finish(false);
      };
      const timer = clock.after(ms, () => finish(check()));
      waiting.add(look);
      look();
    });
  return {
    get isOpen() {
      return isOpen();
    },
    get isConfirmed() {
      return isConfirmed;
    },
    heard,
    exchange() {
      if (upgrade === undefined) throw new VoicectlError('internal', 'a line without an upgrade');
      return { kind: 'stream', upgrade, messages: [...messages], end };
    },
    get sentAt() {
      return sentAt;
    },
    present: (token, opcode) => send((to) => to.present(token, opcode)),
    sendText: (text) => send((to) => to.sendText(text)),
    sendAudio: (pcm) => send((to) => to.sendBinary(pcm)),
    until,
    async settle() {
      if (!isOpen()) return;
      const before = pongs;
      opened?.ping();
      await until(() => pongs > before, settleMs);
    },
    async close() {
      if (options.signal.aborted) opened?.cut();
      await opened?.close();
    },
  };
}

/** The end of a line that reached our own limit. */
function asOurs(end: StreamEnd): StreamEnd {
  return { ...end, by: 'device', breakdown: end.breakdown && { ...end.breakdown, by: 'device' } };
}

function tooMuch(): VoicectlError {
  const limit = `${maxBytes / 1024 / 1024} MiB or ${maxMessages} messages`;
  return new VoicectlError(
    'stream-broken',
    `The service sent more than voicectl keeps of a stream: ${limit}`,
  );
}
