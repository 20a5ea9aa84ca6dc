import { VoicectlError } from '../../kernel/errors.ts';
import type { Drilled, SituationOptions } from './run-situation.ts';

type Absent = Pick<SituationOptions, 'start' | 'deviceTimeoutMs'>;

/** Nobody connected at all. */
export function noDeviceCame(
  { finding, output }: Drilled,
  { start, deviceTimeoutMs }: Absent,
): VoicectlError {
  if (start === undefined)
    return new VoicectlError('timed-out', `No device connected within ${deviceTimeoutMs / 1000} s`, {
      hint: 'Point the device to the addresses above, or wait longer with --device-timeout.',
    });
  const last = output.slice(-3).join(' · ');
  const why = finding.message.replace('it did not', 'The device did not');
  const within = finding.message.includes(':') ? '' : ` within ${deviceTimeoutMs / 1000} s`;
  const hint =
    last === ''
      ? 'The command finds the addresses in VOICECTL_BASE_URL and VOICECTL_WS_URL.'
      : `It printed: ${last}`;
  return new VoicectlError('timed-out', `${why}${within}`, { hint });
}

/** It came before, and does not come any more. */
export function lostDevice({ deviceTimeoutMs }: Absent): VoicectlError {
  return new VoicectlError('timed-out', `The device did not come back within ${deviceTimeoutMs / 1000} s`, {
    hint: 'Start it again and run the situations that are left with --situation.',
  });
}
