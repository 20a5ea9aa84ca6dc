import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { loadScenario, type Scenario } from '../../emulator/scenario/scenario.ts';
import { scenarioSchema } from '../../emulator/scenario/scenario-schema.ts';
import { noStdin, type Stdin } from '../../files/read-text.ts';
import { nameOf, refusal } from '../../files/refusal.ts';
import { fileExists, shippedFolder } from '../../files/shipped-file.ts';
import { readYamlFile } from '../../files/yaml-file.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { didYouMean } from '../../protocol/suggestion.ts';

/** Folder of the included scenarios. */
const scenarioFolder = shippedFolder('examples/scenarios');

/**
 * Reads a scenario: a file, or the name of an included one. Throws `bad-input` naming line
 * and column of the error.
 */
export async function readScenario(nameOrFile: string, input: Stdin = noStdin): Promise<Scenario> {
  const file = await find(nameOrFile);
  const hint = 'docs/SCENARIOS.md describes scenarios; schema/scenario.schema.json is their JSON Schema.';
  const { input: written, refuse } = await readYamlFile(file, input, { schema: scenarioSchema, hint });
  // Most likely it is not the file that was meant: nothing would be played.
  if (Object.keys(written).length === 0) throw refusal(nameOf(file), 'it is empty', hint);
  return loadScenario(written, dirname(file)).catch((thrown: VoicectlError) => {
    const path = thrown.details?.path;
    throw path === undefined ? thrown : refuse(path, thrown.message, thrown.cause);
  });
}

/** The names of the included scenarios. */
export async function shippedScenarios(): Promise<string[]> {
  return (await readdir(scenarioFolder)).map((name) => name.replace(/\.yaml$/, ''));
}

async function find(nameOrFile: string): Promise<string> {
  if (nameOrFile === '-' || /[./\\]/.test(nameOrFile) || (await fileExists(nameOrFile))) return nameOrFile;
  const shipped = join(scenarioFolder, `${nameOrFile}.yaml`);
  if (await fileExists(shipped)) return shipped;
  const names = await shippedScenarios();
  throw new VoicectlError('bad-input', `Unknown scenario ${nameOrFile}${didYouMean(nameOrFile, names)}`, {
    hint: `Name a file, or one of ${names.join(', ')}.`,
  });
}
