import * as z from 'zod';
import { parseDuration } from '../../config/parse.ts';
import { readTrusted } from '../../config/target.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { describeCatalogue } from '../../protocol/fault-schema.ts';
import { checkFault } from '../../service/faults/faults.ts';
import { type ControlTarget, callControl } from '../../wire/client/control.ts';
import { listValues } from '../value-lists.ts';
import { plainEnvironment, startChild } from './child-command.ts';
import {
  anyDialect,
  anyDuration,
  anyFaults,
  anySeed,
  anyService,
  anyText,
  defineTool,
  emulatorFlags,
  flagWords,
  reachableService,
  type ToolCall,
  type ToolContext,
  unknownServer,
} from './tool.ts';

/** Tools for running emulators and proxies. */
export const serverTools = {
  list: defineTool({
    says: 'List what other tools accept: faults (with parameters), networks, scenarios, drill situations, rules of the specification, included sounds, types of journal events.',
    readOnly: true,
    input: z.strictObject({
      of: z.enum(['faults', 'networks', 'scenarios', 'situations', 'rules', 'sounds', 'journal']),
    }),
    async act({ of }, { io }) {
      if (of !== 'faults') return { [of]: await listValues(of, io) };
      return {
        faults: describeCatalogue().map(({ name, summary, parameters }) => ({
          name,
          says: summary,
          parameters: parameters.map(({ name: key, default: fallback }) => `${key}=${fallback}`).join(','),
        })),
      };
    },
  }),

  start: defineTool({
    says: 'Start an emulator of the voice service, or a proxy in front of a service, on a free port of this machine. Returns its id and URLs. It runs until stop is called or the client disconnects.',
    input: z.strictObject({
      what: z.enum(['emulator', 'proxy']).default('emulator'),
      target: anyService().optional().describe('proxy: the service behind it, an id or a URL'),
      faults: anyFaults().optional(),
      network: anyText().optional().describe('Simulated network, such as slow-3g or latency=100ms,loss=2%'),
      dialect: anyDialect().optional(),
      scenario: anyText().optional().describe('emulator: a script: a file, or the name of an included one'),
      reply: anyText()
        .regex(/^(parrot|echo|tone|silence|file:.+|replay:.+)$/)
        .optional()
        .describe(
          'emulator: what the AI says: parrot (default), echo, tone, silence, file:PATH or replay:DIR',
        ),
      rateLimit: z.int().min(1).optional().describe('emulator: token requests per device per minute'),
      maxConnections: z.int().min(1).optional().describe('emulator: connections per device'),
      seed: anySeed().optional(),
      record: anyText().optional().describe('proxy: record each stream into a folder with this name'),
    }),
    async act({ what, target, record, ...args }, context, { signal }) {
      const { servers, boundary, io } = context;
      const isProxy = what === 'proxy';
      if (isProxy !== (target !== undefined))
        throw new VoicectlError('usage', 'target: required for a proxy, not allowed for an emulator');
      const behind = target === undefined ? undefined : reachableService(target, context);
      const words = [
        '--port=0',
        '--no-page',
        ...flagWords({
          target: behind?.baseUrl,
          'target-ws': behind?.wsUrl,
          ca: isProxy ? context.ca : undefined,
          record: record && (await boundary.writable(record)),
        }),
        ...(await emulatorFlags(args, context)),
      ];
      const env = plainEnvironment(io.env);
      const { id, baseUrl, wsUrl } = await servers.start(
        what,
        (onLine) => startChild(isProxy ? 'proxy' : 'serve', words, { env, cwd: io.cwd, onLine }),
        signal,
      );
      return { id, baseUrl, wsUrl, environment: { VOICECTL_BASE_URL: baseUrl, VOICECTL_WS_URL: wsUrl } };
    },
  }),

  stop: defineTool({
    says: 'Stop an emulator or a proxy. Returns how many events of each type there were.',
    input: z.strictObject({ id: anyText() }),
    async act({ id }, { servers }) {
      const server = servers.find(id);
      if (server === undefined) throw unknownServer(id, servers);
      return { id, exitCode: await servers.stop(id), events: Object.fromEntries(server.counts) };
    },
  }),

  state: defineTool({
    says: 'Show the devices, open streams, tokens, active faults and clock of an emulator or a proxy.',
    readOnly: true,
    input: z.strictObject({ service: anyService() }),
    act: async (args, context, call) => callControl(await control(args.service, context, call), 'state'),
  }),

  journal: defineTool({
    says: 'Read what happened in an emulator or a proxy, newest last: requests refused and why, streams, faults that struck, what devices do wrong. Look here for the cause of a failure.',
    readOnly: true,
    input: z.strictObject({
      service: anyService(),
      level: z
        .enum(['all', 'warning'])
        .default('all')
        .describe('warning: only what a developer should look at'),
      type: anyText().optional().describe('Only events of this type, such as stream-closed'),
      device: anyText().optional(),
      stream: z.int().min(1).optional(),
      since: z.int().min(0).optional().describe('Only events with a seq above this'),
      limit: z.int().min(1).max(500).default(50).describe('At most this many, the newest'),
    }),
    async act({ service: name, level, limit, ...query }, context, call) {
      const target = await control(name, context, call);
      const all = await callControl(target, 'journal', { query: { ...query, limit: 10_000 } });
      const events = all.filter((event) => level === 'all' || event.level === 'warning');
      return { total: events.length, events: newestThatFit(events.slice(-limit)) };
    },
  }),

  clock: defineTool({
    says: 'Show the time of an emulator, or move it forward: tokens expire and rate-limit windows reset at once.',
    input: z.strictObject({ service: anyService(), advance: anyDuration().optional() }),
    async act({ service: name, advance }, context, call) {
      const target = await control(name, context, call);
      if (advance === undefined) return callControl(target, 'clock');
      return callControl(target, 'advance', { body: { advanceMs: readDuration(advance) } });
    },
  }),

  faults: defineTool({
    says: 'Add faults to a running emulator or proxy, or clear them; returns the active ones.',
    input: z.strictObject({
      service: anyService(),
      add: anyFaults().optional(),
      clear: z
        .union([z.literal('all'), z.int().min(1)])
        .optional()
        .describe('all, or the id of one'),
    }),
    async act({ service: name, add = [], clear }, context, call) {
      const target = await control(name, context, call);
      // All are read before anything is changed.
      const bodies = add.map((written) => checkFault(written));
      if (clear !== undefined)
        await callControl(target, 'clearFaults', { body: clear === 'all' ? {} : { id: clear } });
      for (const body of bodies) await callControl(target, 'addFault', { body });
      return { active: await callControl(target, 'faults') };
    },
  }),
} as const;

/** The control API of an emulator or a proxy. The secret goes where the key may go: to hosts that the user has named. */
async function control(name: string, context: ToolContext, { signal }: ToolCall): Promise<ControlTarget> {
  const { baseUrl, hasKey } = reachableService(name, context);
  const ca = await readTrusted(context.ca, { stdin: context.io.stdin, signal });
  return { baseUrl, ca, secret: hasKey ? context.controlSecret : undefined, signal };
}

/** The newest events that fit into an answer: each is kept whole. */
function newestThatFit(events: readonly object[]): object[] {
  let bytes = 0;
  const from = events.findLastIndex((event) => {
    bytes += Buffer.byteLength(JSON.stringify(event)) + 1;
    return bytes > journalBytes;
  });
  return events.slice(from + 1);
}

const journalBytes = 20_000;

function readDuration(written: string): number {
  try {
    return parseDuration(written);
  } catch (thrown) {
    throw new VoicectlError('usage', `advance: ${(thrown as Error).message}`);
  }
}
