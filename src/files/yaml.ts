import { LineCounter, parseDocument, type YAMLError } from 'yaml';
import { VoicectlError } from '../kernel/errors.ts';

/**
 * The value of a YAML or JSON file that may hold a key. A separate module, loaded only if there is such a
 * file. Throws `bad-config` with the line and the column, never with the content.
 */
export function parseSecretYaml(path: string, content: string): unknown {
  const lines = new LineCounter();
  // Warnings would go to standard error, with an excerpt.
  const document = parseDocument(content, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const refuse = (why: string, { pos }: Pick<YAMLError, 'pos'>): never => {
    const { line, col } = lines.linePos(pos[0]);
    throw new VoicectlError('bad-config', `${path}:${line}:${col}: ${why}`, {
      details: { line, column: col },
    });
  };
  const [error] = document.errors;
  if (error !== undefined)
    refuse(`this is not YAML (${error.code.toLowerCase().replaceAll('_', ' ')})`, error);
  // Otherwise an unknown tag would be ignored.
  const tag = document.warnings.find(({ code }) => code === 'TAG_RESOLVE_FAILED');
  if (tag !== undefined) refuse('this tag is not known', tag);
  try {
    return document.toJS();
  } catch {
    throw new VoicectlError('bad-config', `${path}: its aliases cannot be followed`);
  }
}
