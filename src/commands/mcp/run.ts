import { resolve } from 'node:path';
import { Writable } from 'node:stream';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { checkSecret, readKeyFile, warnOfShortSecret } from '../../config/target.ts';
import { toVoicectlError, VoicectlError } from '../../kernel/errors.ts';
import { cutText } from '../../kernel/escape.ts';
import { failureKind } from '../../kernel/failure-kind.ts';
import { createRedactor, type Redactor } from '../../kernel/redact.ts';
import { version } from '../../kernel/version.ts';
import { describeIssues, noSuchSetting, readOnce } from '../../protocol/schema-problem.ts';
import { didYouMean } from '../../protocol/suggestion.ts';
import type { ContextOf } from '../command.ts';
import { readEnvironmentSecret } from '../control/secret.ts';
import { createBoundary } from './boundary.ts';
import { commandTools } from './command-tools.ts';
import { serverTools } from './server-tools.ts';
import { createServers } from './servers.ts';
import { shorten } from './shorten.ts';
import type { Tool, ToolAnswer, ToolCall, ToolContext } from './tool.ts';

/**
 * Serves a client on standard input and output until it closes them or a signal ends the command. Everything that was started
 * for the client has then ended.
 */
export async function run(context: ContextOf<'mcp'>): Promise<number> {
  const { settings, io, signal } = context;
  const servers = createServers();
  const { allowTarget = [], folder, ca } = settings;
  const boundary = createBoundary({ cwd: resolve(io.cwd ?? ''), allowTargets: allowTarget, folder });
  const secrets = await readSecrets(context);
  const redactor = createRedactor();
  for (const secret of Object.values(secrets)) if (secret !== undefined) redactor.conceal(secret);

  const left = new AbortController();
  const ended = AbortSignal.any([left.signal, signal]);
  const { server, settled } = createToolServer({ io, servers, boundary, ca, ...secrets }, redactor, ended);
  // Errors in messages of the client are reported on standard error; standard output belongs to the protocol.
  let last: Error | undefined;
  server.onerror = (thrown) => {
    last = thrown;
    if (isTooLong(thrown)) return;
    void context.note(`voicectl mcp: ${redactor.text(thrown.message)}`);
  };
  const broken = new Promise<never>((_, reject) => {
    server.onclose = () => {
      const why = last === undefined ? '' : `: ${redactor.text(last.message)}`;
      const message =
        last !== undefined && isTooLong(last)
          ? 'A message from the client is longer than 10 MiB'
          : `Messages from the client can no longer be read${why}`;
      reject(new VoicectlError('bad-input', message));
    };
  });
  // At the end the server is closed, and nothing awaits this any more.
  broken.catch(() => {});
  try {
    await server.connect(new StdioServerTransport(io.stdin, toWritable(context)));
    await Promise.race([endOfInput(context), broken]);
  } finally {
    left.abort(new VoicectlError('terminated', 'The client is gone'));
    await settled();
    await servers.stopAll();
    await server.close();
  }
  return 0;
}

/** Whether the protocol's reader gave up on a message: it has no code for that. */
const isTooLong = ({ message }: Error) => message.startsWith('ReadBuffer exceeded maximum size');

/** Longest progress message, in characters. It is cut after secrets are removed: a part of a secret would not be found. */
const longestProgress = 200;

/** Maximum number of progress messages of a call that the client has not read. Further ones are left out: `progress` counts them. */
const mostPending = 50;

/** The protocol's server with the tools. `settled` resolves when no call is running. */
function createToolServer(context: ToolContext, redactor: Redactor, ended: AbortSignal) {
  const server = new Server({ name: 'voicectl', version }, { capabilities: { tools: {} }, instructions });
  const calls = new Set<Promise<unknown>>();
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: describeTools() }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const token = extra._meta?.progressToken;
    let progress = 0;
    let pending = 0;
    const { name, arguments: args = {} } = params;
    const act: typeof callTool = redactor.value(args) === args ? callTool : refuseSecret;
    const call = act(name, args, context, {
      signal: AbortSignal.any([extra.signal, ended]),
      progress(message) {
        progress += 1;
        if (token === undefined || pending >= mostPending) return;
        pending += 1;
        const note = {
          progressToken: token,
          progress,
          message: cutText(redactor.text(message), longestProgress),
        };
        const sent = extra.sendNotification({ method: 'notifications/progress', params: note });
        void sent
          .catch(() => {})
          .finally(() => {
            pending -= 1;
          });
      },
    });
    calls.add(call);
    try {
      return toResult(shorten(redactor.value(await call)));
    } catch (thrown) {
      return toResult(shorten(redactor.value(describeError(thrown))));
    } finally {
      calls.delete(call);
    }
  });
  return { server, settled: () => Promise.allSettled(calls) };
}

/** A recording, a file name or a log of the service would keep it. */
async function refuseSecret(): Promise<never> {
  throw new VoicectlError('usage', 'An argument holds the API key or the control secret', {
    hint: 'No tool takes them: voicectl adds them where they are needed.',
  });
}

const instructions =
  'Tools for a real-time voice streaming service: start an emulator of it (with faults), stream speech against it or a real service, read the journal for the cause of a failure, check a service against its specification, drill a device. Long answers are cut; `omitted` counts what is missing.';

async function readSecrets(context: ContextOf<'mcp'>) {
  const { settings, origin, io } = context;
  const ofEnvironment = (io.env.VOICECTL_API_KEY ?? '').trim();
  const isFileStronger = origin('apiKeyFile') === 'flag' || ofEnvironment === '';
  const keyFile = isFileStronger ? settings.apiKeyFile : undefined;
  if (keyFile === '-')
    throw new VoicectlError('usage', 'Standard input carries the protocol: name a file for the key');
  if (settings.ca === '-')
    throw new VoicectlError('usage', 'Standard input carries the protocol: name a file for --ca');
  const apiKey =
    keyFile !== undefined ? await readKeyFile(keyFile, context) : checkSecret(ofEnvironment, 'The API key');
  if (apiKey !== '') await warnOfShortSecret(apiKey, 'The API key', context.warn);
  return {
    apiKey: apiKey === '' ? undefined : apiKey,
    controlSecret: await readEnvironmentSecret(context),
  };
}

/** A command with a result has not failed as a tool, whatever the result is. */
function toResult(answer: Readonly<Record<string, unknown>>) {
  const isError = 'error' in answer && !('summary' in answer);
  return { isError, content: [{ type: 'text' as const, text: JSON.stringify(answer) }] };
}

function describeError(thrown: unknown): Record<string, unknown> {
  const error = toVoicectlError(thrown);
  const { code, message, hint, exitCode } = error;
  return {
    error: { code, kind: failureKind(error), exitCode, message, ...(hint === undefined ? {} : { hint }) },
  };
}

/** Resolves when the client closes standard input, or the command is asked to end. */
function endOfInput({ io, signal }: ContextOf<'mcp'>): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    for (const event of ['end', 'close', 'error']) io.stdin.once(event, () => resolve());
  });
}

/** Standard output in the form that the protocol's library takes. If it is closed, the client is gone. */
function toWritable({ io }: ContextOf<'mcp'>): Writable {
  const writable = new Writable({
    write(chunk: Buffer, _encoding, done) {
      io.stdout.write(chunk).then(
        () => done(),
        () => {
          io.stdin.destroy();
          done();
        },
      );
    },
  });
  // Each answer waits for room on its own, and there may be thousands.
  return writable.setMaxListeners(0);
}

const tools = new Map<string, Tool>(Object.entries({ ...serverTools, ...commandTools }));

/** The tools as the protocol lists them. */
export function describeTools() {
  return [...tools].map(([name, { says, input, readOnly }]) => ({
    name,
    description: says,
    inputSchema: z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as {
      type: 'object';
      [key: string]: unknown;
    },
    annotations: { readOnlyHint: readOnly === true },
  }));
}

/** Calls a tool. Throws `usage` for a tool or arguments that do not exist, and the reason of the signal. */
export async function callTool(
  name: string,
  args: Record<string, unknown>,
  context: ToolContext,
  call: ToolCall,
): Promise<ToolAnswer> {
  const tool = tools.get(name);
  if (tool === undefined)
    throw new VoicectlError('usage', `There is no tool ${name}${didYouMean(name, [...tools.keys()])}`);
  const parsed = tool.input.safeParse(args, readOnce);
  if (!parsed.success) {
    const problems = describeIssues(parsed.error.issues).slice(0, 5);
    const words = problems.map(
      ({ path, expected }) => `${path}: ${expected === noSuchSetting ? '' : 'expected '}${expected}`,
    );
    throw new VoicectlError('usage', `${name}: ${words.join('; ')}`);
  }
  call.signal.throwIfAborted();
  return tool.act(parsed.data, context, call);
}
