import * as z from 'zod';
import { closeCodeSchema, closeReasonSchema } from '../../protocol/close-code-schema.ts';
import { durationSchema } from '../../protocol/duration.ts';
import { faultSchema } from '../../protocol/fault-schema.ts';
import type { Fault } from '../../protocol/faults.ts';
import { readFault } from '../../protocol/read-fault.ts';

/**
 * A scenario in YAML or JSON: what the AI does on each stream, step by step, and its
 * faults. Paths are relative to the file.
 */

const duration = (what: string) => durationSchema.describe(what);

/** `NAME:key=value,…`, as on the command line, or an object. */
const writtenFault = z
  .union([
    z.string().transform((written, context): Fault => {
      try {
        return readFault(written);
      } catch (thrown) {
        context.addIssue({ code: 'custom', message: (thrown as Error).message });
        return z.NEVER;
      }
    }),
    faultSchema,
  ])
  .describe('A fault from the catalogue, as NAME:key=value,… or as an object');

const trigger = z
  .union(
    [
      z.enum(['connected', 'speech-start', 'speech-end']),
      z.strictObject({ after: duration('Time since the previous step') }),
      z.strictObject({
        bytes: z.int().min(1).describe('Bytes of audio from the user since the previous step'),
      }),
      z.strictObject({ event: z.string().min(1).describe('Reported by `voicectl emulator event NAME`') }),
    ],
    { error: 'expected connected, speech-start, speech-end, {after}, {bytes} or {event}' },
  )
  .describe('What the step waits for; speech and events during the previous step count');

const clip = {
  file: z.string().min(1).optional().describe('Path of a WAV file, relative to the scenario file'),
  tone: z
    .number()
    .min(20)
    .max(8_000)
    .optional()
    .describe('A tone of this frequency, in Hz; `for` is its length'),
  silence: duration('Silence of this length').optional(),
  utterance: z.literal(true).optional().describe("The user's last turn"),
};

const saidForms = 'expected a WAV file, or exactly one of file, tone, silence and utterance';
const speech = z
  .union(
    [
      z.string().min(1),
      z
        .strictObject({
          ...clip,
          for: durationSchema.prefault('1s').describe('Length of a tone'),
          'barge-in': z.boolean().default(true).describe('Whether it stops when the user talks over it'),
        })
        .refine((say) => countKeys(say, Object.keys(clip)) === 1, { error: saidForms }),
    ],
    { error: saidForms },
  )
  .describe(
    'Speak, and wait until it has been spoken: a WAV file, or one of file, tone, silence and utterance',
  );

const actions = {
  say: speech.optional(),
  wait: duration('Do nothing for this long').optional(),
  status: z
    .enum(['listening', 'speaking'])
    .optional()
    .describe('Send a status message in the wording of the dialect'),
  error: z
    .strictObject({ code: z.string().min(1), message: z.string().default('') })
    .optional()
    .describe('Send an error message in the wording of the dialect'),
  send: z.json().optional().describe('Send any JSON'),
  fault: writtenFault.optional().describe('Add a fault, by default for this stream or device'),
  'clear-faults': z.literal(true).optional().describe('Clear all faults'),
  close: z
    .strictObject({
      code: closeCodeSchema.default(1000),
      reason: closeReasonSchema.default(''),
    })
    .optional()
    .describe('Close the stream'),
};

const action = z
  .strictObject(actions)
  .refine(
    (given) => countKeys(given, Object.keys(actions)) === 1,
    `expected exactly one of ${Object.keys(actions).join(', ')}`,
  )
  .meta({ minProperties: 1, maxProperties: 1 });

const part = {
  steps: z
    .array(
      z.strictObject({
        when: trigger,
        do: z.array(action).default([]).describe('Actions, in order'),
      }),
    )
    .default([])
    .describe('Steps of each stream, in order; without steps, the AI uses the reply mode'),
  repeat: z.boolean().default(false).describe('Whether to begin again after the last step'),
};

const isEndless = ({ steps, repeat }: { steps: { when: unknown }[]; repeat: boolean }) =>
  repeat && steps.every(({ when }) => when === 'connected');

const wait = 'expected a step that waits for something other than connected, because the steps are repeated';

export const scenarioSchema = z
  .strictObject({
    name: z.string().optional(),
    description: z.string().optional(),
    faults: z.array(writtenFault).default([]).describe('Faults that are active from the start'),
    ...part,
    devices: z
      .record(
        z.string(),
        z.strictObject(part).refine((one) => !isEndless(one), wait),
      )
      .default({})
      .describe('Steps for individual devices, instead of the common ones'),
  })
  .refine((one) => !isEndless(one), wait)
  .meta({ title: 'voicectl scenario', description: 'What the emulated service does, step by step' });

export type ScenarioInput = z.input<typeof scenarioSchema>;
type Scenario = z.output<typeof scenarioSchema>;
export type ScenarioPart = Pick<Scenario, 'steps' | 'repeat'>;
type Step = Scenario['steps'][number];
export type Trigger = Step['when'];
export type ScenarioAction = Step['do'][number];
export type SpeechAction = Exclude<NonNullable<ScenarioAction['say']>, string>;

function countKeys(value: object, keys: readonly string[]): number {
  return Object.entries(value).filter(([key, one]) => keys.includes(key) && one !== undefined).length;
}
