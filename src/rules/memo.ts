/**
 * The same function, but it computes a result once for each object and keeps it as long as the object lives: for pure functions
 * of objects that no longer change.
 */
export function memoise<Key extends object, Result>(work: (key: Key) => Result): (key: Key) => Result {
  const known = new WeakMap<Key, { result: Result }>();
  return (key) => {
    const kept = known.get(key);
    if (kept !== undefined) return kept.result;
    const result = work(key);
    known.set(key, { result });
    return result;
  };
}
