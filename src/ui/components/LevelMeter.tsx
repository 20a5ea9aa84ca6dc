import { Text } from 'ink';
import { padStartTo, padTo } from '../cells.ts';
import type { MeterReading } from '../meter.ts';
import { type Colour, colours, useGlyphs } from '../theme.ts';
import { Bar } from './Bar.tsx';

/** The quietest level that a meter shows. */
const bottomDbfs = -60;
const zones = [
  { from: partOf(-9), colour: colours.warning },
  { from: partOf(-3), colour: colours.bad },
] as const;

const labelWidth = 4;

/** Position of a level on a meter, from 0 to 1. */
export function partOf(dbfs: number): number {
  return Math.min(1, Math.max(0, 1 - dbfs / bottomDbfs));
}

interface LevelMeterProps {
  label: string;
  reading: MeterReading;
  colour: Colour;
  width: number;
  /** Shown instead of the level. */
  instead?: string | undefined;
}

/** One voice: its level, the held peak, and whether it clips. */
export function LevelMeter({ label, reading, colour, width, instead }: LevelMeterProps) {
  const { minus } = useGlyphs();
  const { rmsDbfs, heldDbfs, isClipped } = reading;
  const level = instead ?? levelText(rmsDbfs, minus);
  const barWidth = Math.max(4, width - 18);
  return (
    <Text wrap="truncate">
      {padTo(label, labelWidth)}
      <Bar value={partOf(rmsDbfs)} width={barWidth} colour={colour} hold={partOf(heldDbfs)} zones={zones} />
      {isClipped ? (
        <Text color={colours.bad} bold inverse>
          {' CLIP'}
        </Text>
      ) : (
        '     '
      )}
      {padStartTo(level, 9)}
    </Text>
  );
}

/** A level as text, or `silent`. */
export function levelText(dbfs: number, minus = '−'): string {
  if (dbfs <= bottomDbfs) return 'silent';
  return `${dbfs < -0.05 ? minus : ''}${Math.abs(dbfs).toFixed(1)} dB`;
}

/** The scale below the meters. */
export function LevelScale({ width }: { width: number }) {
  const { minus } = useGlyphs();
  const barWidth = Math.max(4, width - 18);
  const cells = Array.from({ length: barWidth + labelWidth + 6 }, () => ' ');
  for (const dbfs of barWidth < 40 ? [-60, -40, -20, 0] : [-60, -50, -40, -30, -20, -10, 0]) {
    const text = dbfs === 0 ? '0 dBFS' : `${minus}${-dbfs}`;
    const at = labelWidth + Math.min(barWidth - 1, Math.round(partOf(dbfs) * barWidth));
    for (const [index, character] of [...text].entries()) cells[at + index] = character;
  }
  return (
    <Text dimColor wrap="truncate">
      {cells.join('')}
    </Text>
  );
}
