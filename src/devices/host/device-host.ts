import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { systemClock } from '../../kernel/clock.ts';
import { messageOf } from '../../kernel/errors.ts';
import { createBurstMeter } from './burst-meter.ts';
import { type HostMessage, type HostTask, writeHostMessage } from './host-protocol.ts';
import { openDecibri } from './native-decibri.ts';
import type { NativeDevices } from './native-devices.ts';
import { openNaudiodon } from './native-naudiodon.ts';

/**
 * The device host: a child process that loads native audio. If native code prints, blocks or crashes, voicectl is not
 * affected. PCM is on descriptor 3, control lines are on 4. When 4 closes, voicectl has ended.
 */

/** Maximum PCM that waits for the parent: about two seconds. Beyond it frames are dropped, and that is reported. */
const maxWaitingBytes = 64 * 1024;
/** How long the device may take to stop. After that the process is killed. */
const stopMs = 200;

const control = new Socket({ fd: 4, readable: true, writable: true });
const send = (message: HostMessage) => void control.write(writeHostMessage(message));

const [argument = '{}'] = process.argv.slice(2);
const task = JSON.parse(argument) as HostTask;
let stop = () => Promise.resolve();
control.on('error', end).on('end', end).on('close', end).resume();
process.on('SIGTERM', end);
send({ type: 'started' });

try {
  await perform(task);
} catch (thrown) {
  // A library that is not built lists every place where it looked, each on a line.
  const [first = ''] = messageOf(thrown).split('\n');
  send({ type: 'failed', message: first.replace(/ Tried:$/, '') });
  control.end();
}

async function perform({ library, act, device }: HostTask): Promise<void> {
  const require = createRequire(import.meta.url);
  const devices: NativeDevices = library === 'naudiodon' ? openNaudiodon(require) : openDecibri(require);
  if (act === 'list') {
    send({ type: 'devices', devices: devices.list() });
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
      if (out.writableLength > maxWaitingBytes) send({ type: 'overrun', frames: 1 });
      else out.write(pcm);
    },
    onOverrun: (frames) => send({ type: 'overrun', frames }),
    onFailure: fail,
  });
  stop = input.stop;
  send({ type: 'ready', ...input.format });
}

/** Feeds the device without a pause: frames from the parent, or silence if there are none. */
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
  send({ type: 'ready', ...output.format });
  const bursts = createBurstMeter();
  try {
    for (;;) {
      const isOurs = waiting.length >= frameBytes;
      const frame = isOurs ? waiting.subarray(0, frameBytes) : silence;
      if (isOurs) waiting = waiting.subarray(frameBytes);
      await output.write(frame);
      send({ type: 'took', frames: isOurs ? 1 : 0, burst: bursts.accepted(systemClock.now()) });
    }
  } catch (thrown) {
    fail(thrown as Error);
  }
}

function fail({ message }: Error): void {
  send({ type: 'failed', message });
  control.end();
}

function end(): void {
  void stop().catch(() => {});
  // Not process.exit: it waits for native code, which may wait forever for a sound server.
  systemClock.after(stopMs, () => process.kill(process.pid, 'SIGKILL'));
}
