import type { EmulatorState } from '../../protocol/control.ts';
import { type CommandSpec, defineCommand } from '../command.ts';
import {
  call,
  controlTarget,
  print,
  printReached,
  type ReachContext,
  reachOptions,
  selectedStreams,
  streamOptions,
} from './control-call.ts';
import { faultCommand as fault } from './fault.ts';

const state = defineCommand({
  name: 'state',
  summary: 'show devices, windows, streams and tokens',
  options: reachOptions,
  examples: ['voicectl emulator state --json'],
  async run(context) {
    const { stateLines } = await import('../../report/control-lines.ts');
    const answer = (await call(context, 'state')) as EmulatorState;
    return print(context, answer, stateLines(answer));
  },
});

const journal = defineCommand({
  name: 'journal',
  summary: 'show what has happened, or with --follow what happens',
  options: [...streamOptions, 'follow', 'type', 'limit'],
  examples: ['voicectl emulator journal --follow', 'voicectl emulator journal --type stream-closed --json'],
  async run(context) {
    const { settings, style, signal } = context;
    const { emulatorLines } = await import('../../report/emulator-lines.ts');
    const { followJournal } = await import('../../wire/client/control.ts');
    const query = { ...selectedStreams(context), type: settings.type };
    const show = (entry: unknown) => print(context, entry, emulatorLines(entry as never, style));
    if (!settings.follow) {
      const entries = await call(context, 'journal', { query: { ...query, limit: settings.limit } });
      for (const entry of entries as unknown[]) await show(entry);
      return undefined;
    }
    for await (const entry of followJournal(await controlTarget(context), query)) await show(entry);
    signal.throwIfAborted();
    return undefined;
  },
});

const reset = defineCommand({
  name: 'reset',
  summary: 'close all streams, and forget windows and the journal',
  options: reachOptions,
  examples: ['voicectl emulator reset'],
  async run(context) {
    return print(context, await call(context, 'reset'), ['The emulator was reset']);
  },
});

const clock = defineCommand({
  name: 'clock',
  summary: 'show the time of the emulator, or move it forward',
  args: [
    ['[action]', 'advance'],
    ['[duration]', 'how far, such as 61s'],
  ],
  options: reachOptions,
  examples: ['voicectl emulator clock', 'voicectl emulator clock advance 61s'],
  async run(context) {
    const [action, duration] = context.args;
    const answer =
      action === undefined ? await call(context, 'clock') : await advance(context, action, duration);
    const { now, aheadMs } = answer as { now: string; aheadMs: number };
    return print(context, answer, [`${now}, ${aheadMs / 1000} s ahead of this machine`]);
  },
});

async function advance(context: ReachContext, action: string, duration = ''): Promise<unknown> {
  const { parseDuration } = await import('../../config/parse.ts');
  const { VoicectlError } = await import('../../kernel/errors.ts');
  try {
    if (action !== 'advance') throw new Error(`expected advance, not ${action}`);
    return await call(context, 'advance', { body: { advanceMs: parseDuration(duration) } });
  } catch (thrown) {
    if (thrown instanceof VoicectlError) throw thrown;
    throw new VoicectlError('usage', `clock: ${(thrown as Error).message}`, { cause: thrown });
  }
}

const send = defineCommand({
  name: 'send',
  summary: 'send a status, an error or any JSON to streams',
  args: [['[json]', 'a message to send as it is']],
  options: [...streamOptions, 'status', 'errorCode', 'message'],
  examples: [
    'voicectl emulator send --status speaking',
    `voicectl emulator send '{"type":"lights","on":true}' --on-device d1`,
  ],
  async run(context) {
    const { status, errorCode, message } = context.settings;
    const { parseMessage } = await import('../control/message.ts');
    const body = {
      ...selectedStreams(context),
      ...parseMessage({ status, errorCode, message, json: context.args[0] }),
    };
    return printReached(context, await call(context, 'send', { body }));
  },
});

const speak = defineCommand({
  name: 'speak',
  summary: 'say a WAV, or headerless 16 kHz s16le mono, to streams',
  args: [['<file>', 'WAV or raw PCM; - is standard input']],
  options: streamOptions,
  examples: ['voicectl emulator speak hello.wav --on-stream 3'],
  async run(context) {
    const { readBytes } = await import('../control/message.ts');
    const body = await readBytes(context.args[0] ?? '', context.io.stdin);
    return printReached(context, await call(context, 'speak', { query: selectedStreams(context), body }));
  },
});

const event = defineCommand({
  name: 'event',
  summary: 'tell the scenario that something happened',
  args: [['<name>', 'what happened, as the scenario calls it']],
  options: streamOptions,
  examples: ['voicectl emulator event door-opened --on-device d1'],
  async run(context) {
    const body = { ...selectedStreams(context), event: context.args[0] };
    return printReached(context, await call(context, 'event', { body }));
  },
});

const close = defineCommand({
  name: 'close',
  summary: 'close streams with a code',
  options: [...streamOptions, 'code', 'reason'],
  examples: ['voicectl emulator close --on-device d1 --code 1012'],
  async run(context) {
    const { code, reason } = context.settings;
    return printReached(
      context,
      await call(context, 'close', { body: { ...selectedStreams(context), code, reason } }),
    );
  },
});

export const emulatorCommand = {
  name: 'emulator',
  summary: 'talk to a running emulator: its state, journal, clock, faults and streams',
  subcommands: [
    state,
    journal,
    reset,
    clock,
    fault,
    event,
    send,
    speak,
    close,
  ] as readonly unknown[] as readonly CommandSpec[],
};
