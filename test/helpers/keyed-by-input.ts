/** Objects that are filled or read by a name from outside, in each way that there is. */
export function keyedByInput(names: readonly string[], text: string): unknown[] {
  const made: Record<string, number> = {};
  const fromEntries = Object.fromEntries(names.map((name) => [name, 1]));
  const computed = names.map((name) => ({ [name]: 1 }));
  const reduced = computed.reduce<Record<string, number>>((_all, one) => one, {});
  const parsed = JSON.parse(text) as Record<string, unknown>;
  const counted = names.reduce<Record<string, number>>((all, name) => {
    all[name] = 1;
    return all;
  }, {});
  const read = names.map((name) => {
    made[name] = 1;
    return [fromEntries[name], reduced[name], parsed[name]];
  });
  return [read, counted, names.filter((name) => name in made)];
}
