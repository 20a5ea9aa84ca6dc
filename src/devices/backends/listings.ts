import type { DeviceFacts } from '../host/host-protocol.ts';

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
  // Without a card and without a default there are only plugins, which lead nowhere.
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
