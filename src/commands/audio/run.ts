import { listFirst } from '../../devices/backends/list-devices.ts';
import { openFirst } from '../../devices/backends/open-first.ts';
import { openCapture } from '../../devices/capture.ts';
import { testLoop } from '../../devices/loop-test.ts';
import { openSpeaker } from '../../devices/playout/open-speaker.ts';
import { systemClock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { jsonLines } from '../../kernel/escape.ts';
import { version } from '../../kernel/version.ts';
import { deviceLines, loopLines } from '../../report/device-lines.ts';
import type { ContextOf } from '../command.ts';
import { deviceChoices, deviceSurroundings } from '../sound-devices/open-devices.ts';

export async function run(context: ContextOf<'audio'>): Promise<undefined> {
  const [action] = context.args;
  if (action === 'test') return test(context);
  if (action === undefined) return list(context);
  throw new VoicectlError('usage', `audio: expected test, not ${action}`);
}

async function list({ settings, io, json, style, signal }: ContextOf<'audio'>): Promise<undefined> {
  const surroundings = deviceSurroundings(io);
  const options = { clock: systemClock, surroundings, signal };
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
        onMeasuring: () => void note('Measuring the delay, with a chirp'),
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
