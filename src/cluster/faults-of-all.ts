import type { Fault } from '../protocol/faults.ts';
import { checkFault, type Faults } from '../service/faults/faults.ts';
import type { Eventually } from '../service/state/eventual.ts';

export interface FaultsOfAllOptions {
  /** The faults of this emulator. They follow those in Redis. */
  faults: Faults;
  shared: {
    changeFaults(how: 'add' | 'clear' | 'replace', args: readonly string[]): Promise<number>;
  };
  /** Faults of the start. */
  initial: readonly Fault[];
}

/** The faults of all emulators of a service: the same ones, under the same numbers. */
export function faultsOfAll({
  faults,
  shared,
  initial,
}: FaultsOfAllOptions): Eventually<Pick<Faults, 'add' | 'list' | 'clear' | 'reset'>> {
  return {
    list: faults.list,
    async add(input) {
      const fault = checkFault(input);
      const id = await shared.changeFaults('add', [JSON.stringify(fault)]);
      return faults.list().find((one) => one.id === id) ?? { id, fault, struck: 0 };
    },
    clear: (id) => shared.changeFaults('clear', [id === undefined ? 'all' : String(id)]),
    async reset() {
      await shared.changeFaults(
        'replace',
        initial.map((fault) => JSON.stringify(fault)),
      );
    },
  };
}
