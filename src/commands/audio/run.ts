import { dbfsText, type Level } from '../../audio/level.ts';
import { listFirst } from '../../devices/backends/list-devices.ts';
import { openFirst } from '../../devices/backends/open-first.ts';
import { openCapture } from '../../devices/capture.ts';
import { type LoopResult, testLoop } from '../../devices/loop-test.ts';
import { openSpeaker } from '../../devices/playout/open-speaker.ts';
import { systemClock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { escapeText, jsonLines } from '../../kernel/escape.ts';
import { version } from '../../kernel/version.ts';
import type { Style } from '../../report/style.ts';
import type { ContextOf } from '../command.ts';
import { deviceChoices, deviceSearch } from '../sound-devices/open-devices.ts';

export async function run(context: ContextOf<'audio'>): Promise<undefined> {
  const [action] = context.args;
  if (action === 'test') return test(context);
  if (action === undefined) return list(context);
  throw new VoicectlError('usage', `audio: expected test, not ${action}`);
}

async function list({ settings, io, json, style, signal }: ContextOf<'audio'>): Promise<undefined> {
  const search = deviceSearch(io);
  const options = { clock: systemClock, search, signal };
  const { backend, devices } = await listFirst(settings.audioBackend, options);
  signal.throwIfAborted();
  const rows = (role: 'input' | 'output') =>
    devices
      .filter((device) => device.role === role)
      .map(({ id, name, isDefault }, index) => ({ index, id, name, isDefault }));
  const found = { backend, inputs: rows('input'), outputs: rows('output') };
  await io.stdout.write(
    json ? jsonLines({ version, ...found }) : `${deviceLines(found, style).join('\n')}\n`,
  );
}

async function test(context: ContextOf<'audio'>): Promise<undefined> {
  const { io, json, signal, note } = context;

  const choices = deviceChoices(context);
  const capture = await openFirst(choices.capture, (backend, device) =>
    openCapture(backend, { ...choices.capture, device, onOverrun: () => {} }),
  );
  try {
    const speaker = await openFirst(choices.playback, (backend, device) =>
      openSpeaker(backend, { ...choices.playback, device }),
    );
    try {
      const result = await testLoop(capture, speaker, {
        onRecording: (ms) => void note(`Recording ${ms / 1000} s: say something`),
        onPlaying: () => void note('Playing it back'),
        onMeasuring: () => void note('Measuring the delay with a chirp'),
        clock: systemClock,
        signal,
      });
      await io.stdout.write(
        json
          ? jsonLines({ version, ...result, loopMs: result.loopMs ?? null })
          : `${loopLines(result).join('\n')}\n`,
      );
    } finally {
      await speaker.stop();
    }
  } finally {
    await capture.stop();
  }
}

/** A sound device, as a report shows it. */
interface DeviceRow {
  index: number;
  name: string;
  id: string;
  isDefault: boolean;
}

/** Inputs and outputs as a table, defaults marked. */
function deviceLines(
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

/** Speech with a lower peak is too quiet for a service; a louder background resembles speech. */
const quietPeakDbfs = -30;
const loudNoiseDbfs = -45;

function levelAdvice({ peakDbfs, clipped }: Level): string {
  if (clipped) return ', clipped: turn the microphone down';
  if (peakDbfs <= -100) return ': digital silence: the microphone may be muted or not permitted';
  return peakDbfs < quietPeakDbfs ? ': too quiet: speak up, or turn the microphone up' : '';
}

/** The result of `audio test` as lines. */
export function loopLines({ input, output, level, noiseDbfs, loopMs }: LoopResult): string[] {
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
