import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The path of a sound in fixtures/. */
export const fixture = (name: string) => join(import.meta.dirname, '..', '..', 'fixtures', name);
/** The audio of a fixture with the plain 44-byte header. */
export const fixturePcm = (name: string) => readFileSync(fixture(name)).subarray(44);
