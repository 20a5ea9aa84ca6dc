import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readExamples } from './helpers/doc-examples.ts';
import { jsonLines, setUpSandbox } from './helpers/voicectl.ts';

const sandbox = setUpSandbox();
const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs', 'SKILL.md'), 'utf8');
const scripts = readExamples(page).flatMap(({ language, code }) => (language === 'sh' ? [code] : []));

test('the skill says what it is for', () => {
  const [, front = ''] = /^---\n(.*?)\n---\n/s.exec(page) ?? [];
  const { name, description } = parse(front);
  expect(name).toMatch(/^[a-z-]{1,64}$/);
  expect(description.length).toBeLessThanOrEqual(1_024);
});

test('npm ci installs what package.json asks for: the lock file matches it', () => {
  const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));
  const { dependencies, devDependencies, optionalDependencies } = read('package.json');
  const { packages } = read('package-lock.json') as { packages: Record<string, object> };
  expect(packages['']).toMatchObject({ dependencies, devDependencies, optionalDependencies });
  for (const name of Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }))
    expect(packages).toHaveProperty([`node_modules/${name}`]);
});

test('every command of the skill works, one after the other, from a fresh clone to a drilled device', async () => {
  for (const name of ['examples', 'fixtures', 'node_modules', 'docs'])
    symlinkSync(join(root, name), sandbox.path(name));
  // npx finds the program; everything is installed.
  sandbox.write('bin/npx', '#!/bin/sh\nexec "$@"\n', 0o755);
  sandbox.write('bin/npm', '#!/bin/sh\n[ "$*" = ci ] || { echo "npm $*" >&2; exit 99; }\n', 0o755);
  expect(scripts.length).toBeGreaterThan(5);
  const { code, stdout, stderr } = await sandbox.shellHere(['set -e', ...scripts].join('\n'));
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });

  const last = (file: string) => jsonLines(sandbox.read(file)).at(-1);
  expect(last('smoke.jsonl')).toMatchObject({ type: 'summary', ok: true });
  const broken = jsonLines(sandbox.read('broken.jsonl')).find(({ type }) => type === 'summary');
  expect(broken).toMatchObject({ ok: false, failure: { kind: expect.any(String) } });
  expect(last('first.jsonl')).toMatchObject({ exitCode: 3 });
  expect(last('second.jsonl')).toMatchObject({ ok: true });
  expect(stdout).toContain('"type":"request-refused"');
  expect(last('drill.jsonl')).toMatchObject({ verdicts: { pass: 2, fail: 0 }, exitCode: 0 });
  expect(last('check.jsonl')).toMatchObject({ type: 'summary', exitCode: 0 });
  expect(JSON.parse(sandbox.read('plan.json'))).toMatchObject({ type: 'plan' });
}, 120_000);
