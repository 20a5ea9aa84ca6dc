import { type Clock, waitUntil } from '../../kernel/clock.ts';
import { toVoicectlError } from '../../kernel/errors.ts';
import type { Backend } from '../backend.ts';
import { deviceError } from '../device-error.ts';
import { type DeviceSearch, findBackends } from '../find-backends.ts';
import { type DeviceFacts, readHostMessages } from '../host/host-protocol.ts';
import { startHost } from '../process/open-process.ts';
import { runToEnd } from '../process/run-to-end.ts';
import { noDevice, type Refusal } from './no-device.ts';

const listMs = 5_000;

export interface ListOptions {
  clock: Clock;
  search: DeviceSearch;
  /** Ends the listing; its reason is thrown. */
  signal?: AbortSignal | undefined;
}

/**
 * The devices that a backend knows, or undefined if it cannot list them. Throws `audio-device` if listing fails: no sound
 * server, no library.
 */
export async function listDevices(
  backend: Backend,
  options: ListOptions,
): Promise<DeviceFacts[] | undefined> {
  const run = (command: string, ...args: string[]) => textOf(command, args, options);
  if (backend.kind === 'native') return listNative(backend.library, options);
  // With PulseAudio, sox and ffmpeg accept PulseAudio's names.
  if (backend.name === 'sox' || backend.name === 'ffmpeg') {
    if (options.search.host.platform !== 'linux') return undefined;
    return listPulse(run).catch(() => undefined);
  }
  if (backend.name === 'pulse') return listPulse(run);
  if (backend.name === 'pipewire') return parsePipewireDump(await run('pw-dump'));
  if (backend.name === 'alsa') {
    const [inputs, outputs] = await Promise.all([run('arecord', '-L'), run('aplay', '-L')]);
    return [...parseAlsaNames('input', inputs), ...parseAlsaNames('output', outputs)];
  }
  return undefined;
}

async function listPulse(
  run: (command: string, ...args: string[]) => Promise<string>,
): Promise<DeviceFacts[]> {
  const [info, sources, sinks] = await Promise.all([
    run('pactl', 'info'),
    run('pactl', 'list', 'sources'),
    run('pactl', 'list', 'sinks'),
  ]);
  return [...parsePulseList('input', sources, info), ...parsePulseList('output', sinks, info)];
}

/** The devices of the first backend that lists any. Throws `audio-device` if none does, `usage` for an unknown backend. */
export async function listFirst(
  forced: string | undefined,
  options: ListOptions,
): Promise<{ backend: string; devices: DeviceFacts[] }> {
  const refusals: Refusal[] = [];
  for (const { backend, reason } of await findBackends('capture', forced, options.search)) {
    try {
      if (reason !== undefined) throw deviceError(reason);
      const devices = await listDevices(backend, options);
      if (devices === undefined)
        throw deviceError('it cannot list sound devices, but it accepts the name of one');
      if (devices.length > 0) return { backend: backend.name, devices };
      throw deviceError('it found no sound device');
    } catch (thrown) {
      options.signal?.throwIfAborted();
      refusals.push({ backend, reason: toVoicectlError(thrown).message });
    }
  }
  throw noDevice('sound device', refusals, options.search.host);
}

async function listNative(
  library: 'naudiodon' | 'decibri',
  { clock, search, signal }: ListOptions,
): Promise<DeviceFacts[]> {
  signal?.throwIfAborted();
  const child = startHost({ library, act: 'list' }, { clock, search });
  const limit = new AbortController();
  try {
    return await new Promise<DeviceFacts[]>((resolve, reject) => {
      const fail = (why: string) => reject(deviceError(why));
      if (child.control === undefined) throw new TypeError('a device host has a control stream');
      readHostMessages(child.control, (message) => {
        if (message.type === 'devices') resolve(message.devices);
        if (message.type === 'failed') fail(message.message);
      });
      void child.ended.then(fail);
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true, signal: limit.signal });
      const given = waitUntil(clock, clock.now() + listMs, limit.signal);
      void given.then(() => fail('it does not respond')).catch(() => {});
    });
  } finally {
    limit.abort();
    await child.stop();
  }
}

/** The output of a program. Throws `audio-device` if it fails. */
async function textOf(
  command: string,
  args: readonly string[],
  { search: { env }, signal }: ListOptions,
): Promise<string> {
  // The parsers expect English.
  const said = await runToEnd(command, args, { env: { ...env, LC_ALL: 'C' }, limitMs: listMs, signal });
  if (said.isGood) return said.stdout;
  throw deviceError(said.stderr.trim().split('\n').at(-1) || `${command} failed`);
}

type Side = DeviceFacts['role'];

/** Parses the English output of `pactl list sources` or `sinks`. `info` is the output of `pactl info`. */
export function parsePulseList(role: Side, text: string, info: string): DeviceFacts[] {
  const title = role === 'input' ? 'Source' : 'Sink';
  const standard = new RegExp(`^Default ${title}: (.+)$`, 'm').exec(info)?.[1];
  return text
    .split(new RegExp(`^${title} #\\d+$`, 'm'))
    .slice(1)
    .flatMap((block) => {
      const id = /^[ \t]+Name: (.+)$/m.exec(block)?.[1];
      if (id === undefined) return [];
      const name = /^[ \t]+Description: (.+)$/m.exec(block)?.[1] ?? id;
      return [{ id, name, role, isDefault: id === standard }];
    });
}

/** Parses the output of `arecord -L` or `aplay -L`: names at the margin, descriptions indented below. */
export function parseAlsaNames(role: Side, text: string): DeviceFacts[] {
  const devices: { id: string; about: string[] }[] = [];
  for (const line of text.split('\n')) {
    if (/^\S/.test(line)) devices.push({ id: line.trim(), about: [] });
    else if (line.trim() !== '') devices.at(-1)?.about.push(line.trim());
  }
  // Without a card and without a default there are only plugins, which reach no device.
  if (!devices.some(({ id }) => id === 'default' || id.includes(':'))) return [];
  return devices.map(({ id, about }) => ({
    id,
    name: about.length === 0 ? id : `${id} (${about.join(', ')})`,
    role,
    isDefault: id === 'default',
  }));
}

interface PipewireObject {
  info?: { props?: Record<string, unknown> };
  metadata?: { key?: string; value?: { name?: string } }[];
}

/** Parses the output of `pw-dump`: all objects of PipeWire as JSON. */
export function parsePipewireDump(text: string): DeviceFacts[] {
  const objects = JSON.parse(text) as PipewireObject[];
  const settings = objects.flatMap(({ metadata = [] }) => metadata);
  const standard = (key: string) => settings.find((setting) => setting.key === key)?.value?.name;
  return objects.flatMap(({ info }): DeviceFacts[] => {
    const props = info?.props ?? {};
    const id = props['node.name'];
    const kind = props['media.class'];
    if (typeof id !== 'string' || (kind !== 'Audio/Source' && kind !== 'Audio/Sink')) return [];
    const role = kind === 'Audio/Source' ? 'input' : 'output';
    const key = role === 'input' ? 'default.audio.source' : 'default.audio.sink';
    return [{ id, name: String(props['node.description'] ?? id), role, isDefault: id === standard(key) }];
  });
}
