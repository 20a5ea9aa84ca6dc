import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readExamples } from './helpers/doc-examples.ts';
import { findPython } from './helpers/python.ts';
import { program, type Sandbox, sandboxFor } from './helpers/voicectl.ts';

const root = join(import.meta.dirname, '..');
const examples = readExamples(readFileSync(join(root, 'docs/FIRST-DAY.md'), 'utf8'));
const under = (heading: string, language: string) =>
  examples.filter((one) => one.heading === heading && one.language === language).map(({ code }) => code);

/** A clone in which `npx` is a stand-in that runs this program. */
function clone(sandbox: Sandbox): string {
  for (const part of ['examples', 'node_modules', 'package.json'])
    symlinkSync(join(root, part), sandbox.path(part));
  sandbox.write('npx', `#!/bin/sh\nshift\nexec ${process.execPath} ${program} "$@"\n`, 0o755);
  return 'PATH="$PWD:$PATH"';
}

describe('docs/FIRST-DAY.md', () => {
  test("reports the device's mistake as the page shows", async (context) => {
    const sandbox = sandboxFor(context);
    const [script = ''] = under('I have a device', 'sh');
    const [printed = ''] = under('I have a device', 'text');
    const { code, stdout } = await sandbox.shell(`export ${clone(sandbox)}\n${script}`);
    expect(code).toBe(1);
    const withoutTime = (text: string) => text.replace(/\d\.\d s/, '0.0 s').trim();
    expect(withoutTime(stdout)).toContain(withoutTime(printed));
  });

  const python = findPython('websockets');
  test.skipIf(python === undefined)('connects the app in Python', async (context) => {
    const sandbox = sandboxFor(context);
    const [code = ''] = under('I have tests', 'python');
    sandbox.write('test_doorbell.py', code);
    const run = 'import test_doorbell; test_doorbell.test_the_doorbell_is_connected()';
    const ended = await sandbox.shell(`${clone(sandbox)} npx voicectl exec -- ${python} -c '${run}'`);
    expect([ended.code, ended.stderr]).toEqual([0, '']);
  });
});
