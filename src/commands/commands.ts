import { audioSpec } from './audio/spec.ts';
import { checkSpec } from './check/spec.ts';
import { type Command, type CommandGroup, defineCommand } from './command.ts';
import { compareSpec } from './compare/spec.ts';
import { doctorSpec } from './doctor/spec.ts';
import { drillSpec } from './drill/spec.ts';
import * as emulator from './emulator/spec.ts';
import { execSpec } from './exec/spec.ts';
import { inspectSpec } from './inspect/spec.ts';
import { learnSpec } from './learn/spec.ts';
import { loadMergeSpec, loadSpec } from './load/spec.ts';
import { mcpSpec } from './mcp/spec.ts';
import { proxySpec } from './proxy/spec.ts';
import { replaySpec } from './replay/spec.ts';
import { serveSpec } from './serve/spec.ts';
import { streamSpec } from './stream/spec.ts';
import { tokenSpec } from './token/spec.ts';

const emulatorRun = () => import('./emulator/run.ts');

const loadGroup: CommandGroup = {
  name: 'load',
  summary: loadSpec.summary,
  own: defineCommand(loadSpec, async () => (await import('./load/run.ts')).run),
  subcommands: [defineCommand(loadMergeSpec, async () => (await import('./load/merge.ts')).run)],
};

const emulatorGroup: CommandGroup = {
  name: 'emulator',
  summary: 'talk to a running emulator: its state, journal, clock, faults and streams',
  subcommands: [
    defineCommand(emulator.stateSpec, async () => (await emulatorRun()).state),
    defineCommand(emulator.journalSpec, async () => (await emulatorRun()).journal),
    defineCommand(emulator.resetSpec, async () => (await emulatorRun()).reset),
    defineCommand(emulator.clockSpec, async () => (await import('./emulator/clock.ts')).clock),
    defineCommand(emulator.faultSpec, async () => (await import('./emulator/fault.ts')).runFault),
    defineCommand(emulator.eventSpec, async () => (await emulatorRun()).event),
    defineCommand(emulator.sendSpec, async () => (await emulatorRun()).send),
    defineCommand(emulator.speakSpec, async () => (await emulatorRun()).speak),
    defineCommand(emulator.closeSpec, async () => (await emulatorRun()).close),
  ],
};

/** Every command with its loader, in the order of the help. */
export const commands: readonly (Command | CommandGroup)[] = [
  defineCommand(serveSpec, async () => (await import('./serve/run.ts')).run),
  defineCommand(execSpec, async () => (await import('./exec/run.ts')).run),
  defineCommand(tokenSpec, async () => (await import('./token/run.ts')).run),
  defineCommand(streamSpec, async () => (await import('./stream/run.ts')).run),
  defineCommand(checkSpec, async () => (await import('./check/run.ts')).run),
  defineCommand(learnSpec, async () => (await import('./learn/run.ts')).run),
  defineCommand(proxySpec, async () => (await import('./proxy/run.ts')).run),
  defineCommand(drillSpec, async () => (await import('./drill/run.ts')).run),
  loadGroup,
  defineCommand(compareSpec, async () => (await import('./compare/run.ts')).run),
  defineCommand(inspectSpec, async () => (await import('./inspect/run.ts')).run),
  defineCommand(replaySpec, async () => (await import('./replay/run.ts')).run),
  defineCommand(mcpSpec, async () => (await import('./mcp/run.ts')).run),
  defineCommand(audioSpec, async () => (await import('./audio/run.ts')).run),
  defineCommand(doctorSpec, async () => (await import('./doctor/run.ts')).run),
  emulatorGroup,
];

const headings: readonly (readonly [heading: string, names: readonly string[]])[] = [
  ['An emulator of the service:', ['serve', 'exec', 'emulator', 'replay']],
  ['A client of the service:', ['token', 'stream', 'inspect']],
  ['Verdicts and measurements:', ['check', 'learn', 'proxy', 'drill', 'load', 'compare']],
  ['This machine and this program:', ['mcp', 'audio', 'doctor', 'completion', 'help']],
];

/** The heading of the help below which a command is listed. */
export function headingOf(name: string): string {
  return headings.find(([, names]) => names.includes(name))?.[0] ?? 'Commands:';
}

/** Every command that does something, those of groups included. */
export const allCommands: readonly Command[] = commands.flatMap((one) => {
  if (!('subcommands' in one)) return [one];
  return one.own === undefined ? one.subcommands : [one.own, ...one.subcommands];
});
