import type { ValueList, Values } from '../config/option.ts';
import type { Io } from '../kernel/io.ts';

export interface ListedValue {
  value: string;
  help: string;
}

export interface ListSources extends Pick<Io, 'cwd' | 'env'> {
  /** `--config` of the command line. */
  config?: string | undefined;
}

/** Every value of a setting or an argument; none for files and folders, which the shell completes. */
export async function listValues(values: Values, sources: ListSources): Promise<ListedValue[]> {
  return typeof values === 'string' ? lists[values](sources) : values.map(bare);
}

/** Each list loads what it needs. */
const lists: Record<ValueList, (sources: ListSources) => Promise<ListedValue[]>> = {
  async faults() {
    const { faultCatalogue, faultNames } = await import('../protocol/faults.ts');
    return faultNames.map((name) => ({ value: name, help: faultCatalogue[name].summary }));
  },
  async networks() {
    const { networkProfileNames } = await import('../protocol/network.ts');
    return networkProfileNames.map(bare);
  },
  async rules() {
    const { serviceRules } = await import('../rules/catalogue.ts');
    return serviceRules.map(titled);
  },
  async exchanges() {
    const { againIds } = await import('../conformance/again.ts');
    return againIds().map(titled);
  },
  async situations() {
    const { drillRules, situations } = await import('../conformance/drill/catalogue.ts');
    return [...drillRules, ...situations].map(titled);
  },
  async scenarios() {
    const { shippedScenarios } = await import('../emulator/scenario/read-scenario.ts');
    return (await shippedScenarios()).map(bare);
  },
  async sounds() {
    const { shippedSounds } = await import('../files/shipped-file.ts');
    return (await shippedSounds()).map(bare);
  },
  async journal() {
    const { emulatorEventTypes } = await import('../service/events.ts');
    return emulatorEventTypes.map(bare);
  },
  async profiles({ cwd, env, config }) {
    const { profileNames } = await import('../config/settings.ts');
    return (await profileNames({ cwd, env, path: config ?? env.VOICECTL_CONFIG })).map(bare);
  },
  files: async () => [],
  folders: async () => [],
};

const bare = (value: string): ListedValue => ({ value, help: '' });
const titled = ({ id, title }: { id: string; title: string }): ListedValue => ({ value: id, help: title });
