import { dbfsText } from '../audio/level.ts';
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

/** Speech that peaks below is too quiet for a service; background above is like speech. */
const quietPeakDbfs = -30;
const loudNoiseDbfs = -45;

function levelAdvice({ peakDbfs, clipped }: { peakDbfs: number; clipped: boolean }): string {
  if (clipped) return ', clipped: turn the microphone down';
  if (peakDbfs <= -100) return ': digital silence: it may be muted, or not permitted';
  return peakDbfs < quietPeakDbfs ? ': too quiet: speak up, or turn the microphone up' : '';
}

/** The result of `audio test` as lines. */
export function loopLines({
  input,
  output,
  level,
  noiseDbfs,
  loopMs,
}: {
  input: string;
  output: string;
  level: { rmsDbfs: number; peakDbfs: number; clipped: boolean };
  noiseDbfs: number;
  loopMs: number | undefined;
}): string[] {
  return [
    `input    through ${input}`,
    `output   through ${output}`,
    `level    ${dbfsText(level.rmsDbfs)}, peak ${dbfsText(level.peakDbfs)}${levelAdvice(level)}`,
    `noise    ${dbfsText(noiseDbfs)}${noiseDbfs > loudNoiseDbfs ? ': loud; the service may mistake it for speech' : ''}`,
    loopMs === undefined
      ? 'loop     not measured: the microphone did not hear the loudspeaker (expected with headphones)'
      : `loop     ${loopMs.toFixed(0)} ms from the loudspeaker to the microphone`,
  ];
}
