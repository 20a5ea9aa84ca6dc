import { fileURLToPath } from 'node:url';
import type { OptionOf } from '../../config/options.ts';
import type { Host } from '../../devices/backend.ts';
import { createOpener, type DeviceChoice } from '../../devices/backends/open-first.ts';
import { openCapture } from '../../devices/capture.ts';
import { createEchoWatch } from '../../devices/echo-watch.ts';
import type { DeviceSearch } from '../../devices/find-backends.ts';
import { type Microphone, openMicrophone } from '../../devices/microphone.ts';
import type { Notices } from '../../devices/notices.ts';
import { openSpeaker } from '../../devices/playout/open-speaker.ts';
import { openPlayback, type Playback } from '../../devices/playout/playback.ts';
import { executablePlatform } from '../../files/shipped-file.ts';
import { systemClock } from '../../kernel/clock.ts';
import type { VoicectlError } from '../../kernel/errors.ts';
import type { Io } from '../../kernel/io.ts';
import type { CommandContext, ContextOf } from '../command.ts';

type LiveOption = 'soundTimeout' | 'volume' | 'aec' | 'settle';
type DeviceContext = Pick<ContextOf<'audio'>, 'settings' | 'io' | 'signal'>;
type LiveContext = Pick<CommandContext<OptionOf<'audio'> | LiveOption>, 'settings' | 'io' | 'signal'>;

const host: Host = {
  platform: process.platform,
  arch: process.arch,
  isExecutable: executablePlatform() !== undefined,
};

/** How to find sound devices. The device host is built beside this file. */
export function deviceSearch({ env }: Io): DeviceSearch {
  return { host, env, hostFile: fileURLToPath(new URL('./device-host.js', import.meta.url)) };
}

/** The microphone and the loudspeaker that the flags name. */
export function deviceChoices({
  settings,
  io,
  signal,
}: DeviceContext): Record<'capture' | 'playback', DeviceChoice> {
  const { inputDevice, outputDevice, audioBackend: backend } = settings;
  const common = { backend, clock: systemClock, search: deviceSearch(io), signal };
  return {
    capture: { ...common, role: 'capture', device: inputDevice },
    playback: { ...common, role: 'playback', device: outputDevice },
  };
}

/** Opens the devices of the flags in parallel. Throws `audio-device`, and then closes both. */
export async function openDevices(
  context: LiveContext,
  { microphone, playback, notices }: { microphone: boolean; playback: boolean; notices: Notices },
): Promise<{ microphone: Microphone | undefined; playback: Playback | undefined }> {
  const echo =
    microphone && playback ? await openEchoEnds(context.settings.aec === true, notices) : undefined;
  const [opened, played] = await Promise.allSettled([
    microphone ? openInput(context, notices, echo) : undefined,
    playback ? openOutput(context, { notices, onPlayed: echo?.onPlayed }) : undefined,
  ]);
  if (opened.status === 'fulfilled' && played.status === 'fulfilled') {
    return { microphone: opened.value, playback: played.value };
  }
  const failed = [opened, played].find((one) => one.status === 'rejected');
  const failure = failed?.reason as VoicectlError;
  try {
    if (opened.status === 'fulfilled') await opened.value?.close();
  } finally {
    if (played.status === 'fulfilled') await played.value?.close(failure);
  }
  throw failure;
}

function openInput(context: LiveContext, notices: Notices, echo: EchoEnds | undefined): Promise<Microphone> {
  const { settings, signal } = context;
  const { capture } = deviceChoices(context);
  const onOverrun = (lostMs: number) =>
    notices.emit({
      code: 'overrun',
      message: `${Math.round(lostMs)} ms of microphone audio was dropped: it could not be sent in time`,
    });
  return openMicrophone({
    open: createOpener(capture, (backend, options) =>
      openCapture(backend, { ...capture, ...options, onOverrun }),
    ),
    clock: systemClock,
    notices,
    deviceTimeoutMs: settings.soundTimeout,
    onHeard: echo?.onHeard,
    onDelivered: echo?.onDelivered,
    signal,
  });
}

function openOutput(
  context: LiveContext,
  { notices, onPlayed }: { notices: Notices; onPlayed: EchoEnds['onPlayed'] | undefined },
): Promise<Playback> {
  const { settings, signal } = context;
  const { playback } = deviceChoices(context);
  return openPlayback({
    open: createOpener(playback, (backend, options) => openSpeaker(backend, { ...playback, ...options })),
    clock: systemClock,
    notices,
    volume: settings.volume / 100,
    settleMs: settings.settle,
    onPlayed,
    deviceTimeoutMs: settings.soundTimeout,
    signal,
  });
}

/** What joins a loudspeaker and a microphone that are in one room. */
interface EchoEnds {
  onPlayed(frame: Buffer): void;
  onHeard?(pcm: Buffer): Buffer;
  onDelivered?(pcm: Buffer): void;
}

/** Removes the echo with `--aec`; otherwise reports once that there is one. */
async function openEchoEnds(isRemoved: boolean, notices: Notices): Promise<EchoEnds> {
  if (isRemoved) {
    const { createEchoCanceller } = await import('../../audio/echo-canceller.ts');
    const { played, clean } = await createEchoCanceller();
    return { onPlayed: played, onHeard: clean };
  }
  const { played, heard } = createEchoWatch(notices);
  // A microphone that is muted sends no echo.
  return { onPlayed: played, onDelivered: heard };
}
