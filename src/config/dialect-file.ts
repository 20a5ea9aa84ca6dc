import { parseYamlFile } from '../files/yaml-file.ts';
import { type DialectInput, dialectSchema, dialectSecrets } from '../protocol/dialect.ts';

/** Reads a dialect, YAML or JSON. Throws `bad-dialect` naming line, path, the value and what was expected. */
export function readDialect(content: string, file: string): DialectInput {
  return parseYamlFile(content, file, {
    schema: dialectSchema,
    code: 'bad-dialect',
    hint: 'docs/DIALECT.md lists every setting of a dialect.',
    secrets: dialectSecrets,
  }).input;
}
