import { escapeText } from '../kernel/escape.ts';
import type { Manifest } from '../recording/format.ts';
import type { Style } from './style.ts';

/** What was recorded, as a line. */
export function recordingTitle(manifest: Manifest | undefined, durationMs: number, style: Style): string {
  const length = `${(durationMs / 1000).toFixed(1)} s`;
  if (manifest === undefined) return `${style.strong('an incomplete recording')}  ${length}`;
  const { source, device, wsUrl, startedAt, version } = manifest;
  const what = `${escapeText(source)} as ${escapeText(device)} to ${escapeText(wsUrl)}`;
  return `${style.strong(escapeText(startedAt))}  ${length}  ${what}  (voicectl ${escapeText(version)})`;
}
