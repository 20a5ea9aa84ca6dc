import { type ClockTimer, systemClock } from '../../kernel/clock.ts';
import { toVoicectlError } from '../../kernel/errors.ts';
import { createDeferred } from '../../kernel/promises.ts';
import type { TerminalDevice } from '../../kernel/terminal-device.ts';
import { closeCodes } from '../../protocol/close-codes.ts';
import { faultCatalogue } from '../../protocol/faults.ts';
import { countEvent, counterTexts, noCounters } from '../../report/serve-counters.ts';
import { serviceFacts, speakersText } from '../../report/start-lines.ts';
import type { EmulatorEvent } from '../../service/events.ts';
import { isUnavailable } from '../../service/state/state.ts';
import type { ScreenStart } from '../../ui/port.ts';
import type { ServeStatus } from '../../ui/serve-model.ts';
import { parseMessage } from '../control/message.ts';
import { type CommandAction, openCommandScreen } from '../terminal/command-screen.ts';
import {
  createServeLines,
  type RunningFacts,
  type ServeContext,
  type ServeFacts,
  type ServeView,
  type ShownEmulator,
} from './view.ts';

/** How often the state of the emulator is read. */
const lookEveryMs = 250;

/** The emulator on the whole terminal, and keys that act on it. */
export function createServeScreen(
  context: ServeContext,
  { device, ...facts }: { device: TerminalDevice } & ServeFacts,
): ServeView {
  const { settings, io } = context;
  /** Used once the screen has failed. */
  let lines: ServeView | undefined;
  let emulator: ShownEmulator | undefined;
  let listening: (EmulatorEvent & { type: 'listening' }) | undefined;
  let counters = noCounters;
  let known: RunningFacts = {};
  let look: ClockTimer | undefined;
  const screen = openCommandScreen<EmulatorEvent | ServeStatus>(context, {
    device,
    start: startOf(settings, facts),
    fold: () => undefined,
    curl: () => (emulator === undefined ? '' : serviceFacts(emulator, { ...facts, ...known }).curl),
    async onAction(action) {
      if (emulator === undefined) return;
      screen.say(await perform(action, emulator.control));
      showState();
    },
    onLost() {
      look?.cancel();
      lines = openLines();
      lines.ended.then(() => ended.resolve());
    },
  });
  const ended = createDeferred();
  ended.promise.catch(() => {});
  screen.signal.addEventListener('abort', () => {
    look?.cancel();
    const reason = toVoicectlError(screen.signal.reason);
    if (reason.code === 'interrupted') ended.resolve();
    else ended.reject(reason);
  });

  /** Plain lines, from the first one. */
  function openLines(): ServeView {
    const view = createServeLines(context, facts);
    if (emulator !== undefined) view.attach(emulator, known);
    if (listening !== undefined) view.show(listening);
    return view;
  }

  function showState() {
    look?.cancel();
    if (emulator === undefined || screen.isLost) return;
    void readState(emulator.control);
  }

  /** Without the shared state the screen keeps what it has. */
  async function readState({ state }: ShownEmulator['control']) {
    screen.show({ type: 'counted', counters });
    try {
      screen.show({ type: 'state-seen', state: await state() });
    } catch (thrown) {
      if (!isUnavailable(thrown)) throw thrown;
    }
    look?.cancel();
    look = systemClock.after(lookEveryMs, showState, { background: true });
  }

  return {
    ended: ended.promise,
    show(event) {
      counters = countEvent(counters, event);
      if (event.type === 'listening') listening = event;
      if (lines === undefined) screen.show(event);
      else lines.show(event);
    },
    async note(text) {
      screen.say(text, { stays: true });
    },
    attach(running, runningFacts) {
      emulator = running;
      known = runningFacts;
      lines?.attach(running, known);
      screen.show({ type: 'addresses', page: known.page, ...serviceFacts(running, { ...facts, ...known }) });
      showState();
    },
    async close() {
      look?.cancel();
      await screen.close();
      if (lines !== undefined) return lines.close();
      if (screen.isLost || listening === undefined) return;
      const last = openLines();
      await last.close();
      await io.stdout.write(`${counterTexts(counters).join(', ')}\n`);
    },
  };
}

function startOf(
  { reply, scenario }: ServeContext['settings'],
  { command, head }: ServeFacts,
): Omit<ScreenStart, 'version' | 'ascii'> {
  return {
    screen: 'serve',
    ...(head ?? { command, subject: speakersText({ reply, scenario }) }),
    // A proxy has no clock to move.
    can: ['copy', 'copyCurl', 'save', ...(head ? [] : (['advance'] as const)), 'close', 'send', 'fault'],
    emulator: { faults: Object.entries(faultCatalogue).map(([name, { summary }]) => ({ name, summary })) },
  };
}

/** Performs an action of the user. Returns the result, for people. Throws if the action is not possible. */
async function perform(action: CommandAction, control: ShownEmulator['control']): Promise<string> {
  switch (action.type) {
    case 'advance':
      await control.advance(action.ms);
      return `The clock is ${(await control.time()).aheadMs / 1000} s ahead`;
    case 'close': {
      const { stream } = action;
      const reached = await control.close({ stream }, closeCodes.serviceRestart, 'Closed by hand');
      return reached.length > 0 ? `Closed stream ${stream}` : notReached(stream);
    }
    case 'send': {
      const { stream } = action;
      const reached = await control.send({ stream }, readMessage(action.text));
      return reached.length > 0 ? `Sent to stream ${stream}` : notReached(stream);
    }
    case 'fault':
      return `Added fault ${(await control.faults.add(action.text)).fault.name}`;
    case 'clearFault':
      await control.faults.clear(action.id);
      return 'The fault was cleared';
    default:
      return '';
  }
}

function notReached(stream: number): string {
  return `Stream ${stream} was not reached: it has no token yet, or has ended`;
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
