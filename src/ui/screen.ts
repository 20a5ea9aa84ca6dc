import type { Clock, ClockTimer } from '../kernel/clock.ts';
import { passKeys } from '../kernel/keyboard.ts';
import type { TerminalDevice } from '../kernel/terminal-device.ts';
import { countText } from '../protocol/count-text.ts';
import type { DrawThread } from './draw-thread.ts';
import { createFrameLimiter } from './frame-limiter.ts';
import { boundEvent, createPendingEvents } from './pending-events.ts';
import type { Action, Frame, FrameRequest, Notice, ScreenStart } from './port.ts';

export interface ScreenOptions<Event extends { type: string }> {
  device: TerminalDevice;
  clock: Clock;
  thread: DrawThread;
  start: ScreenStart;
  fold: (before: Event, event: Event) => Event | undefined;
  onAction: (action: Action) => void;
  /** The screen has ended by itself and the terminal is restored: from now on events must be shown in another way. */
  onEnd: (end: ScreenEnd) => void;
}

/**
 * `terminal`: it is gone; `keys`: its input had ended before the first frame, as with `</dev/null`, but it can still
 * show lines; `drawing`: the drawing thread has failed or hangs.
 */
export type ScreenEnd = { cause: 'terminal' | 'keys' | 'drawing'; error: Error };

/** A screen that fills the terminal: a view of events. */
export interface Screen<Event> {
  show(event: Event | Notice): void;
  /** Sets the origin of the events' times to a moment of the clock. */
  startAt(now: number): void;
  /** Copies text to the clipboard of the terminal, if it has one (OSC 52). */
  copy(text: string): void;
  /** Whether the user has pressed a key. */
  readonly isTouched: boolean;
  /** Restores the terminal. */
  close(): Promise<void>;
}

/** A frame that takes longer counts as lost. */
const frameDeadlineMs = 10_000;

/**
 * Draws events on the whole terminal. A thread of its own draws the frames, so that audio leaves on time;
 * this side owns the terminal: it reads the keys, writes the frames, and restores the terminal on every exit.
 */
export function openScreen<Event extends { type: string }>(options: ScreenOptions<Event>): Screen<Event> {
  const { device, clock, start } = options;
  const { worker, ended } = options.thread;
  const terminal = createTerminal(device);
  const pending = createPendingEvents<Event | Notice>((before, event) =>
    isNotice(before) || isNotice(event) ? undefined : options.fold(before, event),
  );
  let origin = clock.now();
  let input = '';
  let isFresh = true;
  let isTouched = false;
  let hasDrawn = false;
  let isClosed = false;
  let lastWrite: Promise<unknown> = Promise.resolve();
  let answer: ((frame: Frame | undefined) => void) | undefined;
  let deadline: ClockTimer | undefined;

  const end = (cause: ScreenEnd['cause'], error: Error) => {
    if (isClosed) return;
    release();
    void worker.terminate();
    options.onEnd({ cause, error });
  };
  const release = () => {
    isClosed = true;
    limiter.close();
    deadline?.cancel();
    answer?.(undefined);
    stopListening();
    terminal.leave();
  };

  const request = (): FrameRequest => {
    const { events, leftOut } = pending.drain();
    const lost: Notice[] =
      leftOut === 0
        ? []
        : [{ type: 'notice', text: `Dropped ${countText(leftOut, 'event')}: too many to show` }];
    const { columns, rows } = device;
    const now = clock.now() - origin;
    const shown = { events: [...events, ...lost], input, fresh: isFresh };
    return { columns, rows, now, wall: clock.wall(), ...shown, ...(!hasDrawn && { start }) };
  };
  const draw = async (): Promise<number> => {
    const drawn = new Promise<Frame | undefined>((resolve) => {
      answer = resolve;
    });
    // Sent as text: for many small events this is much cheaper than cloning them.
    worker.postMessage(JSON.stringify(request()));
    input = '';
    isFresh = false;
    deadline = clock.after(frameDeadlineMs, () => end('drawing', new Error('it does not answer')), {
      background: true,
    });
    const frame = await drawn;
    deadline.cancel();
    if (frame === undefined) return 0;
    await write(frame.patch);
    for (const action of frame.actions) options.onAction(action);
    return frame.tookMs;
  };
  /** Enters the full screen with the first frame, not before. */
  const write = async (patch: string) => {
    if (isClosed) return;
    terminal.enter();
    hasDrawn = true;
    lastWrite = device.write(patch);
    await lastWrite.catch((error: Error) => end('terminal', error));
  };
  const suspend = (group: boolean) => {
    terminal.leave();
    device.suspend({ group });
    // Everything that was drawn is gone.
    isFresh = true;
    limiter.request({ urgent: true });
  };

  const limiter = createFrameLimiter({ clock, draw });
  const stopListening = device.listen({
    onInput(text) {
      const onKeys = (keys: string) => {
        isTouched = true;
        input += keys;
      };
      passKeys(text, { keyboard: device, suspend: () => suspend(true), onKeys });
      limiter.request({ urgent: true });
    },
    onResize() {
      isFresh = true;
      limiter.request({ urgent: true });
    },
    onGone: (error) => end(hasDrawn ? 'terminal' : 'keys', error),
    onSuspend: () => suspend(false),
    onExit: () => terminal.leave(),
  });
  worker.on('message', (frame: Frame) => answer?.(frame));
  void ended.then((error) => end('drawing', error));

  return {
    show(event) {
      if (isClosed) return;
      pending.add(isNotice(event) ? event : boundEvent(event));
      limiter.request();
    },
    startAt(now) {
      origin = now;
    },
    copy(text) {
      if (!isClosed) lastWrite = lastWrite.then(() => device.write(clipboard(text))).catch(() => {});
    },
    get isTouched() {
      return isTouched;
    },
    async close() {
      if (!isClosed) {
        await lastWrite.catch(() => {});
        if (!isClosed) release();
      }
      await worker.terminate();
    },
  };
}

function isNotice(event: unknown): event is Notice {
  return (event as Notice).type === 'notice';
}

function clipboard(text: string): string {
  return `\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`;
}

/** Control sequences (ECMA-48, and the private modes of every current terminal). */
const sequences = {
  alternateScreen: '\u001b[?1049h',
  normalScreen: '\u001b[?1049l',
  hideCursor: '\u001b[?25l',
  showCursor: '\u001b[?25h',
  /** Text that is too long is cut and does not wrap. */
  cutLines: '\u001b[?7l',
  wrapLines: '\u001b[?7h',
  /** Bracketed paste: a paste is marked, so that it is not taken for keys. */
  markPastes: '\u001b[?2004h',
  leavePastes: '\u001b[?2004l',
  clear: '\u001b[2J\u001b[H',
  plainText: '\u001b[0m',
  endOfUpdate: '\u001b[?2026l',
} as const;

/** A terminal that is either our full screen or restored. */
interface Terminal {
  /** Enters the full screen, and hides cursor and echo. */
  enter(): void;
  /** Undoes `enter`. May be called at any moment, any number of times. */
  leave(): void;
}

function createTerminal(device: TerminalDevice): Terminal {
  let isOurs = false;
  return {
    enter() {
      if (isOurs) return;
      isOurs = true;
      device.setRaw(true);
      const { alternateScreen, hideCursor, cutLines, markPastes, clear } = sequences;
      device.writeNow(alternateScreen + hideCursor + cutLines + markPastes + clear);
    },
    leave() {
      if (!isOurs) return;
      isOurs = false;
      const { endOfUpdate, plainText, leavePastes, wrapLines, showCursor, normalScreen } = sequences;
      device.writeNow(endOfUpdate + plainText + leavePastes + wrapLines + showCursor + normalScreen);
      device.setRaw(false);
    },
  };
}
