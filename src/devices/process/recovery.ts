import { type Clock, waitUntil } from '../../kernel/clock.ts';
import { toVoicectlError, VoicectlError } from '../../kernel/errors.ts';
import type { Notices } from '../notices.ts';

export interface RecoveryOptions<Device> {
  what: 'microphone' | 'loudspeaker';
  open: (signal: AbortSignal) => Promise<Device>;
  clock: Clock;
  notices: Notices;
  /** How long a lost device may stay away. 0: the session ends. */
  deviceTimeoutMs: number;
  /** Ends the opening, and the wait for a lost device. */
  signal: AbortSignal;
}

/**
 * Opens a lost device again: a missing one within the time that the user allows, a stalled one a few times in any case.
 * Throws `audio-device` and the signal's reason.
 */
export type Recover<Device> = (lost: Device, loss: VoicectlError) => Promise<Device>;

/** For how long to try to reopen a stalled device: idle sound servers take 2 s to start. */
const restartMs = 3_000;
/** A stalled device is restarted at most this often within this time: some libraries need several attempts. */
const restarts = 3;
const restartsMs = 30_000;

export function createRecovery<Device extends { stop(): Promise<void> }>({
  what,
  open,
  clock,
  notices,
  deviceTimeoutMs,
  signal,
}: RecoveryOptions<Device>): Recover<Device> {
  let restartedAt: number[] = [];
  return async (lost, loss) => {
    const isStall = loss.details.stalled === true;
    restartedAt = restartedAt.filter((at) => clock.now() - at < restartsMs);
    const mayRestart = isStall && restartedAt.length < restarts;
    const message = `The ${what} was lost: ${loss.message}`;
    if (deviceTimeoutMs === 0 && !mayRestart) throw gone(message, loss);
    if (deviceTimeoutMs > 0) {
      notices.emit({
        code: 'device-lost',
        message,
        hint: `Waiting up to ${seconds(deviceTimeoutMs)} for it.`,
      });
    }
    await lost.stop();
    const device = await reopen(open, {
      clock,
      timeoutMs: deviceTimeoutMs || restartMs,
      signal,
      loss: new VoicectlError('audio-device', message, { cause: loss }),
    }).catch((thrown) => {
      signal.throwIfAborted();
      if (deviceTimeoutMs === 0) throw gone(message, thrown);
      const { message: why } = toVoicectlError(thrown);
      throw notBack(what, { deviceTimeoutMs, why: why === message ? loss.message : why, cause: thrown });
    });
    if (signal.aborted) {
      await device.stop();
      throw signal.reason;
    }
    restartedAt.push(clock.now());
    notices.emit({
      code: 'device-returned',
      message: isStall ? `The ${what} stalled and was opened again` : `The ${what} is back`,
    });
    return device;
  };
}

function gone(message: string, cause: unknown): VoicectlError {
  const hint = 'Is the sound server still running? --sound-timeout 10s waits for it to come back.';
  return new VoicectlError('audio-device', message, { hint, cause });
}

function notBack(
  what: string,
  { deviceTimeoutMs, why, cause }: { deviceTimeoutMs: number; why: string; cause: unknown },
): VoicectlError {
  const message = `The ${what} was lost and did not come back within ${seconds(deviceTimeoutMs)}: ${why}`;
  const hint = 'Start the sound server or plug the sound device in. A longer --sound-timeout waits longer.';
  return new VoicectlError('audio-device', message, { hint, cause });
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}

const retryEveryMs = 500;

interface ReopenOptions {
  clock: Clock;
  /** How long the device may be away. */
  timeoutMs: number;
  signal: AbortSignal;
  /** How the device was lost. */
  loss: VoicectlError;
}

/**
 * Opens a lost device as soon as it is back. If it does not come back in time, throws the last failure, or the loss. A device
 * that opens too late is closed.
 */
async function reopen<Device extends { stop(): Promise<void> }>(
  open: (signal: AbortSignal) => Promise<Device>,
  { clock, timeoutMs, signal, loss }: ReopenOptions,
): Promise<Device> {
  const giveUpAt = clock.now() + timeoutMs;
  const done = new AbortController();
  const until = AbortSignal.any([signal, done.signal]);
  let failure = loss;
  const attempt = async () => {
    for (;;) {
      try {
        const device = await open(until);
        if (!until.aborted) return device;
        await device.stop();
      } catch (thrown) {
        failure = toVoicectlError(thrown);
      }
      if (clock.now() + retryEveryMs > giveUpAt) throw failure;
      await waitUntil(clock, clock.now() + retryEveryMs, until);
    }
  };
  const tooLate = waitUntil(clock, giveUpAt, until).then(() => {
    throw failure;
  });
  try {
    return await Promise.race([attempt(), tooLate]);
  } finally {
    done.abort();
    tooLate.catch(() => {});
  }
}
