import { dbfsText, measureLevel, silentDbfs } from '../../../audio/level.ts';
import { escapeText, jsonLine } from '../../../kernel/escape.ts';
import { version } from '../../../kernel/version.ts';
import { msForBytes } from '../../../protocol/audio-format.ts';
import { countText } from '../../../protocol/count-text.ts';
import { roundMs } from '../../../protocol/time-text.ts';
import { originSigns, timeText } from '../../../report/event-words.ts';
import { createPrinter } from '../../../report/printer.ts';
import type { Style } from '../../../report/style.ts';
import type { WireMessage } from '../../../wire/exchange.ts';
import type { Tap } from '../../../wire/tap.ts';
import type { ContextOf } from '../../command.ts';

/** Shows each message of a session. */
export interface FrameView {
  readonly tap: Tap;
  /** Shows binary messages as a count each second, or one by one. */
  fold(isOn: boolean): void;
  close(): void;
}

const foldMs = 1_000;

export function createFrameView(
  { io, json, style }: Pick<ContextOf<'stream'>, 'io' | 'json' | 'style'>,
  print: (line: string) => Promise<void>,
): FrameView {
  const { clock } = io;
  const begun = clock.now();
  let isFolding = false;
  let folded = { device: { count: 0, bytes: 0 }, service: { count: 0, bytes: 0 } };
  let timer: { cancel(): void } | undefined;

  // A closed pipe is noticed by the writer of the next line; the session then ends by its signal.
  const printer = createPrinter({ write: (line) => print(String(line)) }, (count) => {
    const text = `${count} lines are missing here: they arrived faster than this output is read`;
    return json ? jsonLine({ type: 'skipped', count }).trimEnd() : `${style.note('!')} ${text}`;
  });
  const show = printer.print;
  const showFolded = () => {
    timer = undefined;
    for (const [from, { count, bytes }] of Object.entries(folded)) {
      if (count === 0) continue;
      const text = `          ${from === 'device' ? '↑' : '↓'} binary ${countText(count, 'message')}, ${countText(bytes, 'byte')}`;
      const t = roundMs(clock.now() - begun);
      show(json ? jsonLine({ type: 'folded', t, from, count, bytes }).trimEnd() : text);
    }
    folded = { device: { count: 0, bytes: 0 }, service: { count: 0, bytes: 0 } };
  };
  const message = (passed: WireMessage) => {
    if (isFolding && 'data' in passed) {
      folded[passed.from].count += 1;
      folded[passed.from].bytes += passed.bytes;
      timer ??= clock.after(foldMs, showFolded);
      return;
    }
    const t = passed.at - begun;
    show(json ? jsonLine(frameJson(passed, t)).trimEnd() : frameLine(passed, t, style));
  };
  let isFirst = true;
  const showNote = (text: string, body: Record<string, unknown>) => {
    const t = roundMs(clock.now() - begun);
    const first = isFirst ? { version } : {};
    isFirst = false;
    show(json ? jsonLine({ t, ...body, ...first }).trimEnd() : `${style.dim('        ·')} ${text}`);
  };

  return {
    tap: {
      token({ answer, totalMs }) {
        const status = answer?.status ?? null;
        showNote(`token request: ${status ?? 'no answer'} after ${Math.round(totalMs)} ms`, {
          type: 'token',
          status,
        });
      },
      opened({ answer }) {
        const status = answer?.status ?? null;
        showNote(`upgrade: ${status ?? 'no answer'}`, { type: 'upgrade', status });
      },
      message,
      closed({ by, code, reason }) {
        const why = reason === '' ? '' : ` ${escapeText(reason)}`;
        showNote(`closed by ${by === 'device' ? 'you' : 'the service'}: ${code}${why}`, {
          type: 'close',
          by,
          code,
          reason,
        });
      },
    },
    fold(isOn) {
      isFolding = isOn;
      if (!isOn) showFolded();
    },
    close() {
      timer?.cancel();
      showFolded();
      void printer.flush().catch(() => {});
    },
  };
}

/** Bytes of a binary message that are shown. */
const shownBytes = 8;

/** One message as a line for people: time since the beginning, direction, kind and content. */
function frameLine(message: WireMessage, t: number, style: Style): string {
  return `${style.dim(timeText(t))}  ${originSigns[message.from]} ${message.opcode.padEnd(6)} ${contentText(message)}`;
}

/** The same as an object for programs. */
function frameJson(message: WireMessage, t: number): Record<string, unknown> {
  const { from, opcode, bytes } = message;
  return {
    type: 'frame',
    t: roundMs(t),
    from,
    opcode,
    bytes,
    ...('text' in message ? { text: message.text } : {}),
    ...('data' in message ? { base64: message.data.toString('base64') } : {}),
    ...('token' in message ? { token: true } : {}),
  };
}

function contentText(message: WireMessage): string {
  if ('token' in message) return `the token, ${message.bytes} bytes`;
  if ('text' in message) return escapeText(message.text);
  if (!('data' in message)) return message.bytes === 0 ? '' : `${message.bytes} bytes`;
  const { data } = message;
  const start = data.subarray(0, shownBytes).toString('hex').replace(/../g, '$& ').trimEnd();
  const more = data.length > shownBytes ? ' …' : '';
  const level = data.length < 2 ? '' : `, ${msForBytes(data.length).toFixed(1)} ms ${levelText(data)}`;
  return `${data.length} bytes${level}${start === '' ? '' : `: ${start}${more}`}`;
}

function levelText(data: Buffer): string {
  const { rmsDbfs } = measureLevel(data);
  return rmsDbfs <= silentDbfs ? 'of silence' : `at ${dbfsText(rmsDbfs, 0)}`;
}
