import * as z from 'zod';
import { VoicectlError } from '../kernel/errors.ts';
import { describeIssue, noSuchSetting, readOnce } from '../protocol/schema-problem.ts';
import type { EmulatorOptions } from './options.ts';

const texts = z.array(z.string()).readonly();
const count = z.int().min(0).max(1_000_000);
const call = z.custom<(...args: never[]) => unknown>((value) => typeof value === 'function', 'a function');
/** Options that are checked later. */
const anything = z.custom<object>((value) => typeof value === 'object' && value !== null, 'an object');

/** The type of each option. Files that an option names are read later. */
const schemas: { [Name in keyof Required<EmulatorOptions>]: z.ZodType } = {
  host: z.string(),
  port: z.int().min(0).max(65_535),
  acceptKeys: texts,
  reply: z.union([z.string(), call, z.object({ createReply: call })]),
  replaySpeed: z.number().positive(),
  dialect: anything,
  rateLimit: count,
  maxConnections: count,
  seed: z.int(),
  allowHosts: texts,
  allowOrigins: texts,
  tls: z.union([z.boolean(), z.object({ cert: z.string(), key: z.string() })]),
  controlSecret: z.string().min(1),
  clock: anything,
  onEvent: call,
  tap: call,
  keepAudio: z.boolean(),
  page: call,
  faults: z.array(z.union([z.string(), anything])).readonly(),
  scenario: z.union([z.string(), anything]),
};

const optionsSchema = z.strictObject(schemas).partial();

/** Names whose values are never shown. */
const secrets = new Set(['acceptKeys', 'controlSecret', 'tls']);

/** Throws `usage` naming every option that does not exist or has a wrong value. */
export function checkEmulatorOptions(options: unknown): void {
  const { error } = optionsSchema.safeParse(options, readOnce);
  if (error === undefined) return;
  const problems = error.issues.map((issue) => describeIssue(issue, secrets));
  const texts = problems.map(({ path, value, expected }) =>
    expected === noSuchSetting
      ? `unknown option ${path}`
      : `${path} is ${JSON.stringify(value)}, expected ${expected}`,
  );
  throw new VoicectlError('usage', `Invalid emulator options: ${texts.join('; ')}`, {
    hint: `The options are ${Object.keys(schemas).join(', ')}.`,
    details: { problems },
  });
}
