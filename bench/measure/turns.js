/**
 * One thing measured: how it is done by the program, and by its floor.
 *
 * @typedef {object} Measured
 * @property {number} value
 * @property {Record<string, number | string>} [details]
 * @property {string} [limit] Why it is not a figure of what was measured, where that is so.
 *
 * @typedef {object} Benchmark
 * @property {string} name As on the command line.
 * @property {string} figure What is measured.
 * @property {string} unit
 * @property {number} turns How often each side is measured.
 * @property {Goal} goal
 * @property {string} [floorName]
 * @property {boolean} [onRequest] Run only when it is named.
 * @property {() => Promise<unknown>} [before]
 * @property {() => Promise<Measured | Skipped>} program
 * @property {() => Promise<Measured>} [floor]
 * @property {() => Promise<unknown>} [after]
 *
 * @typedef {{ of: 'ratio' | 'value', atMost?: number, atLeast?: number, text: string }} Goal
 * @typedef {{ skipped: string }} Skipped
 *
 * @typedef {object} Outcome
 * @property {string} name
 * @property {string} figure
 * @property {string} unit
 * @property {Goal} goal
 * @property {string} [floorName]
 * @property {string} [skipped]
 * @property {number[]} program
 * @property {number[]} floor
 * @property {Measured['details']} [details] Of the median turn of the program.
 * @property {string[]} limits
 */

/**
 * Measures program and floor in turns, the other one first every time.
 *
 * @param {Benchmark} benchmark
 * @param {{ onTurn?: (turn: number) => void }} [options]
 * @returns {Promise<Outcome>}
 */
export async function runInTurns(benchmark, { onTurn } = {}) {
  const { name, figure, unit, goal, floorName, turns } = benchmark;
  /** @type {Measured[]} */
  const program = [];
  /** @type {Measured[]} */
  const floor = [];
  const base = { name, figure, unit, goal, ...(floorName === undefined ? {} : { floorName }) };
  const measureFloor = async () => {
    if (benchmark.floor !== undefined) floor.push(await benchmark.floor());
  };
  await benchmark.before?.();
  try {
    for (let turn = 0; turn < turns; turn += 1) {
      onTurn?.(turn);
      if (turn % 2 === 1) await measureFloor();
      const measured = await benchmark.program();
      if ('skipped' in measured)
        return { ...base, skipped: measured.skipped, program: [], floor: [], limits: [] };
      program.push(measured);
      if (turn % 2 === 0) await measureFloor();
    }
  } finally {
    await benchmark.after?.();
  }
  const byValue = [...program].sort((a, b) => a.value - b.value);
  const details = byValue[Math.floor((byValue.length - 1) / 2)]?.details;
  return {
    ...base,
    program: program.map(({ value }) => value),
    floor: floor.map(({ value }) => value),
    ...(details === undefined ? {} : { details }),
    limits: [
      ...program.flatMap(({ limit }) => (limit === undefined ? [] : [`program: ${limit}`])),
      ...floor.flatMap(({ limit }) => (limit === undefined ? [] : [`floor: ${limit}`])),
    ],
  };
}
