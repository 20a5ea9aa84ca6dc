import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { VoicectlError } from '../../../kernel/errors.ts';
import type { Io } from '../../../kernel/io.ts';

/** The lines that somebody types, or that come through a pipe. */
export interface TypedInput extends AsyncIterable<string> {
  /** Prints a line above the one that is being typed. */
  print(line: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Reads lines from now on: on a terminal with editing and history, and with the typed line kept below what is printed.
 * `onInterrupt`: Ctrl-C.
 */
export function openTypedInput(
  { stdin, stdout, terminal }: Pick<Io, 'stdin' | 'stdout' | 'terminal'>,
  { isTerminal, onInterrupt }: { isTerminal: boolean; onInterrupt: () => void },
): TypedInput {
  const output = new Writable({
    decodeStrings: false,
    write(text: string | Buffer, _encoding, done) {
      stdout.write(text.toString()).then(() => done(), done);
    },
  });
  // The writer of the line is told too.
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

/** The lines of a pipe. Reads no more than is asked for. Throws `bad-input` for a line that is too long. */
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
