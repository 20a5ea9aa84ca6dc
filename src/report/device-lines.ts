import { escapeText } from '../kernel/escape.ts';
import type { Style } from './style.ts';

/** A sound device, as a report shows it. */
export interface DeviceRow {
  index: number;
  name: string;
  id: string;
  isDefault: boolean;
}

/** Inputs and outputs as a table, defaults marked. */
export function deviceLines(
  { backend, inputs, outputs }: { backend: string; inputs: DeviceRow[]; outputs: DeviceRow[] },
  style: Style,
): string[] {
  const rows = (devices: DeviceRow[]) =>
    devices.length === 0
      ? ['     none']
      : devices.map(({ index, id, name, isDefault }) => {
          const apart = name.startsWith(id) || /^\d+$/.test(id) ? '' : `  [${escapeText(id)}]`;
          const line = `${isDefault ? '*' : ' '} ${String(index).padStart(2)}  ${escapeText(name)}${apart}`;
          return isDefault ? style.strong(line) : line;
        });
  return [
    `Inputs, through ${backend} (* default)`,
    ...rows(inputs),
    '',
    'Outputs',
    ...rows(outputs),
    '',
    style.dim('Choose with --input-device and --output-device: a number, or part of the name.'),
  ];
}

/** The result of `devices test` as lines. */
export function loopLines({
  input,
  output,
  level,
  loopMs,
}: {
  input: string;
  output: string;
  level: { rmsDbfs: number; peakDbfs: number; clipped: boolean };
  loopMs: number | undefined;
}): string[] {
  const clipped = level.clipped ? ', clipped: turn the microphone down' : '';
  const silent = level.peakDbfs <= -100 ? ': digital silence: it may be muted, or not permitted' : '';
  return [
    `input    through ${input}`,
    `output   through ${output}`,
    `level    ${level.rmsDbfs.toFixed(1)} dBFS, peak ${level.peakDbfs.toFixed(1)} dBFS${clipped}${silent}`,
    loopMs === undefined
      ? 'loop     not measured: the microphone did not hear the loudspeaker (expected with headphones)'
      : `loop     ${loopMs.toFixed(0)} ms from the loudspeaker to the microphone`,
  ];
}
