import type { EmulatorState, StreamSelector } from '../../protocol/control.ts';
import type { TemplateValues } from '../../protocol/dialect/templates.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import { type ReplyState, writeError, writeStatus } from '../../protocol/messages.ts';
import type { OpenStream } from '../streams/open-stream.ts';
import { type Playable, playPcm } from '../streams/playable.ts';
import type { ControlMessage } from './emulator-control.ts';

/** A stream that can be controlled: of an emulator, or through a proxy. */
export interface ControlledStream {
  connection: Pick<
    OpenStream,
    'id' | 'remote' | 'totals' | 'durationMs' | 'levels' | 'sendText' | 'values' | 'closeWith' | 'device'
  >;
  /** The claims of its token; undefined until the token is accepted. */
  claims: Readonly<object> | undefined;
  /** Undefined until its token is accepted. */
  live:
    | {
        voice: { readonly speaking: boolean; status(state: ReplyState): void; say(playable: Playable): void };
        /** Who speaks on it: whether it reports the end of what it says, and hears named events. */
        reply: { said?(): void; event?(name: string): void };
      }
    | undefined;
}

interface ControlledStreams {
  streams(): readonly ControlledStream[];
}

/** Acts on streams, and says which ones it reached. */
export interface StreamActions {
  list(): EmulatorState['streams'];
  send(selector: StreamSelector, message: ControlMessage): number[];
  speak(selector: StreamSelector, pcm: Buffer): number[];
  event(selector: StreamSelector, name: string): number[];
  close(selector: StreamSelector, code: number, reason: string): number[];
}

type AuthorisedStream = ControlledStream & { live: NonNullable<ControlledStream['live']> };

/** Acts on the streams of this emulator. */
export function createStreamActions({
  voice,
  dialect,
}: {
  voice: ControlledStreams;
  dialect: Dialect;
}): StreamActions {
  const select = ({ stream, device }: StreamSelector): ControlledStream[] =>
    voice
      .streams()
      .filter(
        ({ connection: { id, totals } }) =>
          id === (stream ?? id) && totals.device === (device ?? totals.device),
      );

  const act = (
    selector: StreamSelector,
    action: (open: AuthorisedStream) => void,
    takes = (_: AuthorisedStream) => true,
  ): number[] =>
    select(selector)
      // Before any action: it may end its stream.
      .filter((open): open is AuthorisedStream => open.live !== undefined && takes(open as AuthorisedStream))
      .map((open) => {
        action(open);
        return open.connection.id;
      });

  return {
    list: () => voice.streams().map((stream) => describe(stream, dialect)),
    send: (selector, message) =>
      act(selector, ({ connection }) =>
        connection.sendText(writeMessage(dialect, message, connection.values)),
      ),
    speak: (selector, pcm) =>
      act(selector, ({ live: { voice: speaker, reply } }) => {
        // A reply that reports its end also reports its start.
        if (!speaker.speaking && reply.said !== undefined) speaker.status('speaking');
        speaker.say(playPcm(pcm));
      }),
    event: (selector, name) =>
      act(
        selector,
        ({ live }) => live.reply.event?.(name),
        ({ live }) => live.reply.event !== undefined,
      ),
    /** Closes streams that have not presented their token yet, too. */
    close: (selector, code, reason) =>
      select(selector).map(({ connection }) => {
        connection.closeWith(code, reason);
        return connection.id;
      }),
  };
}

function writeMessage(dialect: Dialect, message: ControlMessage, values: TemplateValues): string {
  if ('status' in message) return writeStatus(dialect, message.status, values);
  if ('error' in message) return writeError(dialect, message.error.code, message.error.message, values);
  return JSON.stringify(message.json);
}

function describe(
  { connection: { id, remote, totals, durationMs, device, levels }, claims }: ControlledStream,
  { token }: Dialect,
): EmulatorState['streams'][number] {
  // Without `jti` the emulator names a token by its hash.
  const { jti, ...others } = { jti: undefined, ...claims };
  const shown = token.jti && jti !== undefined ? { ...others, jti } : others;
  return {
    stream: id,
    device: totals.device ?? null,
    jti: totals.jti ?? null,
    remote,
    claims: claims === undefined ? null : shown,
    durationMs: durationMs(),
    framesIn: totals.framesIn,
    bytesIn: totals.bytesIn,
    framesOut: totals.framesOut,
    bytesOut: totals.bytesOut,
    levels: levels(),
    ...device.verdict(),
  };
}
