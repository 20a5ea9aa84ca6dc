import { access, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Stdin } from '../config/target.ts';
import { readYamlFile } from '../config/yaml-file.ts';
import { loadScenario, type Scenario } from '../emulator/scenario/scenario.ts';
import { scenarioSchema } from '../emulator/scenario/scenario-schema.ts';
import { VoicectlError } from '../errors.ts';

/** Where the scenarios that come with the program are, seen from the built program. */
const shippedFolder = fileURLToPath(new URL('../examples/scenarios/', import.meta.url));

/**
 * Reads a scenario: a file, or the name of one that comes with the program. Throws `bad-input` naming line
 * and column of what is wrong.
 */
export async function readScenario(nameOrFile: string, input: Stdin): Promise<Scenario> {
  const file = await find(nameOrFile);
  const { input: written, refuse } = await readYamlFile(file, input, {
    schema: scenarioSchema,
    hint: 'The README shows what a scenario can hold; its JSON Schema is in schema/scenario.schema.json.',
  });
  return loadScenario(written, dirname(file)).catch((thrown: VoicectlError) => {
    const path = thrown.details?.path as PropertyKey[] | undefined;
    throw path === undefined ? thrown : refuse(path, thrown.message, thrown.cause);
  });
}

async function find(nameOrFile: string): Promise<string> {
  if (nameOrFile === '-' || /[./\\]/.test(nameOrFile) || (await exists(nameOrFile))) return nameOrFile;
  const shipped = join(shippedFolder, `${nameOrFile}.yaml`);
  if (await exists(shipped)) return shipped;
  const names = (await readdir(shippedFolder)).map((name) => name.replace(/\.yaml$/, ''));
  throw new VoicectlError('bad-input', `There is no scenario ${nameOrFile}`, {
    hint: `Give a file, or one of ${names.join(', ')}.`,
  });
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
