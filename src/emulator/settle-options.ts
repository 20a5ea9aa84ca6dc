import * as z from 'zod';
import { checkOptions, clockOption, functionOption, objectOption } from '../files/check-options.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { isLoopbackHost } from '../protocol/loopback.ts';
import { connectionsPerDevice, tokenRequestsPerWindow } from '../protocol/rate-limit.ts';
import type { ScrapeOptions } from '../service/metrics/service-metrics.ts';
import { defaultHost, type SettledService, settleService } from '../service/settings.ts';
import type { EmulatorOptions } from './options.ts';
import { createReplyMode } from './replies/registry.ts';
import { guardReply, type ReplyMode } from './replies/reply.ts';
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
  checkOptions(options, { of: 'emulator', schemas, secrets });
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
    hint: 'Set the keys to accept: --accept-key or --accept-key-file, or acceptKeys of the library.',
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

const metricsSchemas: { [Name in keyof Required<ScrapeOptions>]: z.ZodType } = {
  allow: texts.optional(),
  devices: z.boolean().optional(),
  refused: z.string().optional(),
};

/** The type of each option. Files that an option names are read later. */
const schemas: { [Name in keyof Required<EmulatorOptions>]: z.ZodType } = {
  host: z.string(),
  port: z.int().min(0).max(65_535),
  acceptKeys: texts,
  reply: z.union([z.string(), functionOption, z.object({ createReply: functionOption })]),
  replaySpeed: z.number().positive(),
  signal: objectOption,
  dialect: objectOption,
  rateLimit: count,
  maxConnections: count,
  pingEveryMs: count.min(1),
  seed: z.int(),
  allowHosts: texts,
  allowOrigins: texts,
  tls: z.union([z.boolean(), z.object({ cert: z.string(), key: z.string() })]),
  controlSecret: z.string().min(1),
  clock: clockOption,
  onEvent: functionOption,
  tap: functionOption,
  keepAudio: z.boolean(),
  page: functionOption,
  metrics: z.strictObject(metricsSchemas),
  faults: z.array(z.union([z.string(), objectOption])).readonly(),
  scenario: z.union([z.string(), objectOption]),
};

/** Names whose values are never shown. */
const secrets = new Set(['acceptKeys', 'controlSecret', 'tls']);
