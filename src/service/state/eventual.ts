/** A value, or the promise of one that has to be fetched. */
export type Eventual<Value> = Value | Promise<Value>;

/** An interface whose answers may have to be fetched. */
export type Eventually<Api> = {
  [Name in keyof Api]: Api[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Eventual<Result>
    : Api[Name];
};

/** Applies `use` to a value; in the same tick if the value is there. */
export function whenKnown<Value, Result>(
  value: Eventual<Value>,
  use: (value: Value) => Eventual<Result>,
): Eventual<Result> {
  return value instanceof Promise ? value.then(use) : use(value);
}
