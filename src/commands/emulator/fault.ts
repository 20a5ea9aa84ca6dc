import { flagOf } from '../../config/options.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { call, print, reachOptions } from './control-call.ts';

/** Where and how often a fault strikes: of use with `add` alone. */
const scopeOptions = ['onStream', 'onDevice', 'once', 'times', 'probability'] as const;
const faultOptions = [...reachOptions, ...scopeOptions] as const;
type FaultContext = CommandContext<(typeof faultOptions)[number]>;

export const faultCommand = defineCommand({
  name: 'fault',
  summary: 'list the catalogue of faults, add one, show or clear those that are active',
  args: [
    ['<action>', 'list, add, active or clear'],
    ['[fault]', 'what to add, such as close:code=1012,after=2s; or the number to clear'],
  ],
  options: faultOptions,
  examples: [
    'voicectl emulator fault list',
    'voicectl emulator fault add rate-limited --times 2',
    'voicectl emulator fault add drop --probability 0.1 --on-device d1',
    'voicectl emulator fault active',
    'voicectl emulator fault clear',
  ],
  async run(context) {
    const [action = '', argument] = context.args;
    const { VoicectlError } = await import('../../kernel/errors.ts');
    if (!isAction(action))
      throw new VoicectlError('usage', `fault: expected list, add, active or clear, not ${action}`);
    const needless = needlessOf(action, context);
    if (needless !== undefined) throw new VoicectlError('usage', `fault ${action} takes no ${needless}`);
    return actions[action](context, argument);
  },
});

type Action = keyof typeof actions;

function isAction(name: string): name is Action {
  return Object.hasOwn(actions, name);
}

/** What was given that the action would not heed: who clears the faults of a device must not clear them all. */
function needlessOf(action: Action, { args, settings }: FaultContext): string | undefined {
  if (action === 'add') return undefined;
  if (action !== 'clear' && args[1] !== undefined) return `argument: ${args[1]}`;
  const given = scopeOptions.find((name) => settings[name] !== undefined);
  return given === undefined ? undefined : flagOf(given);
}

const actions = {
  async list(context: FaultContext) {
    const { catalogueLines } = await import('../../report/fault-lines.ts');
    const { describeCatalogue } = await import('../../protocol/faults.ts');
    const catalogue = describeCatalogue();
    return print(context, catalogue, catalogueLines(catalogue));
  },
  async add(context: FaultContext, written = '') {
    const { checkFault } = await import('../../emulator/faults/faults.ts');
    const { faultLine } = await import('../../report/fault-lines.ts');
    const body = { ...checkFault(written), ...scopeOf(context) };
    const added = (await call(context, 'addFault', { body })) as ActiveFaultState;
    return print(context, added, [`Added ${faultLine(added)}`]);
  },
  async active(context: FaultContext) {
    const { faultLine } = await import('../../report/fault-lines.ts');
    const faults = (await call(context, 'faults')) as ActiveFaultState[];
    return print(context, faults, faults.length === 0 ? ['No fault is active'] : faults.map(faultLine));
  },
  async clear(context: FaultContext, written?: string) {
    const body = written === undefined ? {} : { id: await readNumber(written) };
    const { cleared } = (await call(context, 'clearFaults', { body })) as { cleared: number };
    return print(context, { cleared }, [`Cleared ${cleared} ${cleared === 1 ? 'fault' : 'faults'}`]);
  },
};

async function readNumber(written: string): Promise<number> {
  if (/^[1-9]\d{0,14}$/.test(written)) return Number(written);
  const { VoicectlError } = await import('../../kernel/errors.ts');
  throw new VoicectlError('usage', `clear: expected the number of a fault, not ${written}`);
}

type ActiveFaultState = import('../../protocol/control.ts').EmulatorState['faults'][number];

function scopeOf({ settings: { onDevice, onStream, once, times, probability } }: FaultContext) {
  const scope = { device: onDevice, stream: onStream, times: times ?? (once ? 1 : undefined), probability };
  return Object.fromEntries(Object.entries(scope).filter(([, value]) => value !== undefined));
}
