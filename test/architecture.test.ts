import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const src = join(import.meta.dirname, '..', 'src');

/** What each room may import, as ARCHITECTURE.md says it. Every room may also use what stands at the root: see `base`. */
const allowed: Record<string, readonly string[]> = {
  protocol: [],
  audio: ['protocol'],
  config: ['protocol'],
  client: ['protocol'],
  emulator: ['protocol', 'audio', 'recording'],
  session: ['client', 'audio', 'protocol'],
  recording: ['session/', 'client/', 'audio', 'protocol'],
  devices: ['audio', 'protocol'],
  report: ['session/', 'emulator/events.ts', 'recording/', 'protocol'],
  ui: [
    'session/events.ts',
    'session/fold-audio.ts',
    'session/metrics.ts',
    'emulator/events.ts',
    'report',
    'protocol',
  ],
  commands: [
    'config',
    'protocol',
    'audio',
    'client',
    'emulator',
    'session',
    'recording',
    'report',
    'ui',
    'devices',
  ],
};

/** Files at the root that every room but `protocol` may import. */
const base = [
  'errors.ts',
  'failure-kind.ts',
  'clock.ts',
  'version.ts',
  'escape.ts',
  'redact.ts',
  'io.ts',
  'terminal-device.ts',
];

/** Rooms whose imports of a foreign room are types only. */
const typesOnly = new Set([
  'report>session',
  'report>emulator',
  'report>recording',
  'ui>emulator',
  'recording>session',
  'recording>client',
]);

interface Import {
  from: string;
  to: string;
  isType: boolean;
}

function sources(): string[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(src, file), 'utf8');
  const statements = text.matchAll(/(?:^|\n)\s*(?:import|export)\s+(type\s)?[^;'"]*?from\s+'(\.[^']+)'/g);
  const dynamic = text.matchAll(/import\('(\.[^']+)'\)/g);
  const target = (specifier: string) => relative(src, resolve(join(src, dirname(file)), specifier));
  return [
    ...[...statements].map(([, type, specifier = '']) => ({
      from: file,
      to: target(specifier),
      isType: type !== undefined,
    })),
    ...[...dynamic].map(([, specifier = '']) => ({ from: file, to: target(specifier), isType: false })),
  ];
}

function roomOf(file: string): string {
  return file.includes('/') ? (file.split('/')[0] ?? '') : '';
}

const imports = sources().flatMap(importsOf);

describe('the direction of dependencies', () => {
  test('the imports are found at all', () => {
    expect(imports.length).toBeGreaterThan(150);
  });

  test.each(Object.keys(allowed))('%s imports only what ARCHITECTURE.md allows', (room) => {
    const wrong = imports.filter(({ from, to }) => {
      if (roomOf(from) !== room || roomOf(to) === room) return false;
      if (roomOf(to) === '') return room === 'protocol' || !base.includes(to);
      return !allowed[room]?.some(
        (place) => to === place || to.startsWith(place.endsWith('/') ? place : `${place}/`),
      );
    });
    expect(wrong).toEqual([]);
  });

  test('a room that only looks at another imports its types and nothing that runs', () => {
    const wrong = imports.filter(
      ({ from, to, isType }) => typesOnly.has(`${roomOf(from)}>${roomOf(to)}`) && !isType,
    );
    expect(wrong).toEqual([]);
  });

  test('client, emulator and ui never import one another', () => {
    const apart = ['client', 'emulator', 'ui'];
    const wrong = imports.filter(
      ({ from, to, isType }) =>
        roomOf(from) !== roomOf(to) &&
        apart.includes(roomOf(from)) &&
        apart.includes(roomOf(to)) &&
        !(roomOf(from) === 'ui' && isType),
    );
    expect(wrong).toEqual([]);
  });

  test('nothing imports the command line but the program itself', () => {
    const wrong = imports.filter(
      ({ from, to }) => roomOf(to) === 'commands' && roomOf(from) !== 'commands' && from !== 'cli.ts',
    );
    expect(wrong).toEqual([]);
  });
});

/** Names that stand only where the program meets the world. */
const confined: [pattern: RegExp, what: string, files: readonly string[]][] = [
  [/\bprocess\.exit\b/, 'process.exit', ['io.ts']],
  [/\bprocess\.env\b/, 'process.env', ['io.ts']],
  [/\bconsole\./, 'console', []],
  [/\bDate\.now\(|\bperformance\.now\(/, 'the time of day', ['clock.ts']],
  [/\bsetInterval\(/, 'setInterval', []],
  [/\bsetImmediate\(/, 'setImmediate', ['clock.ts']],
  [/\bsetTimeout\(/, 'setTimeout', ['clock.ts', 'commands/runner.ts']],
];

/** The code of a file, without its comments and imports. */
function codeOf(file: string): string {
  const text = readFileSync(join(src, file), 'utf8');
  return text
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
    .replace(/(?:^|\n)(?:import|export)[^;]*?from\s+'[^']+';|import\('[^']+'\)/g, '');
}

describe('what stands in one place only', () => {
  test.each(confined)('%s is used only where it may be (%s)', (pattern, _what, files) => {
    const users = sources().filter((file) => pattern.test(codeOf(file)));
    expect(users.filter((file) => !files.includes(file))).toEqual([]);
  });

  const literals = [
    '/voice-stream',
    'websocket-voice',
    'service_voice_connected',
    'X-RateLimit',
    'voice-api',
    '16_000',
    'no-store',
  ];
  test.each(literals)('the protocol’s %s is written in src/protocol and nowhere else', (literal) => {
    const users = sources().filter((file) => roomOf(file) !== 'protocol');
    expect(users.filter((file) => codeOf(file).includes(literal))).toEqual([]);
  });
});
