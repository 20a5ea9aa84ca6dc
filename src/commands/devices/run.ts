import { deviceOptions } from '../../config/options.ts';
import { type CommandContext, defineCommand } from '../command.ts';

type DevicesContext = CommandContext<(typeof deviceOptions)[number]>;

export const devicesCommand = defineCommand({
  name: 'devices',
  summary: 'list audio inputs and outputs, or test them',
  args: [
    ['[action]', 'test: record two seconds, play them back, and measure the delay from output to input'],
  ],
  options: deviceOptions,
  examples: ['voicectl devices', 'voicectl devices --json', 'voicectl devices test --input-device headset'],
  async run(context) {
    const [action] = context.args;
    if (action === 'test') return test(context);
    if (action === undefined) return list(context);
    const { VoicectlError } = await import('../../kernel/errors.ts');
    throw new VoicectlError('usage', `devices: expected test, not ${action}`);
  },
});

async function list({ settings, io, json, style, signal }: DevicesContext): Promise<undefined> {
  const { listFirst } = await import('../../devices/backends/list-devices.ts');
  const { deviceSurroundings } = await import('../sound-devices/open-devices.ts');
  const { systemClock } = await import('../../kernel/clock.ts');
  const { deviceLines } = await import('../../report/device-lines.ts');
  const { jsonLines } = await import('../../kernel/escape.ts');
  const { version } = await import('../../kernel/version.ts');

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

async function test(context: DevicesContext): Promise<undefined> {
  const { io, json, signal, note } = context;
  const { openCapture } = await import('../../devices/capture.ts');
  const { systemClock } = await import('../../kernel/clock.ts');
  const { testLoop } = await import('../../devices/loop-test.ts');
  const { openFirst } = await import('../../devices/backends/open-first.ts');
  const { openSpeaker } = await import('../../devices/playout/speaker.ts');
  const { deviceChoices } = await import('../sound-devices/open-devices.ts');
  const { loopLines } = await import('../../report/device-lines.ts');
  const { jsonLines } = await import('../../kernel/escape.ts');
  const { version } = await import('../../kernel/version.ts');

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
