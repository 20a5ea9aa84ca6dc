import { developmentKey } from '../../config/target.ts';
import type { MuteSwitch } from '../../devices/microphone.ts';
import { systemClock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { TerminalDevice } from '../../kernel/terminal-device.ts';
import { version } from '../../kernel/version.ts';
import { serviceUrl, tokenPath } from '../../protocol/paths.ts';
import { curlCommand } from '../../report/curl.ts';
import { isWarning, sessionLines } from '../../report/session-lines.ts';
import type { SessionEvent } from '../../session/events.ts';
import { foldSessionEvents } from '../../ui/pending-events.ts';
import type { Action, ActionType } from '../../ui/port.ts';
import { openScreen, type ScreenEnd } from '../../ui/screen.ts';
import { drawWorker } from '../../ui/worker-file.ts';
import { runOwnAction } from '../terminal/screen-actions.ts';
import { speaksUnicode } from '../terminal/speaks-unicode.ts';
import { createKeptLines } from './kept-lines.ts';
import type { BeginSession, StreamContext, StreamView } from './view.ts';

export interface StreamScreenOptions {
  device: TerminalDevice;
  /** Name of the source, for people. */
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
export function createStreamScreen(context: StreamContext, options: StreamScreenOptions): StreamView {
  const { settings, io, style, signal, colour } = context;
  const { canReconnect, canMute } = options;
  const can: readonly ActionType[] = [
    'copy',
    'copyCurl',
    'save',
    ...(canReconnect ? (['reconnect'] as const) : []),
    ...(canMute ? (['mute'] as const) : []),
  ];
  const screen = openScreen<SessionEvent>({
    device: options.device,
    clock: systemClock,
    worker: drawWorker,
    colour,
    start: {
      screen: 'stream',
      version,
      ascii: settings.ascii ?? !speaksUnicode(io.env),
      subject: options.sourceName,
      can,
      limits: {
        firstAudioMs: settings.maxFirstAudio,
        gapMs: settings.maxGap,
        jitterMs: settings.maxJitter,
      },
    },
    fold: foldSessionEvents,
    onAction: (action) => void act(action),
    onEnd,
  });
  const tell = (text: string) => screen.show({ type: 'notice', text });
  /** Lines to print after the screen closes. */
  const kept = createKeptLines();
  let isOnScreen = true;
  let microphone: MuteSwitch | undefined;
  /** The state of the microphone on the screen, even before it is open. */
  let isMuted = false;
  let session: LiveSession | undefined;
  /** The user quit before a session began. */
  let leaving: VoicectlError | undefined;
  let announced: { baseUrl: string; device: string } | undefined;
  /** There while the user is asked. */
  let choose: ((choice: 'quit' | 'reconnect') => void) | undefined;
  let gone: VoicectlError | undefined;

  function curl(): string {
    const { baseUrl = settings.baseUrl, device = '' } = announced ?? {};
    const key = settings.local === true ? { open: developmentKey } : undefined;
    return curlCommand({ url: serviceUrl(baseUrl, tokenPath(settings.apiVersion)), device, key });
  }

  async function act(action: Action) {
    if (action.type === 'quit') {
      if (session !== undefined) session.quit();
      else if (choose !== undefined) choose('quit');
      else leaving = new VoicectlError('interrupted', 'Interrupted');
    } else if (action.type === 'reconnect') {
      if (session === undefined) choose?.('reconnect');
      else tell('The session is still open: q ends it, then r connects again');
    } else if (action.type === 'mute') {
      isMuted = action.on;
      microphone?.mute(isMuted);
    } else if (action.type === 'copy' || action.type === 'copyCurl' || action.type === 'save') {
      await runOwnAction(action, { cwd: io.cwd, curl, copy: screen.copy, tell });
    }
  }

  function onEnd({ cause, error }: ScreenEnd) {
    isOnScreen = false;
    if (cause === 'terminal') {
      gone = new VoicectlError('input-output', `The terminal is gone: ${error.message}`, { cause: error });
      session?.abort(gone);
      choose?.('quit');
      return;
    }
    choose?.('quit');
    void io.stderr
      .write(`voicectl: the screen failed (${error.message}); continuing with plain lines\n`)
      .catch(() => {});
  }

  const show = async (event: SessionEvent) => {
    session?.follow(event);
    if (event.type === 'session') announced = event;
    const stays = event.type === 'session' || event.type === 'summary' || isWarning(event);
    if (isOnScreen) {
      screen.show(event);
      if (stays) kept.add(sessionLines(event, style));
    } else if (event.type !== 'audio' && event.type !== 'figures') {
      for (const line of sessionLines(event, style)) await io.stdout.write(`${line}\n`);
    }
  };

  const runOne = async (begin: BeginSession) => {
    session = createLiveSession(signal);
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
    attach(live) {
      microphone = live?.microphone?.switch;
      microphone?.mute(isMuted);
    },
    async note(text) {
      if (isOnScreen) tell(text);
      else await context.note(text);
    },
    async run(begin) {
      for (;;) {
        if (leaving !== undefined) throw leaving;
        const failure = await runOne(begin);
        const wantsMore = session?.isQuitting === false && screen.isTouched && isOnScreen && !signal.aborted;
        session = undefined;
        const choice = wantsMore ? await nextChoice() : 'quit';
        if (choice === 'reconnect') continue;
        if (failure !== undefined) throw gone ?? failure.thrown;
        return;
      }
    },
    async close() {
      await screen.close();
      if (isOnScreen) for (const line of kept.lines()) await io.stdout.write(`${line}\n`);
    },
  };

  function nextChoice(): Promise<'quit' | 'reconnect'> {
    tell(`The session is over: ${canReconnect ? 'r connects again, ' : ''}q leaves`);
    return new Promise((resolve) => {
      choose = (choice) => {
        choose = undefined;
        resolve(choice);
      };
      signal.addEventListener('abort', () => resolve('quit'), { once: true });
    });
  }
}

/** A running session, and how to end it. */
interface LiveSession {
  readonly signal: AbortSignal;
  readonly enough: AbortSignal;
  readonly isQuitting: boolean;
  follow(event: SessionEvent): void;
  /** The first call lets the current reply finish; the second ends the session at once. */
  quit(): void;
  abort(reason: VoicectlError): void;
}

function createLiveSession(signal: AbortSignal): LiveSession {
  const [enough, atOnce] = [new AbortController(), new AbortController()];
  let isTalking = false;
  return {
    signal: AbortSignal.any([signal, atOnce.signal]),
    enough: enough.signal,
    get isQuitting() {
      return enough.signal.aborted || atOnce.signal.aborted;
    },
    follow(event) {
      if (event.type === 'state') isTalking = event.state === 'live' || event.state === 'draining';
    },
    quit() {
      if (isTalking && !enough.signal.aborted) enough.abort();
      else atOnce.abort(new VoicectlError('interrupted', 'Interrupted'));
    },
    abort: (reason) => atOnce.abort(reason),
  };
}
