import { stripVTControlCharacters } from 'node:util';
import type { ScriptedClip } from '../../audio/dialogue/dialogue.ts';
import type { MuteSwitch } from '../../devices/microphone.ts';
import { systemClock } from '../../kernel/clock.ts';
import { cutText } from '../../kernel/escape.ts';
import type { TerminalDevice } from '../../kernel/terminal-device.ts';
import { watchInterruptions } from '../../recording/recorder.ts';
import { isWarning, sessionLines } from '../../report/session-lines.ts';
import { createTurnWatch, type TurnNews } from '../../report/turn-watch.ts';
import type { SessionEvent } from '../../session/events.ts';
import { foldSessionEvents } from '../../ui/pending-events.ts';
import type { ActionType } from '../../ui/port.ts';
import type { Tap } from '../../wire/tap.ts';
import type { ContextOf } from '../command.ts';
import { tokenCurl } from '../service/token-curl.ts';
import { openCommandScreen } from '../terminal/command-screen.ts';
import { type BeginSession, printEvent, type StreamView } from './view.ts';

export interface StreamScreenOptions {
  device: TerminalDevice;
  sourceName: string;
  /** Whether the user can start another session: it can get a token, and does not overwrite files of the first. */
  canReconnect: boolean;
  /** Whether there is a microphone. */
  canMute: boolean;
}

/**
 * Sessions in full screen, one after the other. If no key is pressed during a session, the screen closes
 * at its end, as without a screen. Otherwise it stays until the user quits.
 */
export function createStreamScreen(context: ContextOf<'stream'>, options: StreamScreenOptions): StreamView {
  const { settings, io, style, signal } = context;
  const { canReconnect, canMute } = options;
  const can: readonly ActionType[] = [
    'copy',
    'copyCurl',
    'save',
    ...(canReconnect ? (['reconnect'] as const) : []),
    ...(canMute ? (['mute'] as const) : []),
  ];
  /** Lines to print after the screen closes. */
  const kept = createKeptLines();
  let microphone: MuteSwitch | undefined;
  /** The state of the microphone on the screen, even before it is open. */
  let isMuted = false;
  let session: LiveSession | undefined;
  let announced: { baseUrl: string; device: string } | undefined;
  /** Set while the user is choosing. */
  let choose: ((choice: 'quit' | 'reconnect') => void) | undefined;
  let printed: Promise<void> = Promise.resolve();
  const screen = openCommandScreen<SessionEvent | TurnNews>(context, {
    device: options.device,
    start: {
      screen: 'stream',
      subject: options.sourceName,
      can,
      limits: {
        firstAudioMs: settings.maxFirstAudio,
        gapMs: settings.maxGap,
        jitterMs: settings.maxJitter,
      },
    },
    fold: foldSessionEvents,
    curl,
    onQuit: () => (session?.isTalking === true ? session.finishReply() : screen.quit()),
    onAction(action) {
      if (action.type === 'mute') {
        isMuted = action.on;
        microphone?.mute(isMuted);
      } else if (action.type === 'reconnect') {
        if (session === undefined) choose?.('reconnect');
        else screen.say('The session is still open: q ends it, then r reconnects');
      }
    },
    onLost() {
      choose?.('quit');
      printed = printKept();
    },
  });

  function curl(): string {
    const { baseUrl = settings.baseUrl, device = settings.device } = announced ?? {};
    return tokenCurl({ ...settings, baseUrl }, device);
  }

  async function printKept() {
    for (const line of kept.lines()) await io.stdout.write(`${line}\n`);
  }

  const turns = watchTurns(settings.wait, screen.show);

  const show = async (event: SessionEvent) => {
    session?.follow(event);
    turns.follow(event);
    if (event.type === 'session') announced = event;
    if (screen.isLost) {
      await printed;
      if (event.type !== 'audio' && event.type !== 'figures') await printEvent(event, context);
      return;
    }
    screen.show(event);
    if (event.type === 'session' || event.type === 'summary' || isWarning(event))
      kept.add(sessionLines(event, style));
  };

  const runOne = async (begin: BeginSession) => {
    session = createLiveSession(AbortSignal.any([signal, screen.signal]));
    kept.clear();
    screen.startAt(systemClock.now());
    try {
      for await (const event of begin(session.signal, session.enough)) await show(event as SessionEvent);
      return undefined;
    } catch (thrown) {
      return { thrown };
    }
  };

  return {
    isDetailed: true,
    tap: turns.tap,
    attach(live) {
      microphone = live?.microphone?.switch;
      microphone?.mute(isMuted);
    },
    async note(text) {
      screen.say(text);
    },
    async run(begin) {
      for (;;) {
        if (screen.signal.aborted) throw screen.signal.reason;
        const failure = await runOne(begin);
        const isOver = screen.signal.aborted || signal.aborted || session?.isFinishing === true;
        session = undefined;
        const choice = screen.isTouched && !screen.isLost && !isOver ? await nextChoice() : 'quit';
        if (choice === 'reconnect') continue;
        if (failure !== undefined) throw screen.isLost ? endOf(failure) : failure.thrown;
        return;
      }
    },
    async close() {
      await screen.close();
      if (!screen.isLost) await printKept();
      await printed;
    },
  };

  /** A session that fails because the terminal is gone fails with that error. */
  function endOf({ thrown }: { thrown: unknown }): unknown {
    return screen.signal.aborted ? screen.signal.reason : thrown;
  }

  function nextChoice(): Promise<'quit' | 'reconnect'> {
    screen.say(`The session is over: ${canReconnect ? 'r reconnects, ' : ''}q quits`);
    return new Promise((resolve) => {
      choose = (choice) => {
        choose = undefined;
        resolve(choice);
      };
      for (const end of [signal, screen.signal])
        end.addEventListener('abort', () => choose?.('quit'), { once: true });
    });
  }
}

/** A running session, and how to end it after the current reply. */
interface LiveSession {
  readonly signal: AbortSignal;
  readonly enough: AbortSignal;
  /** Whether a reply can still finish and the user has not requested that yet. */
  readonly isTalking: boolean;
  readonly isFinishing: boolean;
  follow(event: SessionEvent): void;
  finishReply(): void;
}

function createLiveSession(signal: AbortSignal): LiveSession {
  const enough = new AbortController();
  let isOpen = false;
  return {
    signal,
    enough: enough.signal,
    get isTalking() {
      return isOpen && !enough.signal.aborted;
    },
    get isFinishing() {
      return enough.signal.aborted;
    },
    follow(event) {
      if (event.type === 'state') isOpen = event.state === 'live' || event.state === 'draining';
    },
    finishReply: () => enough.abort(),
  };
}

/** Bounds, because a session can last for days and a service can send texts of any length. */
const maxLines = 100;
const maxCharacters = 500;

/** Keeps the last lines of a session, to print when its screen closes. Counts the dropped older ones. */
interface KeptLines {
  add(lines: readonly string[]): void;
  clear(): void;
  lines(): string[];
}

function createKeptLines(): KeptLines {
  let kept: string[] = [];
  let leftOut = 0;
  return {
    add(lines) {
      kept.push(...lines.map(cutLine));
      const over = Math.max(0, kept.length - maxLines);
      leftOut += over;
      kept = kept.slice(over);
    },
    clear() {
      kept = [];
      leftOut = 0;
    },
    lines: () => (leftOut === 0 ? kept : [`… ${leftOut} earlier lines`, ...kept]),
  };
}

/** Removes colours, because the cut end of the line would have reset them. */
function cutLine(line: string): string {
  return line.length <= maxCharacters ? line : `${cutText(stripVTControlCharacters(line), maxCharacters)}…`;
}

/** Interval of the checks for who speaks over whom. */
const lookEveryMs = 500;

/** Shows on a screen who speaks over whom, for one session after the other. */
function watchTurns(waitMs: number, show: (news: TurnNews) => void) {
  let watch = createTurnWatch(waitMs);
  let interrupts = watchInterruptions();
  let startedAt = 0;
  let lookedMs = 0;
  let clip: ScriptedClip | undefined;
  const look = (t: number) => {
    if (t - lookedMs < lookEveryMs) return;
    lookedMs = t;
    show(watch.look(t));
  };
  const tap: Tap = {
    began(at) {
      watch = createTurnWatch(waitMs);
      interrupts = watchInterruptions();
      startedAt = at;
      lookedMs = 0;
      clip = undefined;
    },
    message(message) {
      const t = message.at - startedAt;
      if ('data' in message) {
        if (message.from === 'device') watch.sent(message.data, t);
        else watch.received(message.data, t);
        look(t);
      } else if (interrupts(message)) watch.interrupted(t);
    },
  };
  return {
    tap,
    /** The session has its pace; the script gives the places of its clips, and which of them are not turns. */
    follow(event: SessionEvent) {
      if (event.type === 'session') watch = createTurnWatch(waitMs, event.pace);
      if (event.type !== 'turn') return;
      const { turn, state, atMs, holdMs } = event;
      if (state === 'end') {
        if (clip !== undefined) clip.endMs = atMs;
        return;
      }
      // The audio being sent now already belongs to this clip.
      clip = { turn, isTurn: holdMs === undefined, holdMs, startMs: atMs, endMs: Number.POSITIVE_INFINITY };
      watch.said(clip);
    },
  };
}
