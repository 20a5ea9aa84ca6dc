import { parse } from 'yaml';
import { VoicectlError } from '../errors.ts';
import { type DialectInput, parseDialect } from '../protocol/dialect.ts';

/** Reads a dialect, YAML or JSON. Throws `bad-dialect` naming the path, the value and what was expected. */
export function readDialect(content: string, file: string): DialectInput {
  const input = readYaml(content, file);
  const parsed = parseDialect(input);
  if (parsed.ok) return input as DialectInput;
  const lines = parsed.problems.map(
    ({ path, value, expected }) => `${path}: ${JSON.stringify(value)}, expected ${expected}`,
  );
  throw new VoicectlError('bad-dialect', `${file}: ${lines.slice(0, 3).join('; ')}`, {
    hint: 'The README lists every setting of a dialect.',
    details: { problems: parsed.problems },
  });
}

/** JSON is YAML too. */
function readYaml(content: string, file: string): unknown {
  try {
    return parse(content) ?? {};
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
    throw new VoicectlError('bad-dialect', `${file}: ${why}`, { cause });
  }
}
