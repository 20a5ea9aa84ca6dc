import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { startCommand } from '../../src/kernel/command-process.ts';

vi.mock('../../src/kernel/system.ts', () => ({ system: { hasProcessGroups: false, hasFileModes: false } }));

const folder = mkdtempSync(join(tmpdir(), 'voicectl-windows-'));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

test.skipIf(process.platform === 'win32')(
  'without process groups, the tree is ended while the command that leads to it is there',
  async () => {
    const asked = join(folder, 'asked');
    const script = `#!/bin/sh\nkill -0 "$2" && echo "$@" > ${asked}\nkill -KILL "$2"\n`;
    writeFileSync(join(folder, 'taskkill'), script);
    chmodSync(join(folder, 'taskkill'), 0o755);
    vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`);
    const running = startCommand('sleep', ['100'], { stdio: 'ignore' });
    await running.started;
    await running.end({ graceMs: 60_000 });
    expect(readFileSync(asked, 'utf8')).toBe(`/pid ${running.child.pid} /t /f\n`);
  },
);
