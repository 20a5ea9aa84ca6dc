import type { DeviceCheck } from '../../audio/verdict/device-verdict.ts';
import type { Clock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { version } from '../../kernel/version.ts';
import { msForBytes } from '../../protocol/audio-format.ts';
import { closeCodes } from '../../protocol/close-codes.ts';
import type { EmulatorState, StreamSelector } from '../../protocol/control.ts';
import type { TemplateValues } from '../../protocol/dialect/templates.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import { writeError, writeStatus } from '../../protocol/messages.ts';
import type { EmulatorEvents } from '../events.ts';
import type { Faults } from '../faults/faults.ts';
import { playPcm } from '../replies/playable.ts';
import type { Reply, Voice } from '../replies/reply.ts';
import { whenKnown } from '../state/eventual.ts';
import type { MemoryState } from '../state/memory.ts';
import type { State, Survey } from '../state/state.ts';
import type { Connection } from '../streams/connection.ts';
import type { AnyControl, ControlMessage, EmulatorControl } from './emulator-control.ts';

export interface ControlOptions {
  clock: Clock;
  dialect: Dialect;
  state: State;
  rateLimit: number;
  maxConnections: number;
  faults: Faults;
  voice: { streams(): readonly ControlledStream[] };
  /** Emits an event for everything that was only counted so far. */
  tellFloods: () => void;
  /** Called at a reset. */
  forget?: (() => void) | undefined;
  events: EmulatorEvents;
}

/** A stream that can be controlled: of an emulator, or through a proxy. */
export interface ControlledStream {
  connection: Pick<
    Connection,
    'id' | 'totals' | 'durationMs' | 'levels' | 'sendText' | 'values' | 'closeWith'
  > & { device: Pick<DeviceCheck, 'verdict'> };
  /** Undefined until its token is accepted. */
  live:
    | { voice: Pick<Voice, 'speaking' | 'status' | 'say'>; reply: Pick<Reply, 'said' | 'event'> }
    | undefined;
}

type AuthorisedStream = ControlledStream & { live: NonNullable<ControlledStream['live']> };

/** If the state answers at once, so does the control. */
export function createControl(options: ControlOptions & { state: MemoryState }): EmulatorControl;
export function createControl(options: ControlOptions): AnyControl;
export function createControl(options: ControlOptions): AnyControl {
  const { clock, dialect, state, faults, voice, events, tellFloods } = options;

  /** Emits an event for what somebody did. */
  const tell = (what: string, streams?: number[]) => {
    events.emit({ type: 'control', what, ...(streams === undefined ? {} : { streams }) });
  };

  const select = ({ stream, device }: StreamSelector): ControlledStream[] =>
    voice
      .streams()
      .filter(
        ({ connection: { id, totals } }) =>
          id === (stream ?? id) && totals.device === (device ?? totals.device),
      );

  const act = (selector: StreamSelector, action: (open: AuthorisedStream) => void): number[] =>
    select(selector)
      .filter((open): open is AuthorisedStream => open.live !== undefined)
      .map((open) => {
        action(open);
        return open.connection.id;
      });

  /** Also of a stream that has not presented its token yet. */
  const close = (selector: StreamSelector, code: number, reason: string): number[] =>
    select(selector).map(({ connection }) => {
      connection.closeWith(code, reason);
      return connection.id;
    });

  return {
    journal: state.journal,
    faults: createLoggedFaults(faults, tell),
    time: () => ({ nowMs: clock.wall(), aheadMs: state.clockOffset() }),
    state: () => whenKnown(state.survey(), (survey) => describe(options, survey)),
    advance(ms) {
      if (!(ms >= 0))
        throw new VoicectlError('usage', `The clock cannot be moved by ${ms} ms: it never goes back`);
      return whenKnown(state.advance(ms), () => tell(`the clock moves forward by ${ms / 1000} s`));
    },
    reset() {
      const reached = close({}, closeCodes.serviceRestart, 'The emulator was reset');
      faults.reset();
      options.forget?.();
      tellFloods();
      return whenKnown(state.forget(), () => {
        tell('the emulator is reset', reached);
        return reached;
      });
    },
    send: (selector, message) =>
      act(selector, ({ connection }) =>
        connection.sendText(writeMessage(dialect, message, connection.values)),
      ),
    speak(selector, pcm) {
      const reached = act(selector, ({ live: { voice: speaker, reply } }) => {
        // A reply that reports its end also reports its start.
        if (!speaker.speaking && reply.said !== undefined) speaker.status('speaking');
        speaker.say(playPcm(pcm));
      });
      tell(`${(msForBytes(pcm.length) / 1000).toFixed(2)} s of speech`, reached);
      return reached;
    },
    event(selector, name) {
      const waiting = act(selector, (open) => open.live.reply.event?.(name)).filter(
        (id) => replyOf(voice, id)?.event !== undefined,
      );
      tell(`event ${JSON.stringify(name)}${waiting.length === 0 ? ': nobody waits for it' : ''}`, waiting);
      return waiting;
    },
    close,
  };
}

function replyOf(voice: ControlOptions['voice'], id: number) {
  return voice.streams().find(({ connection }) => connection.id === id)?.live?.reply;
}

/** The faults, with an event for each that somebody adds or removes. */
function createLoggedFaults(faults: Faults, tell: (what: string) => void): EmulatorControl['faults'] {
  return {
    list: faults.list,
    add(input) {
      const added = faults.add(input);
      tell(`fault ${added.id} is added: ${added.fault.name}`);
      return added;
    },
    clear(id) {
      const cleared = faults.clear(id);
      tell(`${cleared} ${cleared === 1 ? 'fault is' : 'faults are'} taken away`);
      return cleared;
    },
  };
}

function writeMessage(dialect: Dialect, message: ControlMessage, values: TemplateValues): string {
  if ('status' in message) return writeStatus(dialect, message.status, values);
  if ('error' in message) return writeError(dialect, message.error.code, message.error.message, values);
  return JSON.stringify(message.json);
}

function describe(options: ControlOptions, survey: Survey): EmulatorState {
  const { clock, state, faults } = options;
  return {
    version,
    clock: { now: isoTime(clock.wall()), aheadMs: state.clockOffset() },
    devices: describeDevices(options, survey),
    streams: describeStreams(options),
    tokens: describeTokens(survey),
    faults: describeFaults(faults),
  };
}

function describeStreams({ voice }: ControlOptions): EmulatorState['streams'] {
  return voice.streams().map(({ connection: { id, totals, durationMs, device, levels } }) => ({
    stream: id,
    device: totals.device ?? null,
    jti: totals.jti ?? null,
    durationMs: durationMs(),
    framesIn: totals.framesIn,
    bytesIn: totals.bytesIn,
    framesOut: totals.framesOut,
    bytesOut: totals.bytesOut,
    levels: levels(),
    ...device.verdict(),
  }));
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
export function describeFaults(faults: Pick<Faults, 'list'>): EmulatorState['faults'] {
  return faults.list().map(({ id, fault, struck }) => ({ id, struck, ...fault }));
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
