import { flagOf } from '../../config/options.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { countText } from '../../protocol/count-text.ts';
import { describeCatalogue } from '../../protocol/fault-schema.ts';
import { catalogueLines, faultLine, usualFaultLines } from '../../report/control-lines.ts';
import { checkFault } from '../../service/faults/faults.ts';
import type { ContextOf } from '../command.ts';
import { call } from './run.ts';

/** Lists, adds, shows or clears faults. Throws `usage` for an unknown action, or for an argument that the action does not take. */
export async function runFault(context: ContextOf<'emulator fault'>): Promise<number | undefined> {
  const [action = '', argument] = context.args;
  if (!isAction(action))
    throw new VoicectlError('usage', `fault: expected list, add, active or clear, not ${action}`);
  const needless = needlessOf(action, context);
  if (needless !== undefined) throw new VoicectlError('usage', `fault ${action} takes no ${needless}`);
  return actions[action](context, argument);
}

const scopeNames = ['onStream', 'onDevice', 'once', 'times', 'probability'] as const;

type Action = keyof typeof actions;

function isAction(name: string): name is Action {
  return Object.hasOwn(actions, name);
}

/** A flag or argument that the action does not take. Ignoring it would be dangerous: clearing a device's faults would clear all. */
function needlessOf(action: Action, { args, settings }: ContextOf<'emulator fault'>): string | undefined {
  if (action === 'add') return settings.allFaults === undefined ? undefined : flagOf('allFaults');
  if (action !== 'clear' && args[1] !== undefined) return `argument: ${args[1]}`;
  const needless = action === 'list' ? scopeNames : ([...scopeNames, 'allFaults'] as const);
  const given = needless.find((name) => settings[name] !== undefined);
  return given === undefined ? undefined : flagOf(given);
}

const actions = {
  async list(context: ContextOf<'emulator fault'>): Promise<undefined> {
    const catalogue = describeCatalogue();
    const lines = context.settings.allFaults ? catalogueLines(catalogue) : usualFaultLines(catalogue);
    await context.print(catalogue, lines);
  },
  async add(context: ContextOf<'emulator fault'>, written = ''): Promise<undefined> {
    if (written === '')
      throw new VoicectlError('usage', 'fault: add needs a fault, such as close:code=1012,after=2s');
    const body = { ...checkFault(written), ...scopeOf(context) };
    const added = await call(context, 'addFault', { body });
    await context.print(added, [`Added fault ${faultLine(added)}`]);
  },
  async active(context: ContextOf<'emulator fault'>): Promise<undefined> {
    const faults = await call(context, 'faults');
    await context.print(faults, faults.length === 0 ? ['No fault is active'] : faults.map(faultLine));
  },
  async clear(context: ContextOf<'emulator fault'>, written?: string): Promise<number | undefined> {
    const body = written === undefined ? {} : { id: readNumber(written) };
    const { cleared } = await call(context, 'clearFaults', { body });
    const isMissing = written !== undefined && cleared === 0;
    const text = isMissing ? `There is no active fault ${written}` : `Cleared ${countText(cleared, 'fault')}`;
    await context.print({ cleared }, [text]);
    return isMissing ? 1 : undefined;
  },
};

function readNumber(written: string): number {
  if (/^[1-9]\d{0,14}$/.test(written)) return Number(written);
  throw new VoicectlError('usage', `clear: expected the number of a fault, not ${written}`);
}

function scopeOf({
  settings: { onDevice, onStream, once, times, probability },
}: ContextOf<'emulator fault'>) {
  const scope = { device: onDevice, stream: onStream, times: times ?? (once ? 1 : undefined), probability };
  return Object.fromEntries(Object.entries(scope).filter(([, value]) => value !== undefined));
}
