/** The steps that each rule is judged by. */
const needed = {
  R1: ['E1'],
  R2: ['E2'],
  R3: ['E1'],
  R4: ['E1'],
  R5: ['E1', 'E11'],
  R6: ['E1'],
  R7: ['E2'],
  R8: ['E1'],
  R9: ['E1'],
  R10: ['E1', 'E3'],
  R11: ['E1'],
  R12: ['E1'],
  R13: ['E1'],
  R14: ['E1', 'E2', 'E3'],
  R15: ['E4'],
  R16: ['E5'],
  R17: ['E6'],
  R18: ['E7'],
  R19: ['E8'],
  R20: ['E9'],
  R21: ['E4', 'E5', 'E6', 'E7', 'E8', 'E9', 'E10'],
  R22: ['E4', 'E5', 'E6', 'E7', 'E8', 'E9', 'E10'],
  R23: ['E1'],
  R24: ['E1'],
  R25: ['E1', 'E2'],
  R26: ['E1', 'E2'],
  R27: ['E2', 'E3'],
  R28: ['E1'],
  R29: ['E3', 'W30', 'W61'],
  R30: ['X'],
  R31: ['X', 'X61'],
  R32: ['E1', 'S6', 'K4'],
  R33: ['S1'],
  R34: ['S1', 'S4', 'S5', 'S6', 'S6-end'],
  R35: ['S1'],
  R36: ['S3'],
  R37: ['S1'],
  R38: ['S1'],
  R39: ['S1', 'S2', 'S3', 'S4', 'S5', 'S6', 'S6-end', 'S7', 'S8', 'S9'],
  R40: ['A55', 'A55-end'],
  R41: ['A55', 'A55-end', 'A62', 'A66', 'A72', 'A91', 'A121'],
  R42: ['C'],
  R43: ['C'],
  R44: ['C'],
  R45: ['S1', 'S9', 'S2'],
} as const satisfies Record<string, readonly string[]>;

export type RuleId = keyof typeof needed;

/** Steps that distinguish a fail from something harmless: used in the second try, and if the first leaves the rule open. */
const controls: Partial<Record<RuleId, readonly string[]>> = {
  R1: ['E2'],
  R2: ['E1', 'E3'],
  R7: ['E1', 'E3'],
  R25: ['E3', 'E11'],
  R26: ['E11'],
  R27: ['E1'],
  R36: ['S1'],
  R40: ['S1'],
  R41: ['S1'],
};

/** The step that shows whether the service accepts another device. */
export const otherDeviceStep = 'E3';

const counting: readonly RuleId[] = ['R25', 'R26', 'R27', 'R28', 'R29', 'R30', 'R31', 'R42', 'R43', 'R44'];

/** Whether a rule counts something: a second try needs devices that nobody has used. */
export function isCounting(id: string): boolean {
  return counting.some((rule) => rule === id);
}

/** The steps of a rule that is selected by name: also what its second try needs to know. */
export function stepsForNamed(id: string): readonly string[] {
  return isCounting(id) ? [...stepsFor(id), otherDeviceStep] : stepsFor(id);
}

/** The steps of a rule. */
export function stepsFor(id: string): readonly string[] {
  return Object.hasOwn(needed, id) ? needed[id as RuleId] : [];
}

/** The steps that confirm the fail of a rule. */
export function stepsToConfirm(id: string): readonly string[] {
  return [...stepsFor(id), ...controlsOf(id)];
}

/** The steps without which a rule may stay open. */
export function controlsOf(id: string): readonly string[] {
  return controls[id as RuleId] ?? [];
}

/** The rules about which a step shows something. */
export function rulesOf(step: string): string[] {
  return Object.entries(needed).flatMap(([id, steps]) =>
    (steps as readonly string[]).includes(step) ? [id] : [],
  );
}
