import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const src = join(import.meta.dirname, '..', 'src');

/** The rooms, lowest first: a room imports from the layers below its own, and nothing else. */
const layers: readonly (readonly string[])[] = [
  ['kernel'],
  ['protocol'],
  ['files'],
  ['wire', 'audio', 'config'],
  ['rules'],
  ['session', 'devices'],
  ['recording', 'service'],
  ['emulator'],
  ['cluster'],
  ['runs', 'conformance', 'proxy'],
  ['report'],
  ['ui'],
  ['page'],
  ['commands'],
];

/** What a room does not import although it is on a lower layer. */
const apart: readonly (readonly [from: string, to: string])[] = [
  ['protocol', 'kernel'],
  ['rules', 'kernel'],
  ['service', 'session'],
  ['service', 'devices'],
  ['emulator', 'session'],
  ['emulator', 'devices'],
  ['proxy', 'emulator'],
  ['proxy', 'cluster'],
];

/** Rooms that only view another room import only its types; exceptions for pure functions of events are listed here. */
const typesOnly: readonly (readonly [from: string, to: string, ...except: string[]])[] = [
  // The recorder of a stream builds a session from what a tap reports.
  ['recording', 'session', 'session/ledger.ts', 'session/metrics.ts', 'session/session-tap.ts'],
  ['report', 'session'],
  ['report', 'runs', 'runs/compare/run-set.ts'],
  // How serious an event is.
  ['report', 'service', 'service/events.ts'],
  ['report', 'recording'],
  ['ui', 'session', 'session/fold-audio.ts', 'session/metrics.ts'],
  ['ui', 'service'],
];

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

/** Inside a room, a folder is one place, and so is each file beside the folders. */
function placeOf(file: string): string {
  const [room = '', inside = '', deeper] = file.split('/');
  return deeper === undefined ? file : `${room}/${inside}/`;
}

/** The rooms that this room may import from. */
function roomsBelow(room: string): string[] {
  const layer = layers.findIndex((rooms) => rooms.includes(room));
  const barred = apart.filter(([from]) => from === room).map(([, to]) => to);
  return layers
    .slice(0, layer)
    .flat()
    .filter((below) => !barred.includes(below));
}

/** Import cycles, each as the path from a file, or a place, back to itself. */
function circles(nodeOf = (file: string) => file): string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of imports) {
    const [node, target] = [nodeOf(from), nodeOf(to)];
    if (node !== target || from === to) targets.set(node, [...(targets.get(node) ?? []), target]);
  }
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, way: string[]) => {
    const at = way.indexOf(file);
    if (at >= 0) found.push([...way.slice(at), file].join(' → '));
    if (at >= 0 || done.has(file)) return;
    for (const to of targets.get(file) ?? []) visit(to, [...way, file]);
    done.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return found;
}

describe('the direction of dependencies', () => {
  test('finds imports at all', () => {
    expect(imports.length).toBeGreaterThan(150);
  });

  test('every room has its layer', () => {
    const rooms = new Set(
      sources()
        .map(roomOf)
        .filter((room) => room !== ''),
    );
    expect([...rooms].filter((room) => !layers.flat().includes(room))).toEqual([]);
  });

  test.each(layers.flat())('%s imports only from the layers below it', (room) => {
    const allowed = [room, ...roomsBelow(room)];
    const wrong = imports.filter(({ from, to }) => roomOf(from) === room && !allowed.includes(roomOf(to)));
    expect(wrong).toEqual([]);
  });

  test.each(typesOnly)('%s imports only types from %s', (room, other, ...except) => {
    const wrong = imports.filter(
      ({ from, to, isType }) =>
        roomOf(from) === room && roomOf(to) === other && !isType && !except.includes(to),
    );
    expect(wrong).toEqual([]);
  });

  test('no files import one another in a cycle, not even types', () => {
    expect(circles()).toEqual([]);
  });

  test('no folder of a room imports what imports it', () => {
    expect(circles(placeOf)).toEqual([]);
  });

  test('only the program itself imports the command line', () => {
    const wrong = imports.filter(
      ({ from, to }) => roomOf(to) === 'commands' && roomOf(from) !== 'commands' && from !== 'cli.ts',
    );
    expect(wrong).toEqual([]);
  });
});

/** Names that may appear only where the program meets the outside world. */
const confined: [pattern: RegExp, what: string, files: readonly string[]][] = [
  [/\bprocess\.exit\b/, 'process.exit', ['kernel/io.ts']],
  [/\bprocess\.env\b/, 'process.env', ['kernel/command-process.ts', 'kernel/io.ts']],
  [/\bconsole\./, 'console', []],
  [/\bDate\.now\(|\bperformance\.now\(/, 'the time of day', ['kernel/clock.ts']],
  [/\bsetInterval\(/, 'setInterval', []],
  [/\bsetImmediate\(/, 'setImmediate', ['kernel/clock.ts']],
  [/\bsetTimeout\(/, 'setTimeout', ['kernel/clock.ts', 'wire/server/network/line.ts']],
];

/** The code of a file, without its comments and imports. */
function codeOf(file: string): string {
  const text = readFileSync(join(src, file), 'utf8');
  return text
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
    .replace(/(?:^|\n)(?:import|export)[^;]*?from\s+'[^']+';|import\('[^']+'\)/g, '');
}

test('every exported name belongs to one file', () => {
  // Each command has a `run`, and each test runner a `setUpEmulator`.
  const shared = new Set(['run', 'setUpEmulator']);
  const declaration =
    /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|class|const|let|interface|type|enum)\s+(\w+)/gm;
  const homes = new Map<string, Set<string>>();
  for (const file of sources()) {
    for (const [, name = ''] of readFileSync(join(src, file), 'utf8').matchAll(declaration)) {
      const home = homes.get(name) ?? new Set();
      homes.set(name, home.add(file));
    }
  }
  expect(homes.size).toBeGreaterThan(1_000);
  const twins = [...homes].filter(([name, files]) => files.size > 1 && !shared.has(name));
  expect(twins.map(([name, files]) => `${name}: ${[...files].join(', ')}`)).toEqual([]);
});

describe('what may appear in one place only', () => {
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

describe('ARCHITECTURE.md', () => {
  const root = join(src, '..');
  const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const named = [...page.matchAll(/`([\w./-]+)`/g)].map(([, name = '']) => name);
  // A placeholder, and what the build generates.
  const examples = ['NAME', 'dist/'];
  const all = readdirSync(root, { withFileTypes: true })
    .filter(
      (entry) => !entry.name.startsWith('.') && !['node_modules', 'dist', 'reports'].includes(entry.name),
    )
    .flatMap(({ name }) =>
      statSync(join(root, name)).isDirectory() ? [name, ...within(root, name)] : [name],
    );

  test('names only files and folders that exist', () => {
    const paths = named.filter((name) => /\/|\.(tsx?|js|md|json)$/.test(name) && !name.startsWith('/'));
    const wanted = paths.filter((name) => !examples.some((example) => name.includes(example)));
    const isThere = (name: string) => {
      const path = name.replace(/\/$/, '');
      return all.some((one) => one === path || one.endsWith(`/${path}`));
    };
    expect(wanted.length).toBeGreaterThan(80);
    expect(wanted.filter((name) => !isThere(name))).toEqual([]);
  });

  test('has a row for every room', () => {
    const rooms = [...page.matchAll(/^\| `([a-z]+)` \|/gm)].map(([, room]) => room);
    expect(layers.flat().filter((room) => !rooms.includes(room))).toEqual([]);
  });
});

function within(root: string, folder: string): string[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return files.map((file) => `${folder}/${file}`);
}
