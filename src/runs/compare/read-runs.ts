import { readDialect } from '../../config/dialect-file.ts';
import type { VoicectlError } from '../../kernel/errors.ts';
import { cutText, escapeText, jsonText } from '../../kernel/escape.ts';
import { dialectSchema, dialectSecrets } from '../../protocol/dialect.ts';
import { isRecord } from '../../protocol/error-body.ts';
import { parseJson } from '../../protocol/parse-json.ts';
import { hidden } from '../../protocol/schema-problem.ts';
import { readResult } from '../load/read-result.ts';
import { readBaseline } from './baseline.ts';
import { refuseRun, runOfLines } from './lines-run.ts';
import { runOfLoad } from './load-run.ts';
import type { ComparedItem, RunSet } from './run-set.ts';

/** Reads a result, a baseline or a dialect, which somebody else may have written. Throws `bad-input`. */
export function readRuns(content: string, name: string): RunSet {
  const whole = parseJson(content);
  if (isRecord(whole)) {
    if (whole.type === 'load-result') return runOfLoad(readResult(content, name), name);
    if (whole.type === 'baseline') return readBaseline(whole, name);
    if (typeof whole.type === 'string') return runOfLines([{ line: 1, value: whole }], name);
    return dialectRun(content, name);
  }
  const lines = content.split('\n').map((text, index) => ({ line: index + 1, text }));
  const [first, ...others] = lines.filter(({ text }) => text.trim() !== '');
  if (first === undefined) throw refuseRun(name, 'it is empty');
  if (!isRecord(parseJson(first.text))) {
    // Our results begin like this, and no dialect does: this one was cut off.
    if (/^\s*\{\s*"type"\s*:/.test(content)) throw notAnObject(name, first.line);
    return dialectRun(content, name);
  }
  const parsed = [first, ...others].map(({ line, text }) => {
    const value = parseJson(text);
    if (!isRecord(value)) throw notAnObject(name, line);
    return { line, value };
  });
  return runOfLines(parsed, name);
}

function notAnObject(name: string, line: number): VoicectlError {
  return refuseRun(name, `line ${line} is not a JSON object`);
}

function dialectRun(content: string, name: string): RunSet {
  const dialect = dialectSchema.parse(readDialect(content, name));
  return {
    ...{ kind: 'dialect', name, subject: '', plan: [] },
    runs: [{ at: null, invalid: [], figures: [], items: settingsOf(dialect) }],
  };
}

/** The settings of a dialect, each with its value as JSON. */
function settingsOf(value: unknown, path: readonly string[] = []): ComparedItem[] {
  const name = path.at(-1) ?? '';
  if (isRecord(value) && path.length < 2)
    return Object.entries(value).flatMap(([key, inner]) => settingsOf(inner, [...path, key]));
  // A change of a secret is not reported.
  const shown = dialectSecrets.has(name) ? hidden : cutText(jsonText(value), 300);
  return [{ id: escapeText(path.join('.')), title: '', verdict: shown, message: '' }];
}
