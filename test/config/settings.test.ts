import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Option } from 'commander';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseValue } from '../../src/config/option.ts';
import { flagKey, type OptionName, optionNames, optionSpec } from '../../src/config/options.ts';
import { type Flags, resolveSettings } from '../../src/config/settings.ts';
import { VoicectlError } from '../../src/kernel/errors.ts';

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'voicectl-config-'));
  mkdirSync(join(cwd, 'home', '.config', 'voicectl'), { recursive: true });
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const write = (name: string, text: string, mode = 0o600) => {
  writeFileSync(join(cwd, name), text);
  chmodSync(join(cwd, name), mode);
};

function resolve<const Names extends OptionName>(
  names: readonly Names[],
  flags: Flags = {},
  env: Record<string, string> = {},
) {
  return resolveSettings(names, { flags, env: { HOME: join(cwd, 'home'), ...env }, cwd });
}

async function refusal(promise: Promise<unknown>): Promise<VoicectlError> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(VoicectlError);
  return thrown as VoicectlError;
}

test('a yield that is longer than can be measured is refused, wherever it is written', async () => {
  const why =
    /at most 2000 ms: an AI that keeps speaking for 2 s after an interruption counts as never yielding/;
  expect((await resolve(['maxYield'], { maxYield: '2s' })).settings.maxYield).toBe(2_000);
  expect(await refusal(resolve(['maxYield'], { maxYield: '3s' }))).toMatchObject({
    ...{ code: 'usage', message: expect.stringMatching(why) },
  });
  write('voicectl.config.yaml', 'maxYield: 3s\n');
  expect((await refusal(resolve(['maxYield']))).message).toMatch(why);
});

describe('where a setting comes from', () => {
  test('the strongest source that has it: flag, environment, profile, config file, default', async () => {
    const url = (name: string) => `http://${name}.localhost`;
    const get = async (flags: Flags, env: Record<string, string>) => {
      const { settings, origin } = await resolve(['baseUrl'], flags, env);
      return [settings.baseUrl, origin('baseUrl')];
    };
    expect(await get({}, {})).toEqual(['http://127.0.0.1:8787', 'default']);
    write(
      'voicectl.config.yaml',
      `baseUrl: ${url('file')}\nprofiles:\n  p: { baseUrl: ${url('profile')} }\n  q: {}\n`,
    );
    expect(await get({}, {})).toEqual([url('file'), 'file']);
    expect(await get({ profile: 'q' }, {})).toEqual([url('file'), 'file']);
    expect(await get({ profile: 'p' }, {})).toEqual([url('profile'), 'profile']);
    expect(await get({}, { VOICECTL_PROFILE: 'p' })).toEqual([url('profile'), 'profile']);
    expect(await get({ profile: 'p' }, { VOICECTL_BASE_URL: url('env') })).toEqual([url('env'), 'env']);
    expect(await get({ baseUrl: url('flag') }, { VOICECTL_BASE_URL: url('env') })).toEqual([
      url('flag'),
      'flag',
    ]);
  });

  test('an empty variable counts as not set', async () => {
    const { settings } = await resolve(['baseUrl'], {}, { VOICECTL_BASE_URL: '' });
    expect(settings.baseUrl).toBe('http://127.0.0.1:8787');
    expect((await resolve(['apiKey'], {}, { VOICECTL_API_KEY: ' \n' })).settings.apiKey).toBeUndefined();
  });

  test('numbers, switches and lists of a config file are read as on the command line', async () => {
    write(
      'voicectl.config.json',
      '{"retries":2,"wait":"3s","expectAudio":true,"expectEvent":["a","b"],"forbidEvent":"c","allowPlaintext":false}',
    );
    const { settings } = await resolve([
      'retries',
      'wait',
      'expectAudio',
      'expectEvent',
      'forbidEvent',
      'allowPlaintext',
    ]);
    expect(settings).toEqual({
      retries: 2,
      wait: 3000,
      expectAudio: 0,
      expectEvent: ['a', 'b'],
      forbidEvent: ['c'],
      allowPlaintext: false,
    });
  });

  test('a repeatable flag that is not given is an empty list, and any other is undefined', async () => {
    expect((await resolve(['expectEvent', 'device'])).settings).toEqual({
      expectEvent: [],
      device: undefined,
    });
  });

  test('no file overwrites another file of the same command line', async () => {
    const refused = (flags: object) =>
      resolveSettings(['file', 'out', 'recordBoth', 'html', 'junit'], {
        flags,
        env: {},
        cwd: '/',
      } as never).then(
        () => undefined,
        ({ message }: Error) => message,
      );
    expect(await refused({ file: 'a.wav', out: './a.wav' })).toBe('--out names the same file as --file');
    expect(await refused({ html: 'm', junit: 'm' })).toBe('--junit names the same file as --html');
    expect(await refused({ file: '-', out: '-', html: 'h', junit: 'j' })).toBeUndefined();
  });

  test('no file overwrites an argument, the file of a reply or the config file, even one that is not valid', async () => {
    const named = ['out', 'junit', 'reply', 'local'] as const;
    const place = (name: string) => join(cwd, name);
    const inputs = [{ label: '<recording>', path: place('a.wav') }];
    const refused = async (flags: Flags) =>
      (await refusal(resolveSettings(named, { flags, env: { HOME: join(cwd, 'home') }, cwd, inputs })))
        .message;
    expect(await refused({ out: place('a.wav') })).toBe('--out names the same file as <recording>');
    expect(await refused({ local: true, reply: `file:${place('r.wav')}`, out: place('r.wav') })).toBe(
      '--out names the same file as --reply',
    );
    mkdirSync(join(cwd, 'rec'));
    expect(await refused({ local: true, reply: `replay:${place('rec')}`, out: place('rec/ai.wav') })).toBe(
      '--out names the same file as ai.wav of --reply',
    );
    write('voicectl.config.yaml', 'device: d\n');
    const overConfig = { junit: place('voicectl.config.yaml') };
    expect(await refused(overConfig)).toBe('--junit names the same file as the config file');
    write('voicectl.config.yaml', 'a: [\n');
    expect(await refused(overConfig)).toMatch(/^--junit names the same file as the config file; .* not YAML/);
    expect(await refused({ config: 'c.yaml', junit: 'c.yaml' })).toMatch(/^--junit names the same file as /);
  });

  test('a flag with an optional value means its preset without one', async () => {
    expect((await resolve(['expectAudio'], { expectAudio: true })).settings).toEqual({ expectAudio: 0 });
  });
});

describe('which config file is read', () => {
  test('--config, or else the file in this folder, or else the user’s own', async () => {
    const device = async (flags: Flags = {}, env: Record<string, string> = {}) =>
      (await resolve(['device'], flags, env)).settings.device;
    write('home/.config/voicectl/config.yaml', 'device: own\n');
    expect(await device()).toBe('own');
    expect(await device({}, { XDG_CONFIG_HOME: '' })).toBe('own');
    mkdirSync(join(cwd, 'xdg', 'voicectl'), { recursive: true });
    write('xdg/voicectl/config.json', '{"device":"xdg"}');
    expect(await device({}, { XDG_CONFIG_HOME: join(cwd, 'xdg') })).toBe('xdg');
    write('voicectl.config.yaml', 'device: here\n');
    expect(await device()).toBe('here');
    write('other.yaml', 'device: other\n');
    expect(await device({}, { VOICECTL_CONFIG: join(cwd, 'other.yaml') })).toBe('other');
    write('third', 'device: third\n');
    expect(await device({ config: join(cwd, 'third') }, { VOICECTL_CONFIG: join(cwd, 'other.yaml') })).toBe(
      'third',
    );
  });

  test('one in a folder above is not', async () => {
    write('voicectl.config.yaml', 'device: above\n');
    mkdirSync(join(cwd, 'below'));
    const { settings } = await resolveSettings(['device'], {
      flags: {},
      env: { HOME: join(cwd, 'home') },
      cwd: join(cwd, 'below'),
    });
    expect(settings.device).toBeUndefined();
  });

  test.each([
    ['is empty', ''],
    ['has only comments', '# nothing\n'],
    ['has profiles without a value', 'profiles:\n'],
  ])('one that %s sets nothing', async (_what, text) => {
    write('voicectl.config.yaml', text);
    expect((await resolve(['device'])).settings.device).toBeUndefined();
  });

  test('a profile without settings is a profile', async () => {
    write('voicectl.config.yml', 'device: d\nprofiles:\n  p:\n');
    expect((await resolve(['device'], { profile: 'p' })).settings.device).toBe('d');
  });
});

describe('a config file that is refused', () => {
  test('one that cannot be read, like any other file', async () => {
    const place = (name: string) => join(cwd, name);
    const message = async (flags: Flags = {}) => {
      const { code, message } = await refusal(resolve(['device'], flags));
      return [code, message];
    };
    const missing = place('missing.yaml');
    expect(await message({ config: missing })).toEqual([
      'bad-config',
      `Cannot read ${missing}: there is no such file`,
    ]);
    const here = place('voicectl.config.yaml');
    mkdirSync(here);
    expect(await message()).toEqual(['bad-config', `Cannot read ${here}: it is a folder`]);
    rmSync(here, { recursive: true });
    writeFileSync(here, Buffer.from('device: "\xff"\n', 'latin1'));
    expect(await message()).toEqual(['bad-config', `Cannot read ${here}: it is not UTF-8 text`]);
  });

  test.skipIf(process.platform === 'win32')('one that never ends', async () => {
    expect(await refusal(resolve(['device'], { config: '/dev/zero' }))).toMatchObject({
      ...{ code: 'bad-config', message: 'Cannot read /dev/zero: it is larger than 16 MiB' },
    });
  });

  test.each([
    ['broken YAML', 'a: [\n', {}, /voicectl\.config\.yaml:2:1: this is not YAML \(bad indent\)$/],
    [
      'an alias loop',
      'device: d\nprofiles: &a { p: *a }\n',
      {},
      /\.yaml:2:19: its aliases cannot be followed$/,
    ],
    ['a list', '- a\n', {}, /\.yaml:1:1: \(root\): \(a list\), expected a mapping of settings$/],
    ['text that may be a key', 'sk-canary\n', {}, /\.yaml:1:1: \(root\): \(some text\), expected a mapping/],
    ['an unknown setting', '\ncolour: red\n', {}, /\.yaml:2:1: colour: no such setting$/],
    ['a misspelt setting', 'retires: 3\n', {}, /:1:1: retires: no such setting, did you mean retries\?$/],
    ['a property of every object', 'constructor: 1\n', {}, /constructor: no such setting$/],
    [
      'a setting for one command line only',
      'json: true\n',
      {},
      /:1:1: json: no such setting, did you mean --json on the command line\?$/,
    ],
    [
      'an unknown setting of a profile',
      'profiles: { p: { colour: red } }\n',
      { profile: 'p' },
      /:1:18: profiles\.p\.colour: no such setting$/,
    ],
    ['a profile that is no mapping', 'profiles: { p: 7 }\n', {}, /:1:16: profiles\.p: 7, expected a mapping/],
    [
      'profiles that are no mapping',
      'profiles: [p]\n',
      {},
      /:1:11: profiles: \(a list\), expected a mapping/,
    ],
    [
      'no such profile',
      'profiles: { p: {} }\n',
      { profile: 'q' },
      /voicectl\.config\.yaml has no profile q$/,
    ],
    ['a profile of every object', 'profiles: { p: {} }\n', { profile: 'constructor' }, /has no profile/],
    [
      'a value that is not valid',
      'device: d\nretries: many\n',
      {},
      /\.yaml:2:10: retries: "many", expected a whole number from 0 to 100$/,
    ],
    [
      'a number without a unit',
      'wait: 5\n',
      {},
      /:1:7: wait: 5, expected a duration with its unit: 5s or 5ms\?$/,
    ],
    ['a mapping for a value', 'retries: { a: 1 }\n', {}, /retries: \(an object\), expected a single value$/],
    ['a list for a single value', 'retries: [1, 2]\n', {}, /retries: \(a list\), expected a single value$/],
    ['no value', 'retries:\n', {}, /retries: null, expected a single value$/],
    ['one wrong value of a list', 'expectEvent: [a, {}]\n', {}, /:1:18: expectEvent\.1: \(an object\), /],
  ])('%s', async (_what, text, flags, expected) => {
    write('voicectl.config.yaml', text);
    const error = await refusal(resolve(['retries'], flags));
    expect({ code: error.code, message: error.message }).toEqual({
      code: 'bad-config',
      message: expect.stringMatching(expected),
    });
  });

  test('all of its problems are reported at once, including those of unused profiles and settings', async () => {
    const text = [
      'maxFirstAudio: 2',
      'basUrl: http://h.localhost',
      'profiles:',
      '  staging:',
      '    port: 99999',
      '    retries: many',
      '  unused: { wiat: 3s }',
    ].join('\n');
    write('voicectl.config.yaml', text);
    const { message, details, hint } = await refusal(resolve(['device'], { profile: 'staging' }));
    const file = join(cwd, 'voicectl.config.yaml');
    expect(message.split('; ')).toEqual([
      `${file}:1:16: maxFirstAudio: 2, expected a duration with its unit: 2s or 2ms?`,
      `${file}:2:1: basUrl: no such setting, did you mean baseUrl?`,
      `${file}:5:11: profiles.staging.port: 99999, expected a whole number from 0 to 65535`,
      `${file}:6:14: profiles.staging.retries: "many", expected a whole number from 0 to 100`,
      `${file}:7:13: profiles.unused.wiat: no such setting, did you mean wait?`,
    ]);
    expect(details.problems).toHaveLength(5);
    expect(hint).toContain('docs/CLI.md');
  });

  test('a wrong fault, network, duration or threshold has its place like any other mistake', async () => {
    const text = [
      'fault:',
      '  - tokn-slow',
      '  - close:code=99',
      'network: latency=20',
      'wait: 5',
      'colour: red',
      'threshold: first-audio<1s',
      'reply: parot',
      'audioBackend: gramophone',
      'profiles: { p: { fault: drop:times=0 } }',
    ].join('\n');
    write('voicectl.config.yaml', text);
    const { code, message, hint } = await refusal(resolve(['device']));
    const file = join(cwd, 'voicectl.config.yaml');
    expect(code).toBe('bad-config');
    expect(
      message.split('; ').map((line) => line.replace(/^(.*?:\d+:\d+: \S+ "?[\w:=<-]*"?).*/, '$1')),
    ).toEqual([
      `${file}:2:5: fault.0: "tokn-slow"`,
      `${file}:3:5: fault.1: "close:code=99"`,
      `${file}:4:10: network: "latency=20"`,
      `${file}:5:7: wait: 5`,
      `${file}:6:1: colour: no`,
      `${file}:7:12: threshold: "first-audio<1s"`,
      `${file}:8:8: reply: "parot"`,
      `${file}:9:15: audioBackend: "gramophone"`,
      `${file}:10:25: profiles.p.fault: "drop:times=0"`,
    ]);
    expect(message).toContain('did you mean token-slow?');
    expect(message).toContain('expected a duration with its unit: 20s or 20ms?');
    expect(message).toContain('did you mean parrot?');
    expect(hint).toContain('docs/CLI.md');
  });

  test('places are known in JSON too', async () => {
    write('voicectl.config.json', '{\n  "retries": "many",\n  "profiles": { "p": { "wait": 3 } }\n}\n');
    const { message } = await refusal(resolve(['device']));
    expect(message).toMatch(/\.json:2:14: retries: .*; .*\.json:3:32: profiles\.p\.wait: 3, /);
  });

  test('no secret is shown: no key, no password in an address, no name that may be a key', async () => {
    const text = [
      'apiKey: [canary]',
      'acceptKey: [{ canary: canary }]',
      'baseUrl: http://u:canary@h',
      'canary1: x',
      'apiKye: canary',
      'profiles: { p: canary }',
    ].join('\n');
    write('voicectl.config.yaml', text);
    const { message, details } = await refusal(resolve(['device']));
    expect(message).toMatch(
      /:1:9: apiKey: \(hidden\), expected a single value; .*:5:1: apiKye: no such setting, did you/,
    );
    expect(JSON.stringify([message, details])).not.toContain('canary');
    expect(details.problems).toHaveLength(6);
  });

  test('one that has a key and can be read by others', async () => {
    write('voicectl.config.yaml', 'apiKey: k\n', 0o644);
    const error = await refusal(resolve(['retries']));
    expect(error).toMatchObject({
      code: 'bad-config',
      hint: `Run chmod 600 ${join(cwd, 'voicectl.config.yaml')}`,
    });
    write('voicectl.config.yaml', 'profiles: { p: { apiKey: k } }\n', 0o640);
    await refusal(resolve(['retries'], { profile: 'p' }));
    write('voicectl.config.yaml', 'profiles: { p: { apiKey: k }, q: {} }\n', 0o644);
    await refusal(resolve(['retries']));
    await refusal(resolve(['retries'], { profile: 'q' }));
    chmodSync(join(cwd, 'voicectl.config.yaml'), 0o600);
    expect((await resolve(['apiKey'], { profile: 'p' })).settings.apiKey).toBe('k');
  });

  test.each([
    ['that is not there', { config: 'missing.yaml' }],
    ['for a profile, where there is none', { profile: 'p' }],
  ])('one %s', async (_what, flags) => {
    expect((await refusal(resolve(['retries'], flags))).code).toBe('bad-config');
  });
});

describe('a flag or variable that is refused', () => {
  test('is named, with what it held and what was expected', async () => {
    const flag = await refusal(resolve(['retries'], { retries: 'x' }));
    expect(flag).toMatchObject({
      code: 'usage',
      message: '--retries: "x" is not valid: expected a whole number from 0 to 100',
    });
    const variable = await refusal(resolve(['baseUrl'], {}, { VOICECTL_BASE_URL: 'x' }));
    expect(variable.message).toMatch(/^VOICECTL_BASE_URL: "x" is not valid: expected a URL/);
  });

  test('an output is a file: only the audio of stream goes to standard output', async () => {
    for (const name of ['html', 'junit', 'har', 'resultOut', 'dialectOut', 'certOut'] as const)
      expect((await refusal(resolve([name], { [flagKey(name)]: '-' }))).message).toMatch(
        /"-" is not valid: expected a file/,
      );
    expect((await resolve(['out'], { out: '-' })).settings.out).toBe('-');
  });

  test('a key is what stands between blanks and line ends, and never shown', async () => {
    const { settings } = await resolve(['apiKey'], {}, { VOICECTL_API_KEY: ' a-key-1234\r\n' });
    expect(settings.apiKey).toBe('a-key-1234');
    const { message } = await refusal(resolve(['apiKey'], { apiKey: ' ' }));
    expect(message).toBe('--api-key: the value is not valid: expected a key');
  });

  test('all wrong values are reported at once, each with its flag or variable', async () => {
    const flags = {
      fault: ['tokn-slow', 'drop', 'close:code=99'],
      network: 'moon',
      wait: '5',
      threshold: ['first-audio<1s', 'failed<1%'],
      reply: 'parot',
    };
    const names = ['baseUrl', 'fault', 'network', 'wait', 'threshold', 'reply', 'shared'] as const;
    const env = { VOICECTL_BASE_URL: 'x', VOICECTL_SHARED: 'redis://u:canary/@h' };
    const { code, message, details } = await refusal(resolve(names, flags, env));
    expect(code).toBe('usage');
    expect(message.split('; ').map((one) => one.replace(/ is not valid.*/, ''))).toEqual([
      'VOICECTL_BASE_URL: "x"',
      '--fault: "tokn-slow"',
      '--fault: "close:code=99"',
      '--network: "moon"',
      '--wait: "5"',
      '--threshold: "first-audio<1s"',
      '--reply: "parot"',
      'VOICECTL_SHARED: the value',
    ]);
    expect(details.problems).toHaveLength(8);
    expect(JSON.stringify([message, details])).not.toContain('canary');
  });

  test('mistakes of flags and of the config file are reported together', async () => {
    write('voicectl.config.yaml', 'retries: many\n');
    const { code, message } = await refusal(resolve(['wait'], { wait: '5' }));
    expect(code).toBe('usage');
    expect(message).toMatch(
      /^--wait: "5" is not valid: .*; .*voicectl\.config\.yaml:1:10: retries: "many", /,
    );
  });

  test('neither a key nor a password in an address is shown', async () => {
    expect((await refusal(resolve(['apiKey'], { apiKey: ['canary'] }))).message).not.toContain('canary');
    expect((await refusal(resolve(['baseUrl'], { baseUrl: 'http://u:canary@h' }))).message).not.toContain(
      'canary',
    );
  });
});

describe('flags that belong together', () => {
  test.each([
    ['needs its partner', ['cert', 'tlsKey'], { cert: 'c.pem' }, '--cert needs --tls-key'],
    [
      'is for an emulator that is not started',
      ['local', 'fault', 'reply'],
      { fault: ['drop'] },
      '--fault needs --local: it applies to an emulator in this process',
    ],
    [
      'cannot be combined with another',
      ['local', 'baseUrl'],
      { local: true, baseUrl: 'http://h.localhost' },
      '--base-url cannot be combined with --local',
    ],
    [
      'an emulator in this process cannot use',
      ['local', 'apiKeyFile', 'ca'],
      { local: true, apiKeyFile: 'k', ca: 'c.pem' },
      '--api-key-file cannot be combined with --local: the local emulator needs no key; --ca cannot be combined with --local: the local emulator needs no certificate',
    ],
    [
      'gives the key twice',
      ['apiKey', 'apiKeyFile'],
      { apiKey: 'key', apiKeyFile: 'k' },
      '--api-key cannot be combined with --api-key-file',
    ],
    [
      'would be read for nothing',
      ['diff', 'merge'],
      { diff: 'a.yaml', merge: 'b.yaml' },
      '--diff cannot be combined with --merge: it writes no dialect',
    ],
    [
      'names a service that is not formed',
      ['shared', 'sharedPrefix'],
      { sharedPrefix: 'team-a' },
      '--shared-prefix needs --shared: an emulator alone has no keys in Redis',
    ],
    [
      'opens metrics that are refused',
      ['shared', 'processes', 'metricsAllow'],
      { shared: 'redis://h', processes: '2', metricsAllow: ['10.0.0.1'] },
      '--processes cannot be combined with --metrics-allow: the processes share a port, so that metrics are refused',
    ],
    [
      'would show a token that is not requested',
      ['curl', 'decode'],
      { curl: true, decode: true },
      '--curl cannot be combined with --decode: no token is requested',
    ],
    [
      'is given by both of its names',
      ['soundTimeout'],
      { soundTimeout: '1s', deviceTimeout: '2s' },
      '--sound-timeout cannot be combined with --device-timeout: that is its earlier name',
    ],
    [
      'is wrong in two ways',
      ['local', 'reply', 'curl', 'shard', 'startAt'],
      { reply: 'tone', shard: '1/2' },
      '--reply needs --local: it applies to an emulator in this process; --shard needs --start-at: all shards start at the same time',
    ],
  ] as const)('one that %s is refused', async (_what, names, flags, message) => {
    expect(await refusal(resolve(names as readonly OptionName[], flags))).toMatchObject({
      code: 'usage',
      message,
    });
  });

  test('a config file may have settings that only some commands take', async () => {
    write('voicectl.config.yaml', 'fault: drop\nbaseUrl: http://h.localhost\nreply: tone\n');
    const { settings } = await resolve(['local', 'fault', 'baseUrl'], { local: true });
    expect(settings.fault).toEqual([{ name: 'drop', probability: 1 }]);
    expect((await resolve(['local', 'fault'])).settings.fault).toHaveLength(1);
    expect((await resolve(['reply'], { reply: 'echo' })).settings.reply).toBe('echo');
  });

  test('or that have no effect alone: another value of a default', async () => {
    write('voicectl.config.yaml', 'sharedPrefix: team-a\n');
    const { settings } = await resolve(['shared', 'sharedPrefix']);
    expect(settings).toEqual({ shared: undefined, sharedPrefix: 'team-a' });
  });

  test('but not half of a pair', async () => {
    write('voicectl.config.yaml', 'cert: c.pem\n');
    expect((await refusal(resolve(['cert', 'tlsKey']))).message).toBe('--cert needs --tls-key');
  });
});

describe('an old name', () => {
  test('of a flag still works, and the new one is named', async () => {
    const { settings, renamed } = await resolve(['tlsKey', 'cert'], { key: 'k.pem', cert: 'c.pem' });
    expect(settings).toEqual({ tlsKey: 'k.pem', cert: 'c.pem' });
    expect(renamed).toEqual(['--key is now called --tls-key']);
  });

  test('of a repeatable flag may stand beside the new one', async () => {
    const { settings } = await resolve(['situation'], { drill: ['D9'], situation: ['D10', 'D1'] });
    expect(settings.situation).toEqual(['D9', 'D10', 'D1']);
  });

  test('of a value, as a flag and in a config file', async () => {
    const flag = await resolve(['level'], { level: 'base' });
    expect(flag.settings.level).toBe('quick');
    expect(flag.renamed).toEqual(['--level base is now called --level quick']);
    write('voicectl.config.yaml', 'device: d\nlevel: base\n');
    const file = await resolve(['level']);
    expect(file.settings.level).toBe('quick');
    expect(file.renamed).toEqual([
      `${join(cwd, 'voicectl.config.yaml')}:2:8: level: base is now called quick`,
    ]);
  });

  test('of a config key, in a profile too', async () => {
    write('voicectl.config.yaml', 'profiles:\n  p:\n    deviceTimeout: 5s\n');
    const { settings, renamed } = await resolve(['soundTimeout'], { profile: 'p' });
    expect(settings.soundTimeout).toBe(5_000);
    expect(renamed).toEqual([
      `${join(cwd, 'voicectl.config.yaml')}:3:5: deviceTimeout is now called soundTimeout`,
    ]);
  });

  test('has its mistakes reported under the name that was used', async () => {
    write('voicectl.config.yaml', 'deviceTimeout: 5\n');
    expect((await refusal(resolve(['device']))).message).toMatch(
      /:1:16: deviceTimeout: 5, expected a duration/,
    );
    rmSync(join(cwd, 'voicectl.config.yaml'));
    const { message } = await refusal(resolve(['soundTimeout'], { deviceTimeout: '5' }));
    expect(message).toMatch(/^--device-timeout: "5" is not valid/);
  });

  test('gives no notice beside the new one, which wins', async () => {
    write('voicectl.config.yaml', 'deviceTimeout: 5s\nsoundTimeout: 7s\n');
    const { settings, renamed } = await resolve(['soundTimeout']);
    expect({ settings, renamed }).toEqual({ settings: { soundTimeout: 7_000 }, renamed: [] });
  });

  test('is not suggested for a misspelt one', async () => {
    write('voicectl.config.yaml', 'deviceTimeuot: 5s\n');
    expect((await refusal(resolve(['device']))).message).not.toContain('deviceTimeout?');
  });
});

describe('the table of options', () => {
  test.each(optionNames)('%s has the name of Commander and a default that can be read', (name) => {
    const spec = optionSpec(name);
    expect(new Option(spec.flag).attributeName()).toBe(flagKey(name));
    expect(spec.help).not.toBe('');
    if (spec.default !== undefined) expect(() => parseValue(spec, spec.default ?? '')).not.toThrow();
    for (const other of Object.keys({ ...spec.needs, ...spec.without })) expect(optionNames).toContain(other);
    if (spec.preset !== undefined) expect(() => parseValue(spec, spec.preset ?? '')).not.toThrow();
  });
});
