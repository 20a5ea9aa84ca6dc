import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { schemas } from '../../docs/schemas.ts';
import { fixture, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();

test('a recording matches the schema according to a foreign validator', async () => {
  const ended = await sandbox.runHere([
    ...['stream', '--file', fixture('barge-in.wav'), '--local', '--reply', 'echo', '--pace', 'max'],
    ...['--tail', '0', '--settle', '200ms', '--expect-audio', '--record', 'recording'],
  ]);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(schemas['recording.schema.json'] ?? {}, 'recording');
  const check = (part: string, text: string) => {
    const validate = ajv.getSchema(`recording#/$defs/${part}`);
    expect(validate?.(JSON.parse(text)), `${text}: ${JSON.stringify(validate?.errors)}`).toBe(true);
  };
  const read = (name: string) => readFileSync(join(sandbox.path('recording'), name), 'utf8');
  check('manifest', read('recording.json'));
  check('summary', read('summary.json'));
  for (const line of read('events.jsonl').split('\n').slice(0, -1)) check('event', line);
  for (const line of read('wire.jsonl').split('\n').slice(0, -1)) check('wire', line);
});
