import { join, relative } from 'node:path';
import {
  type BinaryExpression,
  type ElementAccessExpression,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { API, type Project, TypeFlags } from 'typescript/unstable/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keyedByInput } from './helpers/keyed-by-input.ts';

// A name from outside may be `constructor` or `__proto__`, which every plain object seems to have: what is kept by such
// names is a Map, and fields of what was read are read by `ownValue`. This asks the compiler for the types, so it sees each
// object, however it was made: `{}`, `Object.fromEntries`, `reduce`, computed keys, a parsed text.

/** Files that look something up by a text that never comes from outside, and why it cannot. */
const known: Readonly<Record<string, string>> = {
  'commands/stream/session-settings.ts': 'environment variables that are named here',
  'conformance/learn/learned-dialect.ts': 'paths of settings',
  'config/option.ts': 'it checks that the name is an own property',
  'config/parse.ts': 'a unit that a pattern has checked',
  'config/settings.ts': 'names of options',
  'emulator/tokens/token-problem.ts': 'claims that are named here',
  'files/refusal.ts': 'system error codes',
  'wire/client/connection-error.ts': 'system error codes',
  'page/server/assets.ts': 'file extensions that a pattern has checked',
  'protocol/api-documents.ts': 'paths and methods of the table',
  'protocol/network.ts': 'a unit that a pattern has checked',
  'protocol/parse-json.ts': 'it checks that the name is an own property',
  'protocol/read-message.ts': 'fields that are named here',
  'protocol/schema-places.ts': 'our own schema',
  'protocol/transcript.ts': 'fields that are named here',
  'report/html.ts': 'characters that a pattern has matched',
  'report/timeline-lines.ts': 'categories and marks that a schema has checked',
  'rules/device/requests.ts': 'fields of the specification',
  'rules/invalid-requests.ts': 'fields of the specification',
  'service/faults/token-faults.ts': 'values of the catalogue',
  'ui/read-keys.ts': 'one key of a keyboard',
  'ui/stream-screen.tsx': 'claims that are named here',
  'devices/host/native-naudiodon.ts': 'our own path',
};

const root = join(import.meta.dirname, '..');
let api: API;
let project: Project;
beforeAll(() => {
  api = new API({ cwd: root });
  const [first] = api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] }).getProjects();
  project = first as Project;
});
afterAll(() => api.close());

function nodesOf(file: string): Node[] {
  const nodes: Node[] = [];
  const visit = (node: Node) => {
    if (node.kind === SyntaxKind.ElementAccessExpression) nodes.push(node);
    if (
      node.kind === SyntaxKind.BinaryExpression &&
      (node as BinaryExpression).operatorToken.kind === SyntaxKind.InKeyword
    )
      nodes.push(node);
    node.forEachChild(visit);
  };
  project.program.getSourceFile(file)?.forEachChild(visit);
  return nodes;
}

/** Lookups by a name that may be any text. */
function lookups(file: string): string[] {
  const nodes = nodesOf(file);
  if (nodes.length === 0) return [];
  const names = nodes.map((node) =>
    node.kind === SyntaxKind.BinaryExpression
      ? (node as BinaryExpression).left
      : (node as ElementAccessExpression).argumentExpression,
  );
  const types = project.checker.getTypeAtLocation(names);
  const source = project.program.getSourceFile(file);
  return nodes.flatMap((node, at) =>
    ((types[at]?.flags ?? 0) & TypeFlags.String) === 0 ? [] : [node.getText(source)],
  );
}

test('no name from outside is looked up in a plain object', () => {
  const src = join(root, 'src');
  const files = project.program.getSourceFileNames().filter((file) => !relative(src, file).startsWith('..'));
  expect(files.length).toBeGreaterThan(500);
  const found = new Map(files.map((file) => [relative(src, file), lookups(file)] as const));
  const users = [...found].filter(([, texts]) => texts.length > 0);
  expect(users.filter(([file]) => !Object.hasOwn(known, file))).toEqual([]);
  // A file that no longer does so is removed from the list.
  expect(Object.keys(known).filter((file) => (found.get(file) ?? []).length === 0)).toEqual([]);
});

test('it detects every way to make such an object', () => {
  // What they do wrong: the name is mistaken for an existing one.
  expect(keyedByInput(['constructor'], '{}').at(-1)).toEqual(['constructor']);
  const file = join(import.meta.dirname, 'helpers', 'keyed-by-input.ts');
  expect(lookups(file)).toEqual([
    'all[name]',
    'made[name]',
    'fromEntries[name]',
    'reduced[name]',
    'parsed[name]',
    'name in made',
  ]);
});
