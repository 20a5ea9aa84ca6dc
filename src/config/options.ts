import { audioLimitNames } from '../kernel/audio-limits.ts';
import { checkSettings, learnSettings } from './options/check.ts';
import { connectionSettings } from './options/connection.ts';
import { controlSettings } from './options/control.ts';
import type { OptionSpec } from './options/define.ts';
import { drillSettings } from './options/drill.ts';
import { emulatorSettings } from './options/emulator.ts';
import { expectationSettings, limitSetting } from './options/expectation.ts';
import { inspectSettings } from './options/inspect.ts';
import { loadSettings } from './options/load.ts';
import { outputSettings } from './options/output.ts';
import { proxySettings } from './options/proxy.ts';
import { streamSettings } from './options/stream.ts';
import { tokenSettings } from './options/token.ts';
import type { Parse } from './parse.ts';

/** Every setting of every command. Flags, environment, config keys, help and the tables of docs/CLI.md come from here. */
export const options = {
  ...connectionSettings,
  ...outputSettings,
  ...emulatorSettings,
  ...tokenSettings,
  ...streamSettings,
  ...inspectSettings,
  ...controlSettings,
  ...expectationSettings,
  ...checkSettings,
  ...learnSettings,
  ...proxySettings,
  ...drillSettings,
  ...loadSettings,
};

export type OptionName = keyof typeof options;

type ValueOf<S> = S extends { parse: Parse<infer T> } ? (S extends { repeatable: true } ? T[] : T) : never;
type IsCertain<S> = S extends { default: string } | { repeatable: true } ? true : false;

/** The values of some settings. Those without a default may be undefined. */
export type Settings<Names extends OptionName> = {
  [Name in Names]: IsCertain<(typeof options)[Name]> extends true
    ? ValueOf<(typeof options)[Name]>
    : ValueOf<(typeof options)[Name]> | undefined;
};

/** The flag of a setting, as it is typed. */
export function flagOf(name: OptionName): string {
  return /--[\w-]+/.exec(options[name].flag)?.[0] ?? '';
}

/** The entry of the table as a general definition. */
export function optionSpec(name: OptionName): OptionSpec<unknown> {
  return options[name];
}

/** Where `token` and `stream` connect, and as which device. */
export const connectionOptions = [
  'local',
  'baseUrl',
  'wsUrl',
  'device',
  'apiKeyFile',
  'apiKey',
  'retries',
  'timeout',
  'apiVersion',
  'ca',
  'allowPlaintext',
] as const satisfies OptionName[];
export const generalOptions = [
  'output',
  'json',
  'color',
  'quiet',
  'verbose',
  'debug',
  'config',
  'profile',
] as const satisfies OptionName[];

/** Behaviour of an emulator, also with `--local`. */
export const localOptions = [
  'reply',
  'scenario',
  'fault',
  'network',
  'dialect',
  'speed',
  'seed',
  'rateLimit',
  'maxConnections',
] as const satisfies OptionName[];
/** The part of it that matters for a single token. */
export const localTokenOptions = [
  'scenario',
  'fault',
  'dialect',
  'seed',
  'rateLimit',
] as const satisfies OptionName[];
export const emulatorOptions = [
  ...localOptions,
  'acceptKey',
  'acceptKeyFile',
  'allowHost',
  'allowOrigin',
] as const satisfies OptionName[];
const expectationOptions = [
  ...audioLimitNames.map(limitSetting),
  'expectEvent',
  'forbidEvent',
  'expectClose',
  'junit',
  'repeat',
  'warmup',
] as const satisfies OptionName[];

/** Where and how often a fault of `emulator fault add` strikes. */
export const faultScopeOptions = [
  'onStream',
  'onDevice',
  'once',
  'times',
  'probability',
] as const satisfies OptionName[];

/** Which sound devices, and through which backend. */
export const deviceOptions = ['inputDevice', 'outputDevice', 'audioBackend'] as const satisfies OptionName[];

export const streamOptions = [
  'file',
  'mic',
  'interactive',
  'expectFile',
  'replay',
  'raw',
  'loop',
  'duration',
  'strictFormat',
  ...connectionOptions,
  'tokenFrom',
  ...localOptions,
  ...expectationOptions,
  'out',
  'record',
  'recordBoth',
  'play',
  'ascii',
  ...deviceOptions,
  'volume',
  'bargeIn',
  'aec',
  'recordMic',
  'deviceTimeout',
  'pace',
  'tail',
  'wait',
  'settle',
  'frameMs',
  'maxFrameBuffer',
] as const satisfies OptionName[];

/** The service to ask, the devices that ask, and how much they ask. */
export const conformanceOptions = [
  'baseUrl',
  'wsUrl',
  'local',
  'dialect',
  'allowPlaintext',
  'ca',
  'apiKey',
  'apiKeyFile',
  'devices',
  'oneDevice',
  'timeout',
  'level',
  'exhaust',
  'thorough',
  'dryRun',
  'maxRequests',
  'wrongKey',
  'wait',
] as const satisfies OptionName[];

/** Further questions and reports of `check`. */
export const checkOptions = [
  ...conformanceOptions,
  'rule',
  'jwks',
  'expected',
  'strict',
  'junit',
  'html',
  'open',
  'ascii',
] as const satisfies OptionName[];

/** Where `learn` puts what it finds. */
export const learnOptions = [
  ...conformanceOptions,
  'dialectOut',
  'merge',
  'diff',
] as const satisfies OptionName[];

/** The situations of a drill, and how the device finds the emulator. */
export const drillOptions = [
  'drill',
  'list',
  'noticeWithin',
  'parallel',
  'device',
  'junit',
  'acceptKey',
  'acceptKeyFile',
  'allowHost',
  'allowOrigin',
  'host',
  'port',
  'tls',
  'cert',
  'key',
  'certOut',
  'open',
  'ascii',
] as const satisfies OptionName[];

/** The target is checked without a key and only over HTTP, so no other connection setting is read. */
export const doctorOptions = [
  'baseUrl',
  'apiVersion',
  'allowPlaintext',
  'ca',
  'timeout',
] as const satisfies OptionName[];

/** Where a result of load goes, and how it is judged. */
export const loadMergeOptions = ['threshold', 'resultOut', 'junit', 'html'] as const satisfies OptionName[];

/** The target of the load, its devices, and what they say. */
export const loadOptions = [
  'sessions',
  'arrival',
  'rampUp',
  'task',
  'file',
  'hold',
  'abortOn',
  'baseUrl',
  'wsUrl',
  'apiKeyFile',
  'apiKey',
  'apiVersion',
  'ca',
  'allowPlaintext',
  'confirm',
  'dryRun',
  'deviceCount',
  'devicePrefix',
  'giveUp',
  'wait',
  'settle',
  'timeout',
  'loadProcesses',
  'shard',
  'startAt',
  'loadSeed',
  'ascii',
  ...loadMergeOptions,
] as const satisfies OptionName[];
