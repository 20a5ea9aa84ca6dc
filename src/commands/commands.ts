import { type Command, type CommandGroup, type CommandSpec, defineCommand } from './command.ts';
import { emulatorGroup } from './emulator/group.ts';

const load = defineCommand({
  name: 'load',
  summary: 'simulate many devices at once, and measure tokens, connections and replies under load',
  hasScreen: ({ dryRun }) => !dryRun,
  mostUsed: [
    'file',
    'sessions',
    'arrival',
    'hold',
    'task',
    'baseUrl',
    'apiKeyFile',
    'apiKey',
    'confirm',
    'dryRun',
    'threshold',
    'loadProcesses',
    'resultOut',
    'junit',
    'html',
  ],
  examples: [
    "voicectl load --sessions 200 --arrival poisson:20/s --threshold 'first-audio:p95<800ms'",
    'voicectl load --sessions 500 --task storm --ramp-up 10s --json',
    'voicectl load --sessions 5000 --base-url https://voice.example --confirm voice.example --dry-run',
  ],
  load: async () => (await import('./load/run.ts')).run,
});

const loadGroup: CommandGroup = {
  name: 'load',
  summary: load.spec.summary,
  own: load,
  subcommands: [
    defineCommand({
      name: 'load merge',
      summary: 'merge the results of shards into one',
      args: [['<file...>', 'results written by load --out', 'files']],
      examples: ['voicectl load merge shard-1.json shard-2.json --html load.html'],
      load: async () => (await import('./load/merge.ts')).run,
    }),
  ],
};

/** Every command with its loader, in the order of the help. */
export const commands: readonly (Command | CommandGroup)[] = [
  defineCommand({
    name: 'serve',
    summary: 'run an emulator of the whole service: token endpoint and voice stream',
    hasScreen: () => true,
    mostUsed: [
      'reply',
      'scenario',
      'fault',
      'network',
      'dialect',
      'rateLimit',
      'acceptKey',
      'port',
      'host',
      'tls',
      'shared',
      'page',
    ],
    examples: [
      'voicectl serve',
      'voicectl serve --open',
      'voicectl serve --port 0 --reply echo --json',
      'voicectl serve --dialect dialect.yaml',
      'voicectl serve --tls --cert-out cert.pem',
      'voicectl serve --shared redis://127.0.0.1:6379',
    ],
    load: async () => (await import('./serve/run.ts')).run,
  }),
  defineCommand({
    name: 'exec',
    summary: 'start an emulator on a free port, run a command against it, and exit with the command’s status',
    args: [['<command...>', 'the command and its arguments', 'files']],
    passThrough: true,
    headings: {
      target: 'Through a proxy to a service, instead of an emulator:',
      service: 'Device and TLS:',
      tls: 'Device and TLS:',
    },
    mostUsed: [
      'target',
      'reply',
      'scenario',
      'fault',
      'network',
      'dialect',
      'rateLimit',
      'acceptKey',
      'proxyRecord',
      'failOn',
    ],
    examples: [
      'voicectl exec -- npm test',
      'voicectl exec --target https://service.example --fail-on violation -- npm test',
      'voicectl exec --reply echo -- sh -c \'curl "$VOICECTL_BASE_URL"\'',
    ],
    load: async () => (await import('./exec/run.ts')).run,
  }),
  defineCommand({
    name: 'token',
    summary: 'request a token and print it',
    headings: { emulator: 'Emulator for --local:' },
    mostUsed: ['local', 'baseUrl', 'device', 'apiKeyFile', 'apiKey', 'retries', 'timeout', 'decode', 'curl'],
    examples: [
      'TOKEN=$(voicectl token --device d1 --local)',
      'voicectl token --device d1 --decode',
      'voicectl token --device d1 --curl',
    ],
    load: async () => (await import('./token/run.ts')).run,
  }),
  defineCommand({
    name: 'stream',
    summary: 'request a token, connect, stream audio and receive the AI audio',
    // A screen shows one session. For several, lines show the figures.
    hasScreen: ({ interactive, repeat, warmup }) => !interactive && repeat + warmup === 1,
    headings: { emulator: 'Emulator for --local:' },
    mostUsed: [
      'file',
      'mic',
      'interactive',
      'local',
      'baseUrl',
      'device',
      'apiKeyFile',
      'apiKey',
      'reply',
      'fault',
      'expectAudio',
      'maxFirstAudio',
      'play',
      'out',
      'record',
      'junit',
    ],
    examples: [
      'voicectl stream --file hello.wav --local --expect-audio',
      'voicectl stream --file hello.wav --out reply.wav --json',
      'voicectl stream --mic --local',
      'voicectl stream --interactive --local',
      'voicectl stream --file hello.wav --local --scenario barge-in --fault drip',
      'sox in.flac -t wav - | voicectl stream --file - --out - | sox -t raw -r 16k -e signed -b 16 -c 1 - out.flac',
    ],
    load: async () => (await import('./stream/run.ts')).run,
  }),
  defineCommand({
    name: 'check',
    summary: 'check, rule by rule, whether a service follows the specification',
    hasScreen: ({ dryRun, again }) => !dryRun && again === undefined,
    headings: { emulator: 'Emulator for --local:' },
    mostUsed: [
      'local',
      'baseUrl',
      'apiKeyFile',
      'apiKey',
      'level',
      'dryRun',
      'rule',
      'again',
      'expected',
      'dialect',
      'wait',
      'junit',
      'html',
    ],
    examples: [
      'voicectl check --local --level full',
      'voicectl check --base-url https://voice.example --dry-run',
      'voicectl check --base-url https://voice.example --junit check.xml --html check.html',
      'voicectl check --base-url https://voice.example --rule R12 --rule R41',
      'voicectl check --base-url https://voice.example --again R17',
    ],
    load: async () => (await import('./check/run.ts')).run,
  }),
  defineCommand({
    name: 'learn',
    summary: 'learn what a service does where the specification is silent, and write it as a dialect',
    headings: { emulator: 'Emulator for --local:' },
    mostUsed: ['local', 'baseUrl', 'apiKeyFile', 'apiKey', 'level', 'dryRun', 'dialectOut', 'merge', 'diff'],
    examples: [
      'voicectl learn --base-url https://staging.voice.example --level standard --out dialect.yaml',
      'voicectl learn --base-url https://staging.voice.example --diff dialect.yaml',
      'voicectl learn --base-url https://staging.voice.example --exhaust --merge dialect.yaml',
      'voicectl serve --dialect dialect.yaml',
    ],
    load: async () => (await import('./learn/run.ts')).run,
  }),
  defineCommand({
    name: 'proxy',
    summary: 'relay the traffic between a device and a service: show it, judge it, and inject faults',
    hasScreen: () => true,
    headings: { emulator: 'Verdicts and faults:' },
    mostUsed: [
      'target',
      'proxyPort',
      'proxyHost',
      'fault',
      'network',
      'failOn',
      'proxyRecord',
      'tls',
      'page',
    ],
    examples: [
      'voicectl proxy --target https://service.example --record sessions',
      'voicectl proxy --target https://service.example --open',
      'voicectl proxy --target http://127.0.0.1:8787 --json --fail-on violation',
      'voicectl proxy --target https://service.example --host 0.0.0.0 --tls --cert-out cert.pem',
    ],
    load: async () => (await import('./proxy/run.ts')).run,
  }),
  defineCommand({
    name: 'drill',
    summary: 'put a device through everything a service can do to it, and judge how it reacts',
    hasScreen: ({ list }) => !list,
    args: [
      ['[command...]', 'the command that runs the device; without one, start the device yourself', 'files'],
    ],
    passThrough: true,
    headings: { service: 'The device:' },
    mostUsed: ['situation', 'list', 'noticeWithin', 'device', 'port', 'host', 'tls', 'junit'],
    examples: [
      'voicectl drill -- node device.js',
      'voicectl drill --situation D9 --situation D10-half-open -- python3 device.py',
      'voicectl drill --junit drill.xml --parallel 4 -- ./client',
      'voicectl drill --host 0.0.0.0 --accept-key-file keys.txt --device kitchen',
      'voicectl drill --list',
    ],
    load: async () => (await import('./drill/run.ts')).run,
  }),
  loadGroup,
  defineCommand({
    name: 'compare',
    summary: 'compare two results: did it get worse?',
    args: [
      [
        '<before>',
        'a baseline, a result of load --out, the --json output of stream, check or drill, or a dialect',
        'files',
      ],
      ['<now>', 'a later result of the same kind', 'files'],
    ],
    examples: [
      'voicectl compare baseline.json result.json',
      "voicectl compare monday.json today.json --tolerance 'first-audio:p95<10%' --html compare.html",
      'voicectl compare staging.yaml production.yaml',
    ],
    load: async () => (await import('./compare/run.ts')).run,
  }),
  defineCommand({
    name: 'inspect',
    summary:
      'show the timeline, turn-taking, voice, events and summary of a recording or of a WAV, or export it as a page or a HAR',
    args: [
      [
        '<recording>',
        'folder written by stream --record, or a WAV: the user left, the AI right; mono: the AI',
        'files',
      ],
    ],
    examples: [
      'voicectl inspect session/',
      'voicectl inspect session/ --html session.html',
      'voicectl inspect session/ --har session.har',
      'voicectl inspect call.wav --json',
      'voicectl inspect session/ --scenario-out session.yaml',
    ],
    load: async () => (await import('./inspect/run.ts')).run,
  }),
  defineCommand({
    name: 'replay',
    summary: 'run an emulator whose AI plays a recording',
    hasScreen: () => true,
    args: [['<recording>', 'folder written by stream --record', 'folders']],
    mostUsed: ['fault', 'network', 'port', 'host', 'page'],
    examples: ['voicectl replay session/', 'voicectl replay session/ --speed 4 --port 0 --json'],
    load: async () => (await import('./replay/run.ts')).run,
  }),
  defineCommand({
    name: 'mcp',
    summary: 'serve coding agents over the Model Context Protocol, on standard input and output',
    headings: { service: 'What the client may do:' },
    examples: [
      'voicectl mcp --folder voicectl-out',
      'voicectl mcp --allow-target staging.voice.example --api-key-file key.txt',
    ],
    load: async () => (await import('./mcp/run.ts')).run,
  }),
  defineCommand({
    name: 'audio',
    old: 'devices',
    summary: 'list audio inputs and outputs, or test them',
    args: [
      [
        '[action]',
        'test: record two seconds, play them back, and measure the delay from output to input',
        ['test'],
      ],
    ],
    examples: ['voicectl audio', 'voicectl audio --json', 'voicectl audio test --input-device headset'],
    load: async () => (await import('./audio/run.ts')).run,
  }),
  defineCommand({
    name: 'doctor',
    summary: 'check what works on this machine, and show how to fix what does not',
    examples: ['voicectl doctor', 'voicectl doctor --base-url https://voice.example --json'],
    load: async () => (await import('./doctor/run.ts')).run,
  }),
  emulatorGroup,
];

const headings: readonly (readonly [heading: string, names: readonly string[]])[] = [
  ['An emulator of the service:', ['serve', 'exec', 'emulator', 'replay']],
  ['A client of the service:', ['token', 'stream', 'inspect']],
  ['Verdicts and measurements:', ['check', 'learn', 'proxy', 'drill', 'load', 'compare']],
  ['This machine and this program:', ['mcp', 'audio', 'doctor', 'completion', 'help']],
];

/** The heading under which the help lists a command. */
export function headingOf(name: string): string {
  return headings.find(([, names]) => names.includes(name))?.[0] ?? 'Commands:';
}

/** The commands about the command line itself. They have no settings, and are run without the command tree. */
export const ownCommands = [
  {
    name: 'completion',
    summary: 'print a completion script',
    usage: 'voicectl completion <shell>',
    args: [['<shell>', 'bash, zsh or fish', ['bash', 'zsh', 'fish']]],
    examples: ['voicectl completion bash'],
  },
  {
    name: 'help',
    summary: 'show the help of a command',
    usage: 'voicectl help [--all] [--json] [command]',
    args: [['[command]', 'the command; without one, the program']],
    flags: [
      ['--all', 'show every flag of the command'],
      ['--json', 'print the command, or the whole program, as JSON'],
    ],
    examples: ['voicectl help stream --all', 'voicectl help --json'],
  },
] as const satisfies readonly OwnCommand[];

interface OwnCommand extends Pick<CommandSpec, 'summary' | 'args' | 'examples'> {
  name: string;
  usage: string;
  /** Flags that are no options of other commands, or mean more here, each with its help. */
  flags?: readonly (readonly [flag: string, help: string])[];
}

/** Every command with settings that can be run, including the commands of groups. */
export const allCommands: readonly Command[] = commands.flatMap((one) => {
  if (!('subcommands' in one)) return [one];
  return one.own === undefined ? one.subcommands : [one.own, ...one.subcommands];
});

/** The flags of one of `ownCommands`, each with its help. */
export function ownFlags(command: string | undefined): readonly (readonly [flag: string, help: string])[] {
  const own: readonly OwnCommand[] = ownCommands;
  return own.find(({ name }) => name === command)?.flags ?? [];
}
