import * as z from 'zod';
import { pcmBytes } from '../../audio/whole-pcm.ts';
import type { Clock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { version } from '../../kernel/version.ts';
import { msForBytes } from '../../protocol/audio-format.ts';
import { closeCodes } from '../../protocol/close-codes.ts';
import {
  advanceSchema,
  type EmulatorState,
  eventSchema,
  messageContentSchema,
  streamsSchema,
} from '../../protocol/control.ts';
import { describeIssue, readOnce, schemaProblemText } from '../../protocol/schema-problem.ts';
import { secondsText } from '../../protocol/time-text.ts';
import { concealKeysInState } from '../conceal-keys.ts';
import type { EmulatorEvents } from '../events.ts';
import type { Faults } from '../faults/faults.ts';
import type { MemoryState } from '../state/memory.ts';
import { type Eventually, type State, type Survey, whenKnown } from '../state/state.ts';
import { checkClose } from '../streams/open-stream.ts';
import type { AnyControl, EmulatorControl } from './emulator-control.ts';
import type { StreamActions } from './stream-actions.ts';

type ControlledFaults = Pick<Faults, 'add' | 'list' | 'clear' | 'reset'>;

export interface ControlOptions {
  clock: Clock;
  state: State;
  rateLimit: number;
  maxConnections: number;
  /** Keys that a device may have sent as its name: the state shows none of them. */
  acceptKeys?: readonly string[] | undefined;
  /** Whether the service is behind a proxy, whose clock is not its own. */
  isProxy?: boolean;
  faults: Eventually<ControlledFaults>;
  streams: Eventually<StreamActions>;
  /** Emits an event for everything that was only counted so far. */
  flushFloods: () => void;
  /** Called at a reset. */
  forget?: (() => void) | undefined;
  events: EmulatorEvents;
}

interface LocalControlOptions extends ControlOptions {
  state: MemoryState;
  faults: ControlledFaults;
  streams: StreamActions;
}

/** Returns values if state, faults and streams return values, else promises. */
export function createControl(options: LocalControlOptions): EmulatorControl;
export function createControl(options: ControlOptions): AnyControl;
export function createControl(options: ControlOptions): AnyControl {
  const { clock, state, faults, streams, events, flushFloods, acceptKeys = [] } = options;
  const conceal = concealKeysInState(acceptKeys);

  /** Emits an event for an action. */
  const log = (what: string, reached?: number[], more: { byMs?: number } = {}) => {
    events.emit({ type: 'control', what, ...(reached === undefined ? {} : { streams: reached }), ...more });
  };

  return {
    journal: state.journal,
    faults: createLoggedFaults(faults, log),
    time: () => ({ nowMs: clock.wall(), ...aheadOf(options) }),
    state: () =>
      whenKnown(state.survey(), (survey) =>
        whenKnown(streams.list(), (listed) =>
          whenKnown(faults.list(), (active) => conceal(describe(options, { survey, listed, active }))),
        ),
      ),
    advance(ms) {
      checkCall('advance', { advanceMs: ms });
      return whenKnown(state.advance(ms), () =>
        log(`the clock was moved forward by ${ms / 1000} s`, undefined, { byMs: ms }),
      );
    },
    reset: () =>
      whenKnown(streams.close({}, closeCodes.serviceRestart, 'The emulator was reset'), (reached) =>
        whenKnown(faults.reset(), () => {
          options.forget?.();
          flushFloods();
          return whenKnown(state.forget(), () => {
            log('the emulator was reset', reached);
            return reached;
          });
        }),
      ),
    send(selector, message) {
      checkCall('send', { selector, message });
      return streams.send(selector, message);
    },
    speak(selector, pcm) {
      checkCall('speak', { selector });
      const bytes = pcmBytes(pcm);
      return whenKnown(streams.speak(selector, bytes), (reached) => {
        log(`${secondsText(msForBytes(bytes.length))} of speech`, reached);
        return reached;
      });
    },
    event(selector, name) {
      checkCall('event', { selector, name });
      return whenKnown(streams.event(selector, name), (waiting) => {
        log(
          `event ${JSON.stringify(name)}${waiting.length === 0 ? ': no stream is waiting for it' : ''}`,
          waiting,
        );
        return waiting;
      });
    },
    close(selector, code = closeCodes.normal, reason = '') {
      checkCall('close', { selector, code, reason });
      checkClose(code, reason);
      return streams.close(selector, code, reason);
    },
  };
}

/** The faults, with an event for each that somebody adds or removes. */
function createLoggedFaults(
  faults: Eventually<ControlledFaults>,
  log: (what: string) => void,
): AnyControl['faults'] {
  return {
    list: faults.list,
    add: (input) =>
      whenKnown(faults.add(input), (added) => {
        log(`fault ${added.id} was added: ${added.fault.name}`);
        return added;
      }),
    clear: (id) =>
      whenKnown(faults.clear(id), (cleared) => {
        log(`${cleared} ${cleared === 1 ? 'fault was' : 'faults were'} cleared`);
        return cleared;
      }),
  };
}

interface Found {
  survey: Survey;
  listed: EmulatorState['streams'];
  active: ReturnType<Faults['list']>;
}

function describe(options: ControlOptions, { survey, listed, active }: Found): EmulatorState {
  const { clock } = options;
  return {
    version,
    clock: { now: isoTime(clock.wall()), ...aheadOf(options) },
    devices: describeDevices(options, survey),
    streams: listed,
    tokens: describeTokens(survey),
    faults: describeFaults(active),
  };
}

function aheadOf({ state, isProxy }: ControlOptions): { aheadMs: number; proxy?: true } {
  return { aheadMs: state.clockOffset(), ...(isProxy ? { proxy: true } : {}) };
}

/** Every device that has a window or a connection. */
function describeDevices(
  { rateLimit, maxConnections }: ControlOptions,
  survey: Survey,
): EmulatorState['devices'] {
  const windows = new Map(survey.windows.map((window) => [window.device, window]));
  return [...new Set([...windows.keys(), ...survey.connections.keys()])].map((device) => {
    const window = windows.get(device);
    return {
      device,
      connections: survey.connections.get(device) ?? 0,
      maxConnections,
      requests: window?.requests ?? 0,
      limit: rateLimit,
      resetAt: window === undefined ? null : isoTime(window.resetAtMs),
    };
  });
}

function describeTokens({ tokens }: Survey): EmulatorState['tokens'] {
  return tokens.map(({ token: { jti, sub, exp }, used }) => ({
    jti,
    device: sub,
    expiresAt: isoTime(exp * 1000),
    used,
  }));
}

/** The active faults, as the control API shows them. */
export function describeFaults(active: ReturnType<Faults['list']>): EmulatorState['faults'] {
  return active.map(({ id, fault, struck }) => ({ id, struck, ...fault }));
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

const selector = streamsSchema;
const schemas = {
  advance: advanceSchema,
  send: z.strictObject({ selector, message: messageContentSchema }),
  speak: z.object({ selector }),
  event: z.strictObject({ selector, name: eventSchema.shape.event }),
  close: z.object({ selector, code: z.number(), reason: z.string() }),
};

/** Throws `usage` naming an argument of a control call that has a wrong value. */
function checkCall<Call extends keyof typeof schemas>(
  call: Call,
  given: z.input<(typeof schemas)[Call]>,
): void {
  const [issue] = schemas[call].safeParse(given, readOnce).error?.issues ?? [];
  if (issue === undefined) return;
  throw new VoicectlError('usage', `control.${call}: ${schemaProblemText(describeIssue(issue))}`);
}
