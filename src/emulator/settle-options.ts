import * as z from 'zod';
import { VoicectlError } from '../kernel/errors.ts';
import { isLoopbackHost } from '../protocol/loopback.ts';
import { connectionsPerDevice, tokenRequestsPerWindow } from '../protocol/rate-limit.ts';
import { describeIssues, readOnce, schemaProblemText } from '../protocol/schema-problem.ts';
import { defaultHost, type SettledService, settleService } from '../service/settings.ts';
import type { EmulatorOptions } from './options.ts';
import { guardReply } from './replies/guard.ts';
import { createReplyMode } from './replies/registry.ts';
import type { ReplyMode } from './replies/reply.ts';
import type { Scenario } from './scenario/scenario.ts';

/** The options with their defaults, and with their files read. */
export interface SettledOptions extends SettledService {
  acceptKeys: readonly string[];
  rateLimit: number;
  maxConnections: number;
  reply: ReplyMode;
  scenario: Scenario | undefined;
}

/**
 * Checks the options and reads the files they name. Throws `usage` for an unknown option or a wrong value,
 * `bad-dialect`, `bad-input` for an unusable file, and `host-exposed`.
 */
export async function settleOptions(options: EmulatorOptions): Promise<SettledOptions> {
  checkEmulatorOptions(options);
  const { host = defaultHost, acceptKeys = [] } = options;
  requireKeysBeyondLoopback(host, acceptKeys);
  return {
    ...(await settleService(options)),
    acceptKeys,
    rateLimit: options.rateLimit ?? tokenRequestsPerWindow,
    maxConnections: options.maxConnections ?? connectionsPerDevice,
    reply: await settleReply(options),
    scenario: await settleScenario(options.scenario),
  };
}

/** Throws `host-exposed` for an address beyond loopback without keys: any key would be accepted there. */
export function requireKeysBeyondLoopback(host: string, acceptKeys: readonly string[]): void {
  if (isLoopbackHost(host) || acceptKeys.length > 0) return;
  throw new VoicectlError('host-exposed', `Refusing to listen on ${host} with any API key accepted`, {
    hint: 'Set the keys to accept with --accept-key or --accept-key-file.',
  });
}

async function settleReply({ reply = 'parrot', replaySpeed, signal }: EmulatorOptions): Promise<ReplyMode> {
  if (typeof reply === 'string') return createReplyMode(reply, { replaySpeed, signal });
  const createReply = typeof reply === 'function' ? reply : reply.createReply;
  return (voice) => guardReply(createReply, voice);
}

async function settleScenario(scenario: EmulatorOptions['scenario']): Promise<Scenario | undefined> {
  if (scenario === undefined) return undefined;
  if (typeof scenario === 'string') {
    const { readScenario } = await import('./scenario/read-scenario.ts');
    return readScenario(scenario);
  }
  if ('replyModeFor' in scenario) return scenario;
  const { loadScenario } = await import('./scenario/scenario.ts');
  return loadScenario(scenario);
}

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
  signal: anything,
  dialect: anything,
  rateLimit: count,
  maxConnections: count,
  pingEveryMs: count,
  seed: z.int(),
  allowHosts: texts,
  allowOrigins: texts,
  tls: z.union([z.boolean(), z.object({ cert: z.string(), key: z.string() })]),
  controlSecret: z.string().min(1),
  clock: z.object({ now: call, wall: call, after: call }),
  onEvent: call,
  tap: call,
  keepAudio: z.boolean(),
  page: call,
  metrics: anything,
  faults: z.array(z.union([z.string(), anything])).readonly(),
  scenario: z.union([z.string(), anything]),
};

const optionsSchema = z.strictObject(schemas).partial();

/** Names whose values are never shown. */
const secrets = new Set(['acceptKeys', 'controlSecret', 'tls']);

/** Throws `usage` naming every option that does not exist or has a wrong value. */
function checkEmulatorOptions(options: unknown): void {
  const { error } = optionsSchema.safeParse(options, readOnce);
  if (error === undefined) return;
  const problems = describeIssues(error.issues, secrets);
  const texts = problems.map((problem) => schemaProblemText(problem, `unknown option ${problem.path}`));
  throw new VoicectlError('usage', `Invalid emulator options: ${texts.join('; ')}`, {
    hint: `The options are ${Object.keys(schemas).join(', ')}.`,
    details: { problems },
  });
}
