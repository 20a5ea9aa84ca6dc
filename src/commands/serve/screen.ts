import { type ClockTimer, systemClock } from '../../kernel/clock.ts';
import { exitCodes, toVoicectlError, VoicectlError } from '../../kernel/errors.ts';
import type { TerminalDevice } from '../../kernel/terminal-device.ts';
import { version } from '../../kernel/version.ts';
import { closeCodes } from '../../protocol/close-codes.ts';
import { faultCatalogue } from '../../protocol/faults.ts';
import { emulatorLines } from '../../report/emulator-lines.ts';
import { countEvent, counterTexts, noCounters } from '../../report/serve-counters.ts';
import { serviceFacts, speakersText, startLines } from '../../report/start-lines.ts';
import type { EmulatorEvent } from '../../service/events.ts';
import { isUnavailable } from '../../service/state/unavailable.ts';
import type { Action } from '../../ui/port.ts';
import { openScreen, type ScreenEnd } from '../../ui/screen.ts';
import type { Looked } from '../../ui/serve-model.ts';
import { drawWorker } from '../../ui/worker-file.ts';
import { parseMessage } from '../control/message.ts';
import { runOwnAction } from '../terminal/screen-actions.ts';
import { speaksUnicode } from '../terminal/speaks-unicode.ts';
import type { RunningFacts, ServeContext, ServeFacts, ServeView, Shown } from './view.ts';

/** How often the state of the emulator is read. */
const lookEveryMs = 250;

/** The emulator on the whole terminal, and keys that act on it. */
export function createServeScreen(
  { settings, io, style, colour }: ServeContext,
  { device, ...facts }: { device: TerminalDevice } & ServeFacts,
): ServeView {
  const speakers = { reply: settings.reply, scenario: settings.scenario };
  const screen = openScreen<EmulatorEvent | Looked>({
    device,
    clock: systemClock,
    worker: drawWorker,
    colour,
    start: {
      screen: 'serve',
      version,
      ascii: settings.ascii ?? !speaksUnicode(io.env),
      ...(facts.head ?? { subject: speakersText(speakers) }),
      can: [
        'copy',
        'copyCurl',
        'save',
        ...(facts.head ? [] : ['advance' as const]),
        'close',
        'send',
        'fault',
      ],
      emulator: {
        faults: Object.entries(faultCatalogue).map(([name, { summary }]) => ({ name, summary })),
      },
    },
    fold: () => undefined,
    onAction: (action) => void act(action).catch((thrown) => tell(toVoicectlError(thrown).message)),
    onEnd,
  });
  const tell = (text: string) => screen.show({ type: 'notice', text });
  let isOnScreen = true;
  let emulator: Shown | undefined;
  let listening: (EmulatorEvent & { type: 'listening' }) | undefined;
  let counters = noCounters;
  let known: RunningFacts = {};
  let look: ClockTimer | undefined;
  let end: (failure?: VoicectlError) => void = () => {};
  const ended = new Promise<void>((resolve, reject) => {
    end = (failure) => (failure === undefined ? resolve() : reject(failure));
  });
  ended.catch(() => {});
  let isEnding = false;

  function onEnd({ cause, error }: ScreenEnd) {
    isOnScreen = false;
    look?.cancel();
    if (cause === 'terminal') {
      end(new VoicectlError('input-output', `The terminal is gone: ${error.message}`, { cause: error }));
      return;
    }
    void io.stderr
      .write(`voicectl: the screen failed (${error.message}); continuing with plain lines\n`)
      .catch(() => {});
  }

  /** Performs an action of the user. Throws if it is not possible. */
  async function act(action: Action) {
    switch (action.type) {
      case 'quit':
        // The second time it does not wait.
        if (isEnding) io.exit(exitCodes.interrupted);
        isEnding = true;
        end();
        return;
      case 'copy':
      case 'copyCurl':
      case 'save':
        await runOwnAction(action, { cwd: io.cwd, curl, copy: screen.copy, tell });
        return;
    }
    if (emulator === undefined) return;
    const { control } = emulator;
    switch (action.type) {
      case 'advance':
        await control.advance(action.ms);
        tell(`The clock is ${(await control.time()).aheadMs / 1000} s ahead`);
        break;
      case 'close':
        tellReached(
          await control.close({ stream: action.stream }, closeCodes.serviceRestart, 'Closed by hand'),
          {
            done: `Closed session ${action.stream}`,
            ...action,
          },
        );
        break;
      case 'send':
        tellReached(await control.send({ stream: action.stream }, readMessage(action.text)), {
          done: `Sent to session ${action.stream}`,
          ...action,
        });
        break;
      case 'fault':
        tell(`Added fault ${(await control.faults.add(action.text)).fault.name}`);
        break;
      case 'clearFault':
        await control.faults.clear(action.id);
        tell('The fault has ended');
        break;
    }
    showState();
  }

  /** Reports success, or that the session has no token yet or has ended. */
  function tellReached(streams: readonly number[], { done, stream }: { done: string; stream: number }) {
    tell(streams.length > 0 ? done : `Session ${stream} was not reached: it has no token yet, or has ended`);
  }

  function curl() {
    return emulator === undefined ? '' : serviceFacts(emulator, { ...facts, ...known }).curl;
  }

  function showState() {
    look?.cancel();
    if (emulator === undefined || !isOnScreen) return;
    void readState(emulator.control);
  }

  /** Without the shared state the screen keeps what it has. */
  async function readState({ state }: Shown['control']) {
    try {
      screen.show({ type: 'state-seen', state: await state() });
    } catch (thrown) {
      if (!isUnavailable(thrown)) throw thrown;
    }
    look?.cancel();
    look = systemClock.after(lookEveryMs, showState, { background: true });
  }

  return {
    ended,
    show(event) {
      counters = countEvent(counters, event);
      if (event.type === 'listening') listening = event;
      if (isOnScreen) screen.show(event);
      else for (const line of emulatorLines(event, style)) void io.stdout.write(`${line}\n`).catch(() => {});
    },
    async note(text) {
      screen.show({ type: 'notice', text, stays: true });
    },
    attach(running, told) {
      emulator = running;
      known = told;
      screen.show({ type: 'addresses', page: known.page, ...serviceFacts(running, { ...facts, ...known }) });
      showState();
    },
    async close() {
      look?.cancel();
      await screen.close();
      if (!isOnScreen || listening === undefined) return;
      const lines = [
        ...(facts.linesOf?.(listening, known, style) ??
          startLines(listening, { ...speakers, ...facts, ...known }, style)),
        counterTexts(counters).join(', '),
      ];
      for (const line of lines) await io.stdout.write(`${line}\n`);
    },
  };
}

/** `speaking`, `listening`, `error CODE text`, or JSON. Throws `usage`. */
function readMessage(text: string) {
  const [word = '', code, ...rest] = text.split(' ');
  const state = (['speaking', 'listening'] as const).find((one) => one === text);
  if (state !== undefined) return { status: state };
  if (word === 'error' && code !== undefined) return { error: { code, message: rest.join(' ') || code } };
  const { json } = parseMessage({ status: undefined, errorCode: undefined, message: undefined, json: text });
  return { json };
}
