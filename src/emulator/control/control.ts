import type { MovableClock } from '../../kernel/clock.ts';
import { version } from '../../kernel/version.ts';
import { closeCodes } from '../../protocol/close-codes.ts';
import type { EmulatorState, StreamSelector } from '../../protocol/control.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import { writeError, writeStatus } from '../../protocol/messages.ts';
import type { Faults } from '../faults/faults.ts';
import { playPcm } from '../replies/playable.ts';
import type { Journal } from '../state/journal.ts';
import type { RateLimiter } from '../state/rate-limiter.ts';
import type { OpenStream, VoiceEndpoint } from '../streams/voice-endpoint.ts';
import type { ControlMessage, EmulatorControl } from './emulator-control.ts';

export interface ControlOptions {
  clock: MovableClock;
  dialect: Dialect;
  journal: Journal;
  limiter: RateLimiter;
  rateLimit: number;
  maxConnections: number;
  faults: Faults;
  voice: VoiceEndpoint;
}

type AuthorisedStream = OpenStream & { live: NonNullable<OpenStream['live']> };

export function createControl(options: ControlOptions): EmulatorControl {
  const { clock, dialect, journal, limiter, faults, voice } = options;
  let aheadMs = 0;

  const select = ({ stream, device }: StreamSelector): OpenStream[] =>
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
  const close: EmulatorControl['close'] = (selector, code, reason) =>
    select(selector).map(({ connection }) => {
      connection.closeWith(code, reason);
      return connection.id;
    });
  const time = () => ({ nowMs: clock.wall(), aheadMs });

  return {
    journal,
    faults,
    time,
    state: () => ({
      version,
      clock: { now: isoTime(clock.wall()), aheadMs },
      devices: describeDevices(options),
      streams: describeStreams(options),
      tokens: describeTokens(options),
      faults: describeFaults(faults),
    }),
    advance(ms) {
      aheadMs += ms;
      clock.advance(ms);
    },
    reset() {
      const reached = close({}, closeCodes.serviceRestart, 'The emulator was reset');
      limiter.clear();
      faults.reset();
      journal.clear();
      return reached;
    },
    send: (selector, message) =>
      act(selector, ({ connection }) => connection.sendText(writeMessage(dialect, message))),
    speak: (selector, pcm) => act(selector, (open) => open.live.voice.say(playPcm(pcm))),
    event: (selector, name) => act(selector, (open) => open.live.reply.event?.(name)),
    close,
  };
}

function writeMessage(dialect: Dialect, message: ControlMessage): string {
  if ('status' in message) return writeStatus(dialect, message.status);
  if ('error' in message) return writeError(dialect, message.error.code, message.error.message);
  return JSON.stringify(message.json);
}

function describeStreams({ clock, voice }: ControlOptions): EmulatorState['streams'] {
  return voice.streams().map(({ connection: { id, totals, startedAt, device, levels } }) => ({
    stream: id,
    device: totals.device ?? null,
    jti: totals.jti ?? null,
    durationMs: Math.round(clock.now() - startedAt),
    framesIn: totals.framesIn,
    bytesIn: totals.bytesIn,
    framesOut: totals.framesOut,
    bytesOut: totals.bytesOut,
    levels: levels(),
    ...device.verdict(),
  }));
}

/** Every device that has a window or a connection. */
function describeDevices({
  limiter,
  rateLimit,
  maxConnections,
  voice,
}: ControlOptions): EmulatorState['devices'] {
  const windows = new Map(limiter.windows().map((window) => [window.device, window]));
  const connected = voice.streams().flatMap(({ connection }) => connection.totals.device ?? []);
  return [...new Set([...windows.keys(), ...connected])].map((device) => {
    const window = windows.get(device);
    return {
      device,
      connections: connected.filter((one) => one === device).length,
      maxConnections,
      requests: window?.requests ?? 0,
      limit: rateLimit,
      resetAt: window === undefined ? null : isoTime(window.resetAtMs),
    };
  });
}

/** The tokens that have not expired, by what the journal remembers of them. */
function describeTokens({ clock, journal }: ControlOptions): EmulatorState['tokens'] {
  const all = Number.POSITIVE_INFINITY;
  const used = new Set(
    journal.read({ type: 'stream-authorised' }, all).map((entry) => 'jti' in entry && entry.jti),
  );
  return journal.read({ type: 'token-issued' }, all).flatMap((entry) => {
    if (entry.type !== 'token-issued' || entry.exp * 1000 <= clock.wall()) return [];
    const { jti, device, exp } = entry;
    return [{ jti, device, expiresAt: isoTime(exp * 1000), used: used.has(jti) }];
  });
}

/** The active faults, as the control API shows them. */
export function describeFaults(faults: Pick<Faults, 'list'>): EmulatorState['faults'] {
  return faults.list().map(({ id, fault, struck }) => ({ id, struck, ...fault }));
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
