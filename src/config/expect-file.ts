import * as z from 'zod';
import { parseYamlFile, type YamlFile } from '../files/yaml-file.ts';
import { type AudioLimitName, audioLimitNames, audioLimits, refuseLimit } from '../kernel/audio-limits.ts';
import { durationSchema as duration } from '../protocol/duration.ts';

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const regularExpression = z
  .string()
  .refine(isRegularExpression, 'expected a regular expression')
  .meta({ format: 'regex' });

const fieldMatch = z.union([
  scalar,
  z.strictObject({
    min: z.number().optional().describe('Smallest number'),
    max: z.number().optional().describe('Largest number'),
    matches: regularExpression.optional().describe('A regular expression that matches somewhere in the text'),
    'one-of': z.array(scalar).min(1).optional().describe('One of these values'),
  }),
  z.strictObject({
    like: z
      .string()
      .max(2_000)
      .regex(/[\p{L}\p{N}]/u, 'expected at least one word')
      .describe('These words; case and punctuation are ignored'),
    wer: z
      .number()
      .min(0)
      .max(0.99)
      .optional()
      .describe('Largest word error rate, such as 0.2 (the default): one word in five'),
  }),
]);

const event = z.string().min(1).describe('Kind of a service message');
const where = z
  .record(z.string().min(1), fieldMatch)
  .default({})
  .describe('Expected values of its fields, by path, such as `error.code`');
const within = duration
  .optional()
  .describe('Time limit from the end of the turn’s speech; default: `--wait`');

const following = z.union([
  z.strictObject({ audio: duration.describe('At least this much AI audio; 0 for any'), within }),
  z.strictObject({ event, where, within }),
  z.strictObject({
    silence: duration.describe(
      'The AI is silent for this long; `within` counts from the start of the speech',
    ),
    within,
  }),
  z.strictObject({
    hold: duration.describe(
      'Not a turn but a cough: for this long the AI neither stops nor replies because of it',
    ),
  }),
]);

const absence = z.union([z.literal('audio'), z.strictObject({ event, where })]);

const cue = z
  .union([
    z.enum(['connected', 'after-reply']),
    z.strictObject({
      'during-reply': duration.describe('While the AI speaks, this long after its first audio: barge-in'),
    }),
    z.strictObject({ after: duration.describe('This long after the end of the previous clip') }),
  ])
  .describe('Default for the first turn: `connected`; for the others: `after-reply`');

/** Limits on the AI audio, by the names of the flags. */
const limits = Object.fromEntries(
  audioLimitNames.map((name) => {
    const limit = duration.optional().superRefine((ms, context) => {
      const refused = ms === undefined ? undefined : refuseLimit(name, ms);
      if (refused !== undefined) context.addIssue({ code: 'custom', message: refused });
    });
    return [name, limit.describe(audioLimits[name].says)];
  }),
) as Record<AudioLimitName, z.ZodOptional<typeof duration>>;

const command = z
  .array(z.string().min(1))
  .min(1)
  .describe(
    'A program and its arguments. `{wav}` stands for the path of the WAV; without it the WAV is on standard input',
  );

/** Text that a command speaks, cached by its content. */
const spoken = z.strictObject({
  text: z.string().min(1).max(10_000).describe('What the user says'),
  by: z
    .array(z.string().min(1))
    .min(1)
    .refine((words) => words.some((word) => word.includes('{wav}')), 'expected {wav} in an argument')
    .meta({ contains: { type: 'string', pattern: '\\{wav\\}' } })
    .describe(
      'A program that speaks it, and its arguments. `{wav}` stands for the WAV to write, `{text}` for the text; without `{text}` the text is on standard input',
    ),
});

const clean = z
  .union([z.literal(true), z.enum(['findings', 'strict'])])
  .optional()
  .describe('Fail on findings in the AI audio; `strict`: also on remarks');

const judge = z
  .union([
    command,
    z.strictObject({ run: command, within: duration.optional().describe('Time limit; default 30 s') }),
  ])
  .describe('A command that gets the reply as WAV (16 kHz, 16-bit, mono) and exits with 0 if it accepts it');

const turn = z.strictObject({
  name: z.string().min(1).optional().describe('Shown in the verdicts'),
  say: z
    .union([z.string().min(1), spoken])
    .optional()
    .describe(
      'WAV, relative to this file, or text and the command that speaks it; if missing, the turn is silent',
    ),
  when: cue.optional(),
  ...limits,
  'expect-clean': clean,
  expect: z.array(following).default([]).describe('What must follow the turn'),
  absent: z.array(absence).default([]).describe('What must not arrive before the next turn'),
  judge: judge.optional(),
});

/** The published schema of a conversation file. */
export const expectFileSchema = z
  .strictObject({
    $schema: z.string().optional().describe('For editors; not read'),
    turns: z.array(turn).min(1).describe('What is said, and what must follow, turn by turn'),
    ...limits,
    'expect-clean': clean,
    'expect-event': z.array(event).default([]).describe('Kinds of service messages that must arrive'),
    'forbid-event': z.array(event).default([]).describe('Kinds of service messages that must not arrive'),
    'expect-close': z.int().min(1000).max(4999).optional().describe('Close code of the stream'),
  })
  .describe(
    'A conversation. Limits beside `turns` apply to the whole session, like the flags with the same names',
  );

export type ExpectFile = z.output<typeof expectFileSchema>;
export type ExpectFileTurn = ExpectFile['turns'][number];

/** Reads a conversation file. Throws `bad-input` naming line, path, the value and what was expected. */
export function parseExpectFile(content: string, file: string): YamlFile<typeof expectFileSchema> {
  const parsed = parseYamlFile(content, file, {
    schema: expectFileSchema,
    hint: 'schema/expect-file.schema.json describes the file; editors can check the file against it.',
  });
  const late = parsed.value.turns.findIndex(({ when }, index) => index > 0 && when === 'connected');
  if (late > 0)
    throw parsed.refuse(['turns', late, 'when'], 'only the first turn can be spoken when connected');
  return parsed;
}

function isRegularExpression(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}
