import { resolve } from 'node:path';
import * as z from 'zod';
import { soundsOf } from '../../config/overwrites.ts';
import { fileExists } from '../../files/shipped-file.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { Io } from '../../kernel/io.ts';
import { wsUrlFor } from '../../protocol/paths.ts';
import type { Boundary } from './boundary.ts';
import type { Servers } from './servers.ts';

/** What the tools act on. */
export interface ToolContext {
  io: Io;
  servers: Servers;
  boundary: Boundary;
  ca: string | undefined;
  apiKey: string | undefined;
  controlSecret: string | undefined;
}

export interface ToolCall {
  /** Aborted when the client cancels the call, or is gone. */
  signal: AbortSignal;
  /** Sends the client a progress message. */
  progress(message: string): void;
}

export type ToolAnswer = Record<string, unknown>;

export interface Tool<Schema extends z.ZodObject = z.ZodObject> {
  says: string;
  input: Schema;
  /** Whether it changes nothing. */
  readOnly?: true;
  act(args: z.output<Schema>, context: ToolContext, call: ToolCall): Promise<ToolAnswer>;
}

export const defineTool = <Schema extends z.ZodObject>(tool: Tool<Schema>) => tool as unknown as Tool;

const maxText = 4_096;
export const anyText = () =>
  z
    .string()
    .min(1)
    .max(maxText)
    .refine((value) => !value.includes('\0'), { error: 'expected text without NUL' });
export const anyTexts = () => z.array(anyText()).max(64);
export const anyDuration = () => anyText().describe('Such as 500ms, 10s or 2m');
export const anyService = () =>
  anyText().describe('ID of an emulator or proxy returned by start, or the HTTP URL of a service');
export const anyFaults = () =>
  anyTexts().describe('Such as token-slow or close:code=1012,after=2s,times=1; list shows them all');
export const anyDialect = () =>
  anyText().describe('Dialect file: settings for what the specification leaves open');
export const anySeed = () => z.int().min(0);

type FlagValue = string | number | undefined;

/** Each as `--name=value`, so that a value is never taken for a flag. A list repeats its flag; undefined gives none. */
export function flagWords(values: Readonly<Record<string, FlagValue | readonly FlagValue[]>>): string[] {
  return Object.entries(values).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => (one === undefined ? [] : [`--${name}=${one}`])),
  );
}

interface EmulatorArgs {
  faults?: string[] | undefined;
  network?: string | undefined;
  dialect?: string | undefined;
  scenario?: string | undefined;
  reply?: string | undefined;
  rateLimit?: number | undefined;
  maxConnections?: number | undefined;
  seed?: number | undefined;
}

export async function emulatorFlags(args: EmulatorArgs, context: ToolContext): Promise<string[]> {
  const { boundary } = context;
  const { dialect: file, scenario, reply } = args;
  // The command prefers a file of this name to an included scenario.
  const isName =
    scenario === undefined ||
    !(/[./\\]/.test(scenario) || (await fileExists(resolve(context.io.cwd ?? '', scenario))));
  return flagWords({
    fault: args.faults,
    network: args.network,
    dialect: file && (await boundary.readable(file)),
    scenario: isName ? scenario : await readableScenario(scenario, boundary),
    reply: reply && (await replyOf(reply, context)),
    'rate-limit': args.rateLimit,
    'max-connections': args.maxConnections,
    seed: args.seed,
  });
}

/** A scenario, whose sounds must be readable too. */
async function readableScenario(file: string, boundary: Boundary): Promise<string> {
  const path = await boundary.readable(file);
  // What does not exist is an included sound, or refused by whoever reads it.
  for (const sound of await soundsOf({ label: file, path, use: 'script' }))
    if (await fileExists(sound.path)) await boundary.readable(sound.path);
  return path;
}

async function replyOf(reply: string, context: ToolContext): Promise<string> {
  const [mode = '', ...path] = reply.split(':');
  if (path.length === 0) return reply;
  return `${mode}:${await soundFile(path.join(':'), context)}`;
}

/** A file of the user, or an included sound. */
export async function soundFile(name: string, { boundary, io }: ToolContext): Promise<string> {
  const { findShippedSound } = await import('../../files/shipped-file.ts');
  if (name === '-') throw new VoicectlError('usage', 'Standard input carries the protocol: name a file');
  return boundary.readable(await findShippedSound(name, io.cwd));
}

interface Reached {
  baseUrl: string;
  wsUrl: string;
  /** Whether the key may go there. */
  hasKey: boolean;
}

/** The addresses of a service. Throws `usage` for an id that does not exist, and for a host that is not allowed. */
export function reachableService(name: string, { servers, boundary }: ToolContext): Reached {
  const server = servers.find(name);
  if (server !== undefined) return { ...server, hasKey: false };
  if (!/^https?:\/\/[^/?#@\s]+\/?$/.test(name) || !URL.canParse(name)) throw unknownServer(name, servers);
  const { hasKey } = boundary.checkTarget(name);
  const baseUrl = name.replace(/\/$/, '');
  return { baseUrl, wsUrl: wsUrlFor(baseUrl), hasKey };
}

export function unknownServer(id: string, { ids }: Servers): VoicectlError {
  return new VoicectlError('usage', `${id} is neither running nor the URL of a service`, {
    hint: ids.length === 0 ? 'Start one with the `start` tool.' : `Running: ${ids.join(', ')}.`,
  });
}
