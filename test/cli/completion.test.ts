import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();

const isHere = async (shell: string) => (await sandbox.shell(`command -v ${shell}`)).code === 0;

/** What bash offers for these words, the last of which is being typed. */
async function complete(words: readonly string[], before = ''): Promise<string[]> {
  const { stdout, stderr } = await sandbox.shell(`bash --norc --noprofile -c '
    ${before}
    compopt() { :; }
    . <(voicectl completion bash)
    COMP_WORDS=(${words.join(' ')})
    COMP_CWORD=${words.length - 1}
    COMP_LINE="${words.join(' ')}"
    COMP_POINT=\${#COMP_LINE}
    handler=$(complete -p voicectl | sed "s/.*-F \\([^ ]*\\) .*/\\1/")
    $handler voicectl
    printf "%s\\n" "\${COMPREPLY[@]}"'`);
  expect(stderr).toBe('');
  return stdout.trimEnd().split('\n');
}

describe('the script', () => {
  test.each([
    ['bash', 'complete -F'],
    ['zsh', 'compdef'],
    ['fish', 'complete -c voicectl'],
  ])('for %s is printed, and the shell can read it', async (shell, text) => {
    const { code, stdout, stderr } = await sandbox.run(['completion', shell]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(text);
    sandbox.write('script', stdout);
    if (await isHere(shell)) expect((await sandbox.shell(`${shell} -n script`)).stderr).toBe('');
  });

  test.each([
    ['a shell that nobody has heard of', ['tcsh']],
    ['no shell', []],
    ['two shells', ['bash', 'zsh']],
  ])('for %s: exit 2, and which there are', async (_what, shells) => {
    const { code, stdout, stderr } = await sandbox.run(['completion', ...shells]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^voicectl: completion.*\n$/);
  });
});

describe('bash', () => {
  test('completes commands', async () => {
    expect(await complete(['voicectl', 'st'])).toEqual(['stream']);
    expect(await complete(['voicectl', "''"])).toEqual(
      expect.arrayContaining(['serve', 'exec', 'token', 'stream', 'completion']),
    );
  });

  test('completes flags', async () => {
    expect(await complete(['voicectl', 'stream', '--expect-'])).toEqual([
      '--expect-file',
      '--expect-audio',
      '--expect-audible',
      '--expect-event',
      '--expect-close',
    ]);
    expect(await complete(['voicectl', 'token', '--dec'])).toEqual(['--decode']);
  });

  const bashCompletion = '/usr/share/bash-completion/bash_completion';

  test.runIf(existsSync(bashCompletion))('does so with the bash-completion package too', async () => {
    expect(await complete(['voicectl', 'ser'], `. ${bashCompletion}`)).toEqual(['serve']);
  });
});
