import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { reframe } from '../../../audio/blocks.ts';
import { createPacer } from '../../../audio/pacer.ts';
import { openWavFile } from '../../../audio/wav/wav-source.ts';
import type { Target } from '../../../config/target.ts';
import { findShippedSound } from '../../../files/shipped-file.ts';
import { waitUntil } from '../../../kernel/clock.ts';
import { toVoicectlError, VoicectlError } from '../../../kernel/errors.ts';
import type { Io } from '../../../kernel/io.ts';
import { abortable } from '../../../kernel/promises.ts';
import { createRedactor, type Redactor } from '../../../kernel/redact.ts';
import { bytesForMs } from '../../../protocol/audio-format.ts';
import { createMessageReader } from '../../../protocol/messages.ts';
import { serviceUrl, streamPath } from '../../../protocol/paths.ts';
import { type Connection, connect, cutSoonAfter } from '../../../wire/client/connect.ts';
import { createOutbox } from '../../../wire/client/outbox.ts';
import { ServiceErrors, type StreamClose } from '../../../wire/client/refusal-error.ts';
import { requestToken } from '../../../wire/client/token.ts';
import { concealTokens } from '../../../wire/conceal.ts';
import type { Tap } from '../../../wire/tap.ts';
import type { ContextOf } from '../../command.ts';
import { openTarget } from '../../service/target.ts';
import { readAuth, refuseInputForBoth } from '../session-settings.ts';
import { checkSoundFlags } from '../sound-flags.ts';
import { createFrameView, type FrameView } from './frame-view.ts';
import { helpLines, readTyped, type Typed } from './typed-line.ts';

/**
 * A raw session: requests a token, connects, presents the token, and then sends what is typed and shows every message in both
 * directions. Throws the failure of the token request or of the stream.
 */
export async function runInteractive(context: ContextOf<'stream'>): Promise<void> {
  const { io, json, settings, signal } = context;
  const isTerminal = io.terminal !== undefined && !json;
  checkSoundFlags(context);
  refuseInputForBoth(context, 'the typed lines');
  const target = await openTarget(context, { needsKey: settings.tokenFrom === undefined });
  const stopped = new AbortController();
  const until = AbortSignal.any([signal, stopped.signal]);
  const interrupted = () => stopped.abort(new VoicectlError('interrupted', 'Interrupted'));
  const input = openTypedInput(io, { isTerminal, onInterrupt: interrupted });
  // With --json, only programs read standard output.
  const tell = json ? context.warn : input.print;
  const view = createFrameView(context, input.print);
  try {
    const joined = await join(context, target, { tap: view.tap, signal: until });
    if (isTerminal) await input.print('Type a message, or :help.');
    await converse(joined, { context, input, view, tell, signal: until });
  } finally {
    view.close();
    await input.close();
    await target.close();
  }
}

interface Joined {
  connection: Connection;
  /** Why the service has ended it; undefined if it did so as it should. */
  breakage(close: StreamClose): VoicectlError | undefined;
}

async function join(
  context: ContextOf<'stream'>,
  { baseUrl, wsUrl, device, ca, ...target }: Target,
  { tap, signal }: { tap: Tap; signal: AbortSignal },
): Promise<Joined> {
  const { clock } = context.io;
  const redactor: Redactor = createRedactor();
  const leg = { ca, clock, signal, redactor, tap };
  const auth = await readAuth(context, target);
  if ('token' in auth) redactor.conceal(auth.token);
  const token =
    'token' in auth ? auth.token : (await requestToken({ ...auth, ...leg, baseUrl, deviceId: device })).token;
  const errors = new ServiceErrors();
  const readText = createMessageReader();
  let isConfirmed = false;
  const connection = await connect({
    ...leg,
    url: serviceUrl(wsUrl, streamPath),
    onText(text) {
      const message = readText(concealTokens(text));
      errors.heard(message);
      isConfirmed ||= message.category === 'connected';
    },
    onBinary: () => errors.heardAudio(),
  });
  connection.present(token);
  return {
    connection,
    breakage: (close) => errors.endError(close, isConfirmed ? 'live' : 'authorising'),
  };
}

interface Parts {
  context: ContextOf<'stream'>;
  input: TypedInput;
  view: FrameView;
  /** Prints a line for the person who types. */
  tell(line: string): Promise<void>;
  signal: AbortSignal;
}

/** Sends what is typed, until the stream or the input ends. */
async function converse(
  { connection, breakage }: Joined,
  { context, input, view, tell, signal }: Parts,
): Promise<void> {
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const sender = createSender(connection, context, until);
  const speaker = createSpeaker(sender, context, until);
  let isOurs = false;
  const typed = async () => {
    for await (const line of input) {
      const asked = readTyped(line);
      if (asked.type === 'wait') await waitUntil(context.io.clock, context.io.clock.now() + asked.ms, until);
      else if (asked.type === 'close') {
        isOurs = true;
        await connection.close(asked.code);
        return;
      } else await perform(asked, { sender, context, tell, view, speaker });
    }
    // A script has no more lines: its audio is still sent, and answers have some time.
    await speaker.done();
    if (context.io.terminal === undefined)
      await waitUntil(context.io.clock, context.io.clock.now() + context.settings.settle, until);
    isOurs = true;
    await connection.close();
  };
  const closed = connection.closed.finally(() =>
    over.abort(new VoicectlError('interrupted', 'The stream has ended')),
  );
  void cutSoonAfter(signal, connection);
  try {
    await abortable(Promise.race([closed, typed()]), signal);
  } catch (thrown) {
    const isOver = over.signal.aborted;
    if (!isOver || signal.aborted) await connection.close();
    if (!isOver) throw thrown;
  } finally {
    speaker.stop();
  }
  const end = await closed;
  if (connection.failure !== undefined && !signal.aborted) throw connection.failure;
  signal.throwIfAborted();
  const why = isOurs ? undefined : breakage(end);
  if (why !== undefined) throw why;
}

type Sender = ReturnType<typeof createSender>;
type Speaker = ReturnType<typeof createSpeaker>;

async function perform(
  typed: Exclude<Typed, { type: 'wait' | 'close' }>,
  {
    sender,
    context,
    tell,
    view,
    speaker,
  }: Pick<Parts, 'context' | 'tell' | 'view'> & { sender: Sender; speaker: Speaker },
): Promise<void> {
  const { strictFormat } = context.settings;
  switch (typed.type) {
    case 'text':
      return sender.text(typed.text);
    case 'binary':
      return sender.binary(typed.data);
    case 'ping':
      return sender.ping();
    case 'file':
      return speaker.say(async (signal) => {
        const path = await findShippedSound(typed.path);
        return (await openWavFile(path, { strictFormat, signal })).read(signal);
      }, tell);
    case 'silence':
      return speaker.say(async () => [Buffer.alloc(bytesForMs(typed.ms))], tell);
    case 'stop':
      return speaker.stop();
    case 'fold':
      return view.fold(typed.isOn);
    case 'help':
      for (const line of helpLines) await tell(line);
      return;
    case 'wrong':
      return tell(`! ${typed.why}`);
    case 'nothing':
      return;
  }
}

/**
 * Sends messages one after the other, each when the service has read enough of those before it. Throws `timed-out` if it
 * reads nothing.
 */
function createSender(connection: Connection, { settings, io }: ContextOf<'stream'>, until: AbortSignal) {
  const outbox = createOutbox(connection, { clock: io.clock });
  const ready = (signal: AbortSignal) => abortable(outbox.drained(settings.maxFrameBuffer), signal);
  // Any message may be the last that waits in the socket, so each wakes those that wait for it.
  return {
    async text(text: string): Promise<void> {
      await ready(until);
      connection.sendText(text, outbox.wake);
    },
    async binary(data: Buffer, signal = until): Promise<void> {
      await ready(signal);
      connection.sendBinary(data, outbox.wake);
    },
    async ping(): Promise<void> {
      await ready(until);
      connection.ping(outbox.wake);
    },
  };
}

/** Maximum number of files and silences that wait for the audio before them; further lines wait too. */
const maxWaiting = 100;

/** Sends audio in frames at the pace of the flags, one piece after the other, while other lines are typed. */
function createSpeaker(sender: Sender, { settings, io }: ContextOf<'stream'>, until: AbortSignal) {
  let stopped = new AbortController();
  let saying: Promise<void> = Promise.resolve();
  let waiting = 0;
  const send = async (
    open: (signal: AbortSignal) => Promise<Iterable<Buffer> | AsyncIterable<Buffer>>,
    signal: AbortSignal,
  ) => {
    const { frameMs, pace } = settings;
    const pacer = createPacer({ pace, frameMs, clock: io.clock });
    async function* chunks() {
      yield* await open(signal);
    }
    for await (const frame of reframe(chunks(), bytesForMs(frameMs))) {
      await pacer.next(signal);
      await sender.binary(frame, signal);
    }
  };
  return {
    async say(
      open: (signal: AbortSignal) => Promise<Iterable<Buffer> | AsyncIterable<Buffer>>,
      tell: Parts['tell'],
    ): Promise<void> {
      if (waiting >= maxWaiting) await saying;
      const signal = AbortSignal.any([until, stopped.signal]);
      waiting += 1;
      saying = saying
        .then(() => (signal.aborted ? undefined : send(open, signal)))
        .catch(async (thrown) => {
          if (!signal.aborted) await tell(`! ${toVoicectlError(thrown).message}`);
        })
        .finally(() => {
          waiting -= 1;
        });
    },
    stop() {
      stopped.abort();
      stopped = new AbortController();
    },
    done: () => saying,
  };
}

/** Lines that are typed, or come through a pipe. */
interface TypedInput extends AsyncIterable<string> {
  /** Prints a line above the line that is being typed. */
  print(line: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Reads lines from now on: on a terminal with editing and history, and with the typed line kept below what is printed.
 * `onInterrupt`: Ctrl-C.
 */
function openTypedInput(
  { stdin, stdout, terminal }: Pick<Io, 'stdin' | 'stdout' | 'terminal'>,
  { isTerminal, onInterrupt }: { isTerminal: boolean; onInterrupt: () => void },
): TypedInput {
  const output = new Writable({
    decodeStrings: false,
    write(text: string | Buffer, _encoding, done) {
      stdout.write(text.toString()).then(() => done(), done);
    },
  });
  // The writer of the line gets the error too.
  output.on('error', () => {});
  // Readline asks for the width of lines.
  Object.defineProperty(output, 'columns', { get: () => terminal?.columns });
  const lines = isTerminal
    ? createInterface({ input: stdin, output, terminal: true, prompt: '> ' })
    : undefined;
  lines?.on('SIGINT', onInterrupt);
  // Lines that come before somebody asks for them are kept by the iterator alone.
  const iterator = lines?.[Symbol.asyncIterator]() ?? pipedLines(stdin);
  // Everything goes through one queue: an echoed key must not overtake a line.
  const write = (text: string) =>
    new Promise<void>((resolve, reject) => {
      output.write(text, (error) => (error ? reject(error) : resolve()));
    });
  return {
    print(line) {
      if (lines === undefined) return write(`${line}\n`);
      const written = write(`\r\u001b[K${line}\n`);
      lines.prompt(true);
      return written;
    },
    async *[Symbol.asyncIterator]() {
      lines?.prompt();
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
        yield next.value;
        lines?.prompt();
      }
    },
    async close() {
      lines?.close();
      if (isTerminal) await write('\r\u001b[K').catch(() => {});
    },
  };
}

/** Longest line that is read from a pipe: as long as a message of the service may be. */
const maxLineBytes = 1024 * 1024;

/** The lines of a pipe. Reads no more than needed. Throws `bad-input` for a line that is too long. */
async function* pipedLines(input: Readable): AsyncGenerator<string> {
  let begun: Buffer[] = [];
  let bytes = 0;
  const finish = (end: Buffer) => {
    const line = Buffer.concat([...begun, end]).toString();
    begun = [];
    bytes = 0;
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  };
  for await (const chunk of input) {
    let rest = Buffer.from(chunk);
    for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
      yield finish(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
    }
    begun.push(rest);
    bytes += rest.length;
    if (bytes > maxLineBytes)
      throw new VoicectlError('bad-input', `A line of standard input is longer than ${maxLineBytes} bytes`);
  }
  if (bytes > 0) yield finish(Buffer.alloc(0));
}

const newline = 0x0a;
