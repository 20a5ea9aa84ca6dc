import { type OptionName, optionSpec } from './options.ts';

/** Settings whose values are never shown. */
export const secretSettings: ReadonlySet<PropertyKey> = new Set<OptionName>(['apiKey', 'acceptKey']);

/**
 * Reads the value of a setting: text or `true` of a flag, or what a config file holds. A repeatable setting gives a
 * list. Throws `Error` saying what was expected.
 */
export function readValue(name: OptionName, raw: unknown): unknown {
  if (!optionSpec(name).repeatable) return readSingle(name, raw);
  return (Array.isArray(raw) ? raw : [raw]).map((one) => readSingle(name, one));
}

/** Reads one value, also one of a list. Throws `Error` saying what was expected. */
export function readSingle(name: OptionName, raw: unknown): unknown {
  const { parse, preset } = optionSpec(name);
  if (raw === true && preset !== undefined) return parse(preset);
  if (!['string', 'number', 'boolean'].includes(typeof raw)) throw new Error('expected a single value');
  return parse(String(raw));
}

/** A wrong value as it may be shown: without secrets, and a list or an object by its kind. */
export function shownValue(name: OptionName, raw: unknown): unknown {
  if (secretSettings.has(name)) return '(hidden)';
  if (Array.isArray(raw)) return '(a list)';
  if (typeof raw === 'object' && raw !== null) return '(an object)';
  return typeof raw === 'string' ? raw.replace(/\/\/[^@/]*@/, '//…@') : raw;
}
