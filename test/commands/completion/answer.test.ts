import { expect, test } from 'vitest';
import { answerCompletion } from '../../../src/commands/completion/answer.ts';
import { type OptionName, optionNames, optionSpec } from '../../../src/config/options.ts';
import { setUpSandbox } from '../../helpers/voicectl.ts';

const sandbox = setUpSandbox();

async function offered(line: string, env: Record<string, string> = {}) {
  const words = line.split(' ');
  const { values, paths } = await answerCompletion(words, { cwd: sandbox.dir, env });
  return { values: values.map(({ value }) => value), paths };
}

test.each([
  ['emulator f', ['fault'], 'none'],
  ['check --level ', ['quick', 'standard', 'full'], 'none'],
  ['stream --pace ', ['realtime', 'max'], 'none'],
  ['check --level=st', ['standard'], 'none'],
  ['check --rule R45', ['R45'], 'none'],
  ['drill --situation D9-1', ['D9-1001', 'D9-1011', 'D9-1012'], 'none'],
  ['drill --drill D9-100', ['D9-1001'], 'none'],
  ['serve --fault rate', ['rate-limited'], 'none'],
  ['serve --network slow', ['slow-3g'], 'none'],
  ['serve --scenario barge', ['barge-in'], 'files'],
  ['serve --reply fi', ['file:'], 'none'],
  ['serve --dialect ', [], 'files'],
  ['stream --record ', [], 'folders'],
  ['stream --local --file hel', ['hello.wav'], 'files'],
  ['stream --local --expect-audio --audio-backend p', ['pulse', 'pipewire'], 'none'],
  ['stream --device ', [], 'none'],
  ['stream --expect-audio ', [], 'none'],
  ['token --dec', ['--decode'], 'none'],
  ['serve --no-pa', ['--no-page'], 'none'],
  ['emulator fault ', ['list', 'add', 'active', 'clear'], 'none'],
  ['emulator fault add drip', ['drip'], 'none'],
  ['emulator --debug clock a', ['advance'], 'none'],
  ['emulator journal --type stream-c', ['stream-closed'], 'none'],
  ['emulator speak barge', ['barge-in.wav'], 'files'],
  ['inspect ', [], 'files'],
  ['load me', ['merge'], 'none'],
  ['help --', ['--all', '--json', '--help'], 'none'],
  ['help stream --a', ['--all'], 'none'],
  ['load merge a.json ', [], 'files'],
  ['exec -- ', [], 'files'],
  ['exec --reply echo npm --lev', [], 'files'],
  ['drill --situation D9 -- ./device --sit', [], 'files'],
  ['help strea', ['stream'], 'none'],
  ['help emulator j', ['journal'], 'none'],
  ['help load ', ['merge'], 'none'],
  ['help completion ', [], 'none'],
  ['completion z', ['zsh'], 'none'],
  ['devices te', ['test'], 'none'],
  ['nonsense ', [], 'none'],
])('%s', async (line, values, paths) => {
  expect(await offered(line)).toEqual({ values, paths });
});

test('profiles come from the config file that is used', async () => {
  sandbox.write('voicectl.config.yaml', 'profiles:\n  staging:\n  shop-floor:\n');
  sandbox.write('other.yaml', 'profiles:\n  other: { wait: nonsense }\n');
  expect((await offered('token --profile ')).values).toEqual(['staging', 'shop-floor']);
  expect((await offered(`token --config ${sandbox.path('other.yaml')} --profile `)).values).toEqual([
    'other',
  ]);
  expect((await offered('token --profile ', { VOICECTL_CONFIG: 'missing.yaml' })).values).toEqual([]);
});

test('a setting whose help lists its values offers them', async () => {
  const listed: OptionName[] = ['reply', 'task', 'level', 'output', 'failOn', 'status', 'audioBackend'];
  for (const name of listed) {
    const { commands } = optionSpec(name);
    const command = commands === 'every' ? 'serve' : commands[0];
    const { values } = await offered(`${command} ${/--[\w-]+/.exec(optionSpec(name).flag)?.[0]} `);
    for (const value of values) expect(optionSpec(name).help).toContain(value.replace(/:$/, ''));
    expect(values.length).toBeGreaterThan(1);
  }
  expect(optionNames).toEqual(expect.arrayContaining(listed));
});
