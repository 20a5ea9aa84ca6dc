import type { YAMLError } from 'yaml';
import { VoicectlError } from '../kernel/errors.ts';
import { locationText } from './problem-text.ts';
import { openYaml, type Place, plainValue, type YamlDocument } from './yaml-document.ts';

/** The content of a file, and where its values are. */
export interface PlacedValue extends Pick<YamlDocument, 'placeOf'> {
  value: unknown;
}

/**
 * The content of a YAML or JSON file that may hold a key. A separate module, loaded only if there is such a
 * file. Throws `bad-config` with the line and the column, never with the content.
 */
export function parseSecretYaml(path: string, content: string): PlacedValue {
  const opened = openYaml(content);
  const { document, placeAt, placeOf } = opened;
  const refuseAt = (why: string, place: Place): never => {
    throw new VoicectlError('bad-config', `${locationText(path, place)}: ${why}`, { details: place });
  };
  const refuse = (why: string, { pos }: Pick<YAMLError, 'pos'>): never => refuseAt(why, placeAt(pos[0]));
  const [error] = document.errors;
  if (error !== undefined)
    refuse(`this is not YAML (${error.code.toLowerCase().replaceAll('_', ' ')})`, error);
  // Without this an unknown tag would be ignored.
  const tag = document.warnings.find(({ code }) => code === 'TAG_RESOLVE_FAILED');
  if (tag !== undefined) refuse('this tag is unknown', tag);
  // The name of an anchor may be a key in the wrong place.
  const value = plainValue(opened, (_why, place) => refuseAt('its aliases cannot be followed', place));
  return { value, placeOf };
}
