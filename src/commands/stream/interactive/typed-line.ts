import { closeCodes, isSendableCloseCode } from '../../../protocol/close-codes.ts';
import { ownValue } from '../../../protocol/parse-json.ts';
import { lacksUnit, readDuration } from '../../../protocol/read-duration.ts';

/** What a line that somebody typed asks for. */
export type Typed =
  | { type: 'text'; text: string }
  | { type: 'binary'; data: Buffer }
  /** Audio in frames, in real time. */
  | { type: 'file'; path: string }
  | { type: 'silence'; ms: number }
  | { type: 'stop' }
  | { type: 'wait'; ms: number }
  | { type: 'ping' }
  | { type: 'fold'; isOn: boolean }
  | { type: 'close'; code: number }
  | { type: 'help' }
  | { type: 'nothing' }
  | { type: 'wrong'; why: string };

interface TypedCommand {
  /** As it is written, with its argument. */
  shown: string;
  help: string;
  read: (rest: string) => Typed;
}

/** Every command, in the order of the help. */
const commands: Record<string, TypedCommand> = {
  text: {
    shown: ':text TEXT',
    help: 'send a text message, even one that starts with a colon',
    read: (text) => ({ type: 'text', text }),
  },
  binary: { shown: ':binary HEX', help: 'send a binary message: 00ff 7f', read: readHex },
  file: {
    shown: ':file WAV',
    help: 'send a WAV, or an included one such as hello.wav, as audio in real time, after any queued audio',
    read: (path) => (path === '' ? wrong(':file expects the path of a WAV') : { type: 'file', path }),
  },
  silence: {
    shown: ':silence TIME',
    help: 'send silence in real time, after any queued audio: 2s',
    read: (text) => readTime(text, 'silence'),
  },
  stop: { shown: ':stop', help: 'stop sending audio, and drop the queue', read: () => ({ type: 'stop' }) },
  ping: { shown: ':ping', help: 'send a ping', read: () => ({ type: 'ping' }) },
  wait: {
    shown: ':wait TIME',
    help: 'wait before the next line (in a script)',
    read: (text) => readTime(text, 'wait'),
  },
  fold: {
    shown: ':fold on|off',
    help: 'show binary messages as a count per second, or one by one',
    read: (text) =>
      text === 'on' || text === 'off'
        ? { type: 'fold', isOn: text === 'on' }
        : wrong(':fold expects on or off'),
  },
  close: { shown: ':close [CODE]', help: 'close the stream; the default code is 1000', read: readClose },
  help: { shown: ':help', help: 'show this list', read: () => ({ type: 'help' }) },
};

/** The lines of `:help`. */
export const helpLines: readonly string[] = [
  'A line is sent as a text message. Commands begin with a colon:',
  ...Object.values(commands).map(({ shown, help }) => `  ${shown.padEnd(14)} ${help}`),
  'Ctrl-D, or the end of the input, closes the stream with 1000.',
];

/** Reads a typed line. Never throws. */
export function readTyped(line: string): Typed {
  if (line.trim() === '') return { type: 'nothing' };
  if (!line.startsWith(':')) return { type: 'text', text: line };
  const [, name = '', rest = ''] = /^:(\S*)\s*(.*)$/s.exec(line) ?? [];
  const alias = name === 'quit' || name === 'q' ? 'close' : name;
  const command = ownValue(commands, alias);
  if (command === undefined) return wrong(`there is no command :${name}; :help lists them`);
  return command.read(alias === 'text' ? rest : rest.trim());
}

function readHex(text: string): Typed {
  const digits = text.replace(/\s+/g, '');
  return /^([0-9a-f]{2})*$/i.test(digits)
    ? { type: 'binary', data: Buffer.from(digits, 'hex') }
    : wrong(':binary expects pairs of hexadecimal digits, such as 00ff');
}

function readTime(text: string, type: 'silence' | 'wait'): Typed {
  const ms = readDuration(text);
  if (ms === undefined || lacksUnit(text)) return wrong(`:${type} expects a duration such as 500ms or 2s`);
  return { type, ms };
}

function readClose(text: string): Typed {
  if (text === '') return { type: 'close', code: closeCodes.normal };
  if (/\s/.test(text)) return wrong(':close takes only a code');
  const code = Number(text);
  return isSendableCloseCode(code)
    ? { type: 'close', code }
    : wrong('this code cannot be sent; use 1000 to 1003, 1007 to 1014, or 3000 to 4999');
}

function wrong(why: string): Typed {
  return { type: 'wrong', why };
}
