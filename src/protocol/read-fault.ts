import type * as z from 'zod';
import { type Fault, type FaultName, faultNames, schemaOfFault } from './faults.ts';
import { networkFault } from './network.ts';
import { expectedUnit, lacksUnit } from './read-duration.ts';
import { createSchemaPlaces, type SchemaPlaces } from './schema-places.ts';
import { describeIssue, readOnce } from './schema-problem.ts';
import { didYouMean } from './suggestion.ts';

/**
 * Reads `NAME` or `NAME:key=value,key=value`, such as `close:code=1012,after=2s,times=1`.
 * Throws `Error` saying what was expected.
 */
export function readFault(written: string): Fault {
  const [name = '', rest = ''] = splitAt(written, ':');
  const pairs = rest === '' ? [] : rest.split(',').map((pair) => splitAt(pair, '='));
  const bare = pairs.find(([key, value]) => lacksUnit(value) && isDurationOf(name, key));
  if (bare !== undefined) throw new Error(`${name}: ${bare[0]}: expected ${expectedUnit(bare[1])}`);
  const values = pairs.map(([key, value]) => [key, staysText(name, key) ? value : readValue(value)]);
  return parseFault({ name, ...Object.fromEntries(values) });
}

/** The fault that `--network` asks for: `slow-3g`, settings, or both. Throws `Error` saying what was expected. */
export function readNetwork(written: string): Fault {
  try {
    return readFault(networkFault(written));
  } catch (cause) {
    throw new Error((cause as Error).message.replace(/^network: /, ''), { cause });
  }
}

/** Checks a fault that was read from somewhere. Throws `Error` saying what was expected. */
export function parseFault(input: unknown): Fault {
  const name = (input as { name?: unknown } | null)?.name;
  if (!faultNames.includes(name as FaultName)) {
    const meant = typeof name === 'string' ? didYouMean(name, faultNames) : '';
    throw new Error(`expected a fault from the catalogue${meant}`);
  }
  const result = schemaOfFault(name as FaultName).safeParse(input, readOnce);
  if (result.success) return result.data as Fault;
  const [issue] = result.error.issues as [z.core.$ZodIssue];
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const known = Object.keys(schemaOfFault(name as FaultName).shape);
    throw new Error(`${name}: there is no setting ${JSON.stringify(key)}${didYouMean(key, known)}`);
  }
  const { path, expected } = describeIssue(issue);
  const why = issue.message.startsWith('expected ') ? issue.message : `expected ${expected}`;
  throw new Error(`${name}: ${path}: ${why}`);
}

function isDurationOf(name: string, key: string): boolean {
  return placesOf(name)?.isDuration([key]) === true;
}

/** A rate needs its unit, and so stays text until it is read. A name may be digits. */
function staysText(name: string, key: string): boolean {
  const places = placesOf(name);
  return places?.isRate([key]) === true || places?.isText([key]) === true;
}

function placesOf(name: string): SchemaPlaces | undefined {
  if (!faultNames.includes(name as FaultName)) return undefined;
  return createSchemaPlaces(schemaOfFault(name as FaultName));
}

function splitAt(written: string, separator: string): [string, string] {
  const at = written.indexOf(separator);
  return at < 0 ? [written, ''] : [written.slice(0, at), written.slice(at + 1)];
}

/** Numbers are numbers; anything else is text. */
function readValue(written: string): string | number {
  return /^-?\d+(\.\d+)?$/.test(written) ? Number(written) : written;
}
