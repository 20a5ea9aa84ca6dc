import * as z from 'zod';
import { limitSetting } from '../../config/options/expectation.ts';
import { audioLimitNames, audioLimits } from '../../kernel/audio-limits.ts';
import { type PrintedLine, plainEnvironment, startChild } from './child-command.ts';
import { createKeptLines } from './kept-lines.ts';
import {
  anyDialect,
  anyDuration,
  anyFaults,
  anyService,
  anyText,
  anyTexts,
  defineTool,
  emulatorFlags,
  flagWords,
  reachableService,
  soundFile,
  type ToolAnswer,
  type ToolCall,
  type ToolContext,
} from './tool.ts';

/** The limits on AI audio, by the names of the settings. */
const audioExpectations = Object.fromEntries(
  audioLimitNames.map((name) => [
    limitSetting(name),
    anyDuration().describe(audioLimits[name].help).optional(),
  ]),
) as Record<ReturnType<typeof limitSetting>, z.ZodOptional<z.ZodString>>;

/** Commands that run to their end. */
export const commandTools = {
  stream: defineTool({
    says: 'Request a token, connect, stream a WAV file in real time, and receive the reply: a smoke test. Without service it starts an emulator for this call. exitCode 0: all expectations held; failure says why not.',
    input: z.strictObject({
      file: anyText().default('hello.wav').describe('WAV file, or an included one (see list sounds)'),
      service: anyService().optional(),
      device: anyText().optional(),
      expect: z
        .strictObject({
          ...audioExpectations,
          events: anyTexts().optional().describe('Kinds of service messages that must arrive'),
          forbid: anyTexts().optional().describe('Kinds that must not arrive'),
          close: z.int().min(1000).max(4999).optional().describe('Close code'),
        })
        .optional(),
      pace: anyText().optional().describe('realtime, max, or a factor'),
      wait: anyDuration().optional().describe('Time to wait for a reply to start; default 10s'),
      repeat: z.int().min(1).max(1_000).optional().describe('Number of sessions'),
      record: anyText().optional().describe('Record the session into a new folder of this name'),
      out: anyText().optional().describe('Write the AI audio as a WAV of this name'),
      timeout: anyDuration().default('2m').describe('Time limit for the whole call'),
      faults: anyFaults().optional().describe('Faults of the emulator for this call'),
      reply: anyText()
        .regex(/^(parrot|echo|tone|silence|file:.+)$/)
        .optional()
        .describe('What the AI of this call’s emulator says'),
      dialect: anyDialect().optional(),
      scenario: anyText().optional(),
    }),
    async act(args, context, call) {
      const { boundary } = context;
      const { device, pace, wait, repeat, timeout, record, out } = args;
      const { events, forbid, close, ...limits } = args.expect ?? {};
      const { env, words } = connection(args.service, context);
      const counts = new Map<string, number>();
      const shown = createKeptLines();
      const { exitCode, last, errors } = await runChild('stream', context, call, {
        env,
        words: [
          ...words,
          ...flagWords({
            file: await soundFile(args.file, context),
            ...Object.fromEntries(audioLimitNames.map((name) => [name, limits[limitSetting(name)]])),
            'expect-event': events,
            'forbid-event': forbid,
            'expect-close': close,
            ...{ device, pace, wait, repeat, timeout },
            record: record && (await boundary.writable(record)),
            out: out && (await boundary.writable(out)),
          }),
          ...(await emulatorFlags(args, context)),
        ],
        onLine(line) {
          const { type = 'other' } = line;
          counts.set(type, (counts.get(type) ?? 0) + 1);
          if (type === 'summary' || type === 'error') return;
          if (type === 'audio' || type === 'figures' || type === 'state') return;
          call.progress(progressText(shown.add(line)));
        },
      });
      const omitted = shown.leftOut > 0 && { omitted: { events: shown.leftOut } };
      const answer = { exitCode, ...last, counts: Object.fromEntries(counts), events: shown.lines };
      return { ...answer, ...errors, ...omitted };
    },
  }),

  check: defineTool({
    says: 'Check, rule by rule, whether a service follows the specification, with evidence. Without service it checks an emulator (with the dialect). Returns in full the rules that did not pass.',
    input: z.strictObject({
      service: anyService().optional(),
      level: z
        .enum(['quick', 'standard', 'full'])
        .default('quick')
        .describe('standard takes minutes; full also reaches the rate limit'),
      rules: anyTexts().optional().describe('Only these rules, such as R12'),
      device: anyText().optional(),
      dialect: anyDialect().optional(),
      maxRequests: z.int().min(1).optional(),
      planOnly: z.boolean().default(false).describe('Return the plan and its cost; send nothing'),
      timeout: anyDuration().default('10m'),
    }),
    async act(args, context, call) {
      const { level, rules, device, maxRequests, timeout } = args;
      const { env, words } = connection(args.service, context);
      const verdicts = new Map<string, unknown[]>();
      const { exitCode, last, errors } = await runChild('check', context, call, {
        env,
        words: [
          ...words,
          ...flagWords({ level, rule: rules, device, 'max-requests': maxRequests, timeout }),
          ...(args.planOnly ? ['--dry-run'] : []),
          ...(await emulatorFlags(args, context)),
        ],
        onLine: (line) => sortVerdict(line, 'rule', verdicts, call),
      });
      return { exitCode, ...last, rules: Object.fromEntries(verdicts), ...errors };
    },
  }),

  drill: defineTool({
    says: 'Run a device (a command) against an emulator in one situation after another (closes, faults, rate limits …), and judge what it does. The command finds the service in VOICECTL_BASE_URL, VOICECTL_WS_URL, VOICECTL_API_KEY and VOICECTL_DEVICE.',
    input: z.strictObject({
      command: anyTexts().min(1).describe('Program and arguments; no shell'),
      situations: anyTexts()
        .optional()
        .describe('Only these situations, such as D9-1012 or D9; default: all'),
      deviceTimeout: anyDuration().optional().describe('Time limit for the device to connect; default 60s'),
      parallel: z.int().min(1).max(16).optional().describe('Number of situations in parallel'),
      device: anyText().optional().describe('Device identifier'),
    }),
    async act({ command, situations, deviceTimeout, parallel, device }, context, call) {
      const verdicts = new Map<string, unknown[]>();
      const { exitCode, last, errors } = await runChild('drill', context, call, {
        env: plainEnvironment(context.io.env),
        words: [
          '--port=0',
          ...flagWords({ situation: situations, 'device-timeout': deviceTimeout, parallel, device }),
          '--',
          ...command,
        ],
        onLine: (line) => sortVerdict(line, 'drill', verdicts, call),
      });
      return { exitCode, ...last, situations: Object.fromEntries(verdicts), ...errors };
    },
  }),

  inspect: defineTool({
    says: 'Show a recording (from stream or a proxy): who spoke when, events, summary.',
    readOnly: true,
    input: z.strictObject({ recording: anyText().describe('Folder of the recording') }),
    async act({ recording }, context, call) {
      const { boundary, io } = context;
      const { exitCode, last, errors } = await runChild('inspect', context, call, {
        env: plainEnvironment(io.env),
        words: ['--', await boundary.readable(recording)],
        onLine: () => {},
      });
      return { exitCode, ...last, ...errors };
    },
  }),
} as const;

/** How a command reaches a service: its flags, and an environment with the key if that may go there. */
function connection(name: string | undefined, context: ToolContext) {
  const env = plainEnvironment(context.io.env);
  if (name === undefined) return { env, words: ['--local'] };
  const { baseUrl, wsUrl, hasKey } = reachableService(name, context);
  return {
    env: hasKey ? { ...env, VOICECTL_API_KEY: context.apiKey } : env,
    words: [`--base-url=${baseUrl}`, `--ws-url=${wsUrl}`, ...flagWords({ ca: context.ca })],
  };
}

interface ChildRun {
  env: Readonly<Record<string, string | undefined>>;
  words: readonly string[];
  onLine(line: PrintedLine): void;
}

interface ChildResult {
  exitCode: number;
  /** Its summary, or the only object that it printed, and its error. */
  last: ToolAnswer;
  /** Its output on standard error, if it failed. */
  errors: { errors?: string };
}

/** Runs a command to its end. If the call is cancelled, the command and everything that it started end first. */
async function runChild(
  name: string,
  { io }: ToolContext,
  { signal }: ToolCall,
  { env, words, onLine }: ChildRun,
): Promise<ChildResult> {
  const last: ToolAnswer = {};
  signal.throwIfAborted();
  const child = startChild(name, words, {
    env,
    cwd: io.cwd,
    onLine(line) {
      const { type, ...body } = line;
      if (type === 'error' || type === 'summary' || type === 'plan') last[type] = body;
      else if (type === undefined) last.result = body;
      onLine(line);
    },
  });
  const cancel = () => void child.end();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const exitCode = await child.ended;
    if (signal.aborted) {
      await child.end();
      throw signal.reason;
    }
    const said = child.errors();
    return { exitCode, last, errors: exitCode === 0 || said === '' ? {} : { errors: said } };
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Keeps a verdict: only the id of what passed, everything else in full. */
function sortVerdict(
  line: PrintedLine,
  type: 'rule' | 'drill',
  verdicts: Map<string, unknown[]>,
  call: ToolCall,
): void {
  if (line.type !== type) return;
  const { type: _type, section: _section, ...body } = line;
  const verdict = String(body.verdict);
  const isShort = verdict === 'pass' || verdict === 'skipped' || verdict === 'observed';
  verdicts.set(verdict, [...(verdicts.get(verdict) ?? []), isShort ? body.id : body]);
  call.progress(`${body.id} ${verdict}: ${body.message}`);
}

function progressText({ type, ...body }: PrintedLine): string {
  return `${type} ${JSON.stringify(body)}`;
}
