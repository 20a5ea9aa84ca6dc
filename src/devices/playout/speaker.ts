import type { Writable } from 'node:stream';
import { createMonoDecoder } from '../../audio/decode.ts';
import { encodeS16le } from '../../audio/encode.ts';
import { createResampler } from '../../audio/resample.ts';
import { wireFormat } from '../../audio/source-format.ts';
import { type Clock, waitUntil } from '../../kernel/clock.ts';
import { bytesForMs, channels, sampleRate } from '../../protocol/audio-format.ts';
import type { Backend } from '../backends/backend.ts';
import { deviceError } from '../device-error.ts';
import { readHostMessages } from '../host/host-protocol.ts';
import type { NativeFormat } from '../host/native-devices.ts';
import type { DeviceProcess } from '../process/device-process.ts';
import { type DeviceOptions, openProcess, whileOpening } from '../process/open-process.ts';
import { createWatchdog } from '../process/watchdog.ts';

/** A loudspeaker that is open. It takes 20 ms at a time, when it wants them. */
export interface Speaker {
  readonly backend: string;
  /** Resolves when the next frame is wanted. Throws `audio-device` when the device is lost. */
  ready(): Promise<void>;
  /** 20 ms of 16 kHz s16le mono. */
  write(frame: Buffer): void;
  /** Rejects with `audio-device` when the device is lost; never resolves. */
  readonly lost: Promise<never>;
  /** Lets it play what it has, and ends it. */
  finish(): Promise<void>;
  /** Ends it at once. */
  stop(): Promise<void>;
}

export const frameMs = 20;
/** Frames that are given to the device ahead of its wants, against delays in this process. */
const leadFrames = 2;
/** And besides in the device's own format: a resampler withholds the end of what it was given, so that the last is not whole. */
const withheldFrames = 1;
/** However much a device takes at once. */
const maxLeadFrames = 20;
/** An idle sound server took 1.8 s to begin; until then only the library's queue takes frames. */
const firstFrameMs = 3_000;
const queueFrames = 10;
const stallMs = 800;
/** What a library and its device still hold when the last frame was given to them. */
const hostedTailMs = 250;

/** Opens a loudspeaker. Throws `audio-device`, with the reason as the message. */
export async function openSpeaker(backend: Backend, options: DeviceOptions): Promise<Speaker> {
  const child = await openProcess(backend, 'playback', options);
  const open = backend.kind === 'native' ? openHosted : openProgram;
  return whileOpening(child, options.signal, () => open(backend.name, child, options.clock));
}

/** The device host says what the device has taken: its own clock sets the pace. */
async function openHosted(backend: string, child: DeviceProcess, clock: Clock): Promise<Speaker> {
  let inFlight = 0;
  let taken = 0;
  let convert = createConverter({ sampleRate, channels });
  let ownLead = leadFrames;
  let lead = ownLead;
  let wake = () => {};
  let open = () => {};
  const { signal, lost, lose } = createLoss(child, () => wake());
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const watchdog = createWatchdog(clock, () => lose('the device takes no audio', { stalled: true }));
  watchdog.expect(firstFrameMs);
  void child.ended.then(watchdog.stop);
  if (child.control === undefined) throw new TypeError('a device host has a control stream');
  readHostMessages(child.control, (message) => {
    if (message.type === 'failed') lose(message.message);
    if (message.type === 'ready') {
      convert = createConverter(message);
      ownLead = isOurs(message) ? leadFrames : leadFrames + withheldFrames;
      lead = ownLead;
      watchdog.expect(firstFrameMs);
    }
    if (message.type !== 'took') return;
    taken += 1;
    watchdog.expect(taken <= queueFrames ? firstFrameMs : stallMs);
    open();
    inFlight -= message.frames;
    lead = Math.min(maxLeadFrames, ownLead - 1 + message.burst);
    wake();
  });
  const took = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  await Promise.race([opened, lost]);
  return {
    backend,
    lost,
    async ready() {
      while (inFlight >= lead && !signal.aborted) await took();
      signal.throwIfAborted();
    },
    write(frame) {
      inFlight += 1;
      (child.pcm as Writable).write(convert(frame));
    },
    async finish() {
      // Pushes out what the converter withholds.
      if (ownLead > leadFrames) (child.pcm as Writable).write(convert(Buffer.alloc(bytesForMs(frameMs))));
      while (inFlight > 0 && !signal.aborted) await took();
      await Promise.race([waitFor(clock, hostedTailMs), child.ended]);
      watchdog.stop();
      await child.stop();
    },
    stop() {
      watchdog.stop();
      return child.stop();
    },
  };
}

/** A program that ends as soon as it cannot play does so within this time. */
const settleMs = 250;
/** More than this beyond what the system holds for a program: it takes nothing. */
const maxStuckBytes = bytesForMs(1_000);
/** So late, the frames are counted from now on: after a pause, or when this process was held up. */
const maxLateMs = 200;
/** A program that goes on playing for longer than this after its input has ended is ended. */
const programTailMs = 1_000;

/** A program takes what it is given, seconds ahead if it is let: the machine's clock sets the pace. */
async function openProgram(backend: string, child: DeviceProcess, clock: Clock): Promise<Speaker> {
  const { signal, lost, lose } = createLoss(child);
  const input = child.pcm as Writable;
  await Promise.race([waitFor(clock, settleMs), lost]);
  let nextAt = Number.NEGATIVE_INFINITY;
  return {
    backend,
    lost,
    async ready() {
      if (input.writableLength > maxStuckBytes) lose('the program takes no audio');
      const now = clock.now();
      if (now - nextAt > maxLateMs) nextAt = now - leadFrames * frameMs;
      signal.throwIfAborted();
      if (now < nextAt) await waitUntil(clock, nextAt, signal);
    },
    write(frame) {
      nextAt += frameMs;
      input.write(frame);
    },
    // At the end of its input it plays the rest, and ends by itself.
    finish: () => child.stop(programTailMs),
    stop: () => child.stop(),
  };
}

/** The loss of a device: a signal for whoever waits again and again, and a promise for whoever waits once. */
function createLoss(child: DeviceProcess, onLost = () => {}) {
  const controller = new AbortController();
  const { signal } = controller;
  const lost = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  // Handled also where nobody waits for it.
  lost.catch(() => {});
  const lose = (why: string, details = {}) => {
    controller.abort(deviceError(why, { details }));
    onLost();
  };
  void child.ended.then((why) => lose(why));
  return { signal, lost, lose };
}

function waitFor(clock: Clock, ms: number): Promise<void> {
  return waitUntil(clock, clock.now() + ms);
}

function isOurs(format: NativeFormat): boolean {
  return format.sampleRate === sampleRate && format.channels === channels;
}

/** From 16 kHz s16le mono to what a device takes. */
function createConverter(format: NativeFormat): (frame: Buffer) => Buffer {
  if (isOurs(format)) return (frame) => frame;
  const decode = createMonoDecoder(wireFormat);
  const resampler = createResampler(sampleRate, format.sampleRate);
  return (frame) => spread(encodeS16le(resampler.push(decode(frame))), format.channels);
}

/** Each sample in every channel. */
function spread(pcm: Buffer, count: number): Buffer {
  const spreadPcm = Buffer.alloc(pcm.length * count);
  for (let sample = 0; sample < pcm.length / 2; sample += 1) {
    const value = pcm.readInt16LE(sample * 2);
    for (let channel = 0; channel < count; channel += 1) {
      spreadPcm.writeInt16LE(value, (sample * count + channel) * 2);
    }
  }
  return spreadPcm;
}
