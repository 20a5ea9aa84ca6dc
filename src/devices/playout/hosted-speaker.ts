import type { Writable } from 'node:stream';
import { createMonoDecoder } from '../../audio/decode.ts';
import { encodeS16le } from '../../audio/encode.ts';
import { createResampler } from '../../audio/resample.ts';
import { wireFormat } from '../../audio/source.ts';
import { type Clock, waitUntil } from '../../kernel/clock.ts';
import { createDeferred } from '../../kernel/promises.ts';
import { bytesForMs, channels, sampleRate } from '../../protocol/audio-format.ts';
import type { NativeBackend } from '../backend.ts';
import { readHostMessages } from '../host/host-protocol.ts';
import type { NativeFormat } from '../host/native-devices.ts';
import type { DeviceProcess } from '../process/device-process.ts';
import { createWatchdog } from '../process/watchdog.ts';
import { createLoss, type Speaker, speakerFrameMs } from './speaker.ts';

/** Frames that are sent ahead of the device's need, to bridge delays in this process. */
const leadFrames = 2;
/** One more for another format: the resampler holds back the end of its input, so the last frame is incomplete. */
const withheldFrames = 1;
/** The limit, even if a device takes more at once. */
const maxLeadFrames = 20;
/**
 * An idle sound server sleeps for up to 2 s. Meanwhile only the queues before it take frames, about 30 or none. So the
 * timeout is longer in the first seconds of a device, and then `stallMs`.
 */
const startingMs = 3_000;
const stallMs = 800;
/** How much audio a library and its device still hold after the last frame. */
const hostedTailMs = 250;
/** If a device takes its next frame later than this, it was audibly held up. */
const heldUpMs = 60;

/** A speaker in the device host, which reports what the device has taken: the device's clock sets the pace. */
export async function openHosted(
  backend: NativeBackend,
  child: DeviceProcess,
  clock: Clock,
): Promise<Speaker> {
  let inFlight = 0;
  /** When the device took its first frame. */
  let startedAt: number | undefined;
  let holes = 0;
  /** When the device took its last frame, and whether it was audio or silence. */
  let last = { at: Number.POSITIVE_INFINITY, isAudio: false };
  let silenceAt = Number.NEGATIVE_INFINITY;
  let convert = createConverter({ sampleRate, channels });
  let ownLead = leadFrames;
  let lead = ownLead;
  let wake = () => {};
  const opened = createDeferred();
  const { signal, lost, lose } = createLoss(child, () => wake());
  const watchdog = createWatchdog(clock, () => lose('the device accepts no audio', { stalled: true }));
  watchdog.expect(startingMs);
  void child.ended.then(watchdog.stop);
  const { control } = child;
  if (control === undefined) throw new TypeError('a device host has a control stream');
  const accepted = (frames: number, burst: number, now: number) => {
    const isHeldUp = last.isAudio && now - last.at > burst * speakerFrameMs + heldUpMs;
    if (isHeldUp) holes += 1;
    if (frames === 0 && last.isAudio) silenceAt = now;
    last = { at: now, isAudio: frames > 0 };
  };
  readHostMessages(control, (message) => {
    // Libraries also close a stream that was merely held up.
    if (message.type === 'failed') lose(message.message, { stalled: startedAt !== undefined });
    if (message.type === 'ready') {
      convert = createConverter(message);
      ownLead = isWireFormat(message) ? leadFrames : leadFrames + withheldFrames;
      lead = ownLead;
    }
    if (message.type === 'started' || message.type === 'ready') watchdog.expect(startingMs);
    if (message.type !== 'took') return;
    const now = clock.now();
    startedAt ??= now;
    watchdog.expect(now - startedAt < startingMs ? startingMs : stallMs);
    opened.resolve();
    accepted(message.frames, message.burst, now);
    inFlight = Math.max(0, inFlight - message.frames);
    lead = Math.min(maxLeadFrames, ownLead - 1 + message.burst);
    wake();
  });
  const took = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  await Promise.race([opened.promise, lost]);
  return {
    backend: backend.name,
    lost,
    get delayMs() {
      return (inFlight - leadFrames) * speakerFrameMs + backend.playbackMs;
    },
    get holes() {
      return holes;
    },
    async ready() {
      while (inFlight >= lead && !signal.aborted) await took();
      signal.throwIfAborted();
    },
    write(frame) {
      // The device took silence in the middle of the audio.
      if (clock.now() - silenceAt < heldUpMs) holes += 1;
      silenceAt = Number.NEGATIVE_INFINITY;
      inFlight += 1;
      (child.pcm as Writable).write(convert(frame));
    },
    drainLateMs: () => 0,
    async finish() {
      // Flushes the converter.
      if (ownLead > leadFrames)
        (child.pcm as Writable).write(convert(Buffer.alloc(bytesForMs(speakerFrameMs))));
      while (inFlight > 0 && !signal.aborted) await took();
      await Promise.race([waitUntil(clock, clock.now() + hostedTailMs), child.ended]);
      watchdog.stop();
      await child.stop();
    },
    stop() {
      watchdog.stop();
      return child.kill();
    },
  };
}

/** Whether a device takes the format of the service. */
function isWireFormat(format: NativeFormat): boolean {
  return format.sampleRate === sampleRate && format.channels === channels;
}

/** Converts 16 kHz s16le mono to the format of a device. */
function createConverter(format: NativeFormat): (frame: Buffer) => Buffer {
  if (isWireFormat(format)) return (frame) => frame;
  const decode = createMonoDecoder(wireFormat);
  const resampler = createResampler(sampleRate, format.sampleRate);
  return (frame) => spread(encodeS16le(resampler.push(decode(frame))), format.channels);
}

/** Copies each sample to all channels. */
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
