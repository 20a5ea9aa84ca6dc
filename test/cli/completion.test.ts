import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { hasTmux, type PseudoTerminal, terminalsFor } from '../helpers/tmux.ts';
import { setUpSandboxForAll } from '../helpers/voicectl.ts';

const outside = setUpSandboxForAll();

test.each([
  ['an unknown shell', ['tcsh']],
  ['no shell', []],
  ['two shells', ['bash', 'zsh']],
])('for %s: exit 2, and which shells there are', async (_what, shells) => {
  const { code, stdout, stderr } = await outside.runHere(['completion', ...shells]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^voicectl: completion.*\n$/);
});

const bashCompletion = '/usr/share/bash-completion/bash_completion';
/** How each shell starts without the files of a user, and reads the script. */
const shells: Record<string, { start: string; load: string }> = {
  bash: { start: 'bash --norc --noprofile', load: '. <(voicectl completion bash)' },
  'bash with bash-completion': {
    start: 'bash --norc --noprofile',
    load: `. ${bashCompletion}; . <(voicectl completion bash)`,
  },
  zsh: { start: 'zsh -f', load: 'autoload -U compinit; compinit -u -D; . <(voicectl completion zsh)' },
  'zsh that finds the script by its name': {
    start: 'zsh -f',
    load: 'voicectl completion zsh > zsh/_voicectl; fpath+=($PWD/zsh); autoload -U compinit; compinit -u -D',
  },
  fish: { start: 'fish --no-config', load: 'voicectl completion fish | source' },
};

const isHere = (shell: string) => spawnSync(shell, ['--version']).status === 0;
const missing = ['bash', 'zsh', 'fish'].filter((shell) => !isHere(shell));
if (missing.length > 0)
  process.stderr.write(
    `SKIPPED: completion in ${missing.join(' and ')} (apt-get install ${missing.join(' ')})\n`,
  );
const present = Object.entries(shells).filter(([shell, { start }]) => {
  if (shell.endsWith('bash-completion') && !existsSync(bashCompletion)) return false;
  return hasTmux && !missing.includes(start.split(' ')[0] ?? '');
});

describe.each(present)('%s', (_shell, { start, load }) => {
  const sandbox = setUpSandboxForAll();
  let terminal: PseudoTerminal;
  let runs = 0;
  const shows = (what: RegExp | string) =>
    vi.waitFor(async () => expect(await terminal.screen()).toMatch(what), 10_000);
  /** Runs a command on its own line; when it resolves, nothing from before is on the screen. */
  const runOnEmptyScreen = async (command: string) => {
    runs += 1;
    terminal.press('C-u');
    terminal.type(`${command}; clear; echo READY-''${runs}`);
    terminal.press('Enter');
    await shows(new RegExp(`^READY-${runs}$`, 'm'));
  };
  /** Types a line and a tab. */
  const complete = (line: string, ...tabs: string[]) => {
    terminal.press('C-u');
    terminal.type(line);
    terminal.press('Tab', ...tabs);
  };

  // One real terminal for all tests, in which the shell knows the completions.
  beforeAll(async () => {
    mkdirSync(sandbox.path('zsh'));
    mkdirSync(sandbox.path('session'));
    sandbox.write('help me.wav', '');
    sandbox.write('helper.txt', '');
    await sandbox.standIn();
    terminal = await terminalsFor({ onTestFinished: afterAll }).start(start, {
      columns: 100,
      rows: 30,
      cwd: sandbox.dir,
      env: { HOME: sandbox.path('home'), TERM: 'screen' },
    });
    // The machine's own files may have reset the path.
    const bin = sandbox.path('bin');
    const path = start.startsWith('fish') ? `set -x PATH ${bin} $PATH` : `export PATH="${bin}:$PATH"`;
    await runOnEmptyScreen(`${path}; ${load}`);
  });
  beforeEach(() => runOnEmptyScreen('true'));

  test('completes commands, flags, values, and the values after =', async () => {
    complete('voicectl stre');
    await shows(/voicectl stream\b/);
    complete('voicectl token --dec');
    await shows(/voicectl token --decode\b/);
    complete('voicectl serve --fault token-sl');
    await shows(/voicectl serve --fault token-slow\b/);
    complete('voicectl check --level=st');
    await shows(/voicectl check --level=standard\b/);
    complete('voicectl drill --situation D9-401');
    await shows(/voicectl drill --situation D9-/);
  });

  test('completes a value with a colon in place', async () => {
    complete('voicectl serve --reply mod');
    await shows(/--reply module(:|\\:)(?!:)/);
  });

  test('leaves files and folders to the shell, and adds the included files', async () => {
    complete('voicectl stream --file hel', 'Tab');
    await shows(/hello\.wav/);
    await shows(/helper\.txt/);
    await shows(/help(\\)? me\.wav/);
    complete('voicectl inspect se');
    await shows(/voicectl inspect session\//);
    complete('voicectl serve --dialect=helpe');
    await shows(/--dialect=helper\.txt/);
  });

  test('runs nothing that is on the command line', async () => {
    complete('voicectl serve --device "$(touch ran)" `touch ran` --re');
    await shows(/--reply|--re\b/);
    complete('voicectl stre');
    await shows(/voicectl stream\b/);
    expect(existsSync(sandbox.path('ran'))).toBe(false);
  });

  test('offers nothing if voicectl fails', async () => {
    sandbox.write('bin/voicectl', '#!/bin/sh\necho oops >&2; exit 70\n', 0o755);
    complete('voicectl stre');
    complete('echo still here');
    terminal.press('Enter');
    await shows(/^still here$/m);
    expect(await terminal.screen()).not.toContain('oops');
  });
});
