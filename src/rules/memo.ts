/**
 * The same function, that works a result out once for each object and keeps it as long as the object lives: for pure functions
 * of what no longer changes.
 */
export function memo<Subject extends object, Result>(
  work: (subject: Subject) => Result,
): (subject: Subject) => Result {
  const known = new WeakMap<Subject, { result: Result }>();
  return (subject) => {
    const kept = known.get(subject);
    if (kept !== undefined) return kept.result;
    const result = work(subject);
    known.set(subject, { result });
    return result;
  };
}
