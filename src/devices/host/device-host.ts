import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { systemClock } from '../../kernel/clock.ts';
import { messageOf } from '../../kernel/thrown.ts';
import { type HostMessage, type HostTask, writeHostMessage } from './host-protocol.ts';
import { openDecibri } from './native-decibri.ts';
import type { NativeDevices } from './native-devices.ts';
import { openNaudiodon } from './native-naudiodon.ts';

/**
 * The device host: a child process that loads native audio. If native code prints, blocks or crashes, voicectl is not
 * affected. PCM is on descriptor 3, control lines on 4. When 4 closes, voicectl has ended.
 */

/** Most PCM that waits for the parent, about two seconds. Beyond it frames are dropped and reported. */
const maxWaitingBytes = 64 * 1024;
/** How long the device may take to stop. After that the process is killed. */
const stopMs = 200;

const control = new Socket({ fd: 4, readable: true, writable: true });
const tell = (message: HostMessage) => void control.write(writeHostMessage(message));

const [argument = '{}'] = process.argv.slice(2);
const task = JSON.parse(argument) as HostTask;
let stop = () => Promise.resolve();
control.on('error', end).on('end', end).on('close', end).resume();
process.on('SIGTERM', end);
tell({ type: 'started' });

try {
  await perform(task);
} catch (thrown) {
  tell({ type: 'failed', message: messageOf(thrown) });
  control.end();
}

async function perform({ library, act, device }: HostTask): Promise<void> {
  const require = createRequire(import.meta.url);
  const devices: NativeDevices = library === 'naudiodon' ? openNaudiodon(require) : openDecibri(require);
  if (act === 'list') {
    tell({ type: 'devices', devices: devices.list() });
    control.end();
    return;
  }
  if (act === 'capture') await capture(devices, device);
  else await play(devices, device);
}

async function capture(devices: NativeDevices, device: number | undefined): Promise<void> {
  const out = new Socket({ fd: 3, readable: false, writable: true });
  out.on('error', end);
  const input = await devices.openInput(device, {
    onPcm(pcm) {
      if (out.writableLength > maxWaitingBytes) tell({ type: 'overrun', frames: 1 });
      else out.write(pcm);
    },
    onOverrun: (frames) => tell({ type: 'overrun', frames }),
    onFailure: fail,
  });
  stop = input.stop;
  tell({ type: 'ready', ...input.format });
}

/** Feeds the device without a pause: frames of the parent, or silence if there are none. */
async function play(devices: NativeDevices, device: number | undefined): Promise<void> {
  const incoming = new Socket({ fd: 3, readable: true, writable: false });
  const output = await devices.openOutput(device);
  stop = output.stop;
  const frameBytes = output.frameBytes;
  const silence = Buffer.alloc(frameBytes);
  let waiting = Buffer.alloc(0);
  incoming.on('error', end).on('data', (pcm: Buffer) => {
    waiting = Buffer.concat([waiting, pcm]);
  });
  tell({ type: 'ready', ...output.format });
  const bursts = createBurstMeter();
  try {
    for (;;) {
      const isOurs = waiting.length >= frameBytes;
      const frame = isOurs ? waiting.subarray(0, frameBytes) : silence;
      if (isOurs) waiting = waiting.subarray(frameBytes);
      await output.write(frame);
      tell({ type: 'took', frames: isOurs ? 1 : 0, burst: bursts.note(systemClock.now()) });
    }
  } catch (thrown) {
    fail(thrown as Error);
  }
}

function fail({ message }: Error): void {
  tell({ type: 'failed', message });
  control.end();
}

function end(): void {
  void stop().catch(() => {});
  // Not process.exit: it waits for native code, which may wait for a sound server forever.
  systemClock.after(stopMs, () => process.kill(process.pid, 'SIGKILL'));
}

/** Measures how many frames a device takes at once: some take one every 20 ms, others ten every 200. */
interface BurstMeter {
  /** The device took a frame. Returns how many it usually takes at once. */
  note(now: number): number;
}

/** Frames that the device takes within this time belong to one burst. */
const sameBurstMs = 5;
/** So many of the last bursts count, without the largest: a device that was held up catches up. */
const remembered = 10;
const exceptions = 2;
const frameMs = 20;

export function createBurstMeter(): BurstMeter {
  let bursts: number[] = [];
  let lastAt = Number.NEGATIVE_INFINITY;
  let startedAt = Number.NEGATIVE_INFINITY;
  /** Of the burst that goes on. Undefined during the first: it only fills the library's queue. */
  let count: number | undefined;
  let usual = 1;
  return {
    note(now) {
      const isSameBurst = now - lastAt < sameBurstMs;
      const isFirst = lastAt === Number.NEGATIVE_INFINITY;
      lastAt = now;
      if (isFirst) return usual;
      if (isSameBurst) {
        if (count !== undefined) count += 1;
        return usual;
      }
      if (count !== undefined) {
        // If it took more than it has played since, it was held up and catches up.
        const played = Math.max(1, Math.round((now - startedAt) / frameMs));
        bursts = [...bursts.slice(1 - remembered), Math.min(count, played)];
      }
      count = 1;
      startedAt = now;
      usual = [...bursts].sort((one, other) => other - one)[exceptions] ?? 1;
      return usual;
    },
  };
}
