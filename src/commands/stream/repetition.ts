import type { AudioSource } from '../../audio/source.ts';
import type { Settings } from '../../config/options.ts';
import { VoicectlError } from '../../kernel/errors.ts';

/** Throws `usage` if several sessions are requested with a source or file for only one. */
export function requireRepeatable(
  settings: Settings<'repeat' | 'warmup' | 'out' | 'play' | 'record' | 'recordBoth' | 'tokenFrom'>,
  source: AudioSource | undefined,
): void {
  const { repeat, warmup, tokenFrom } = settings;
  if (repeat + warmup === 1) return;
  const flag = repeat > 1 ? '--repeat' : '--warmup';
  if (!source?.repeatable) {
    throw new VoicectlError('usage', `${flag} needs a file that can be read again; this source cannot`);
  }
  const kept = [
    settings.out !== undefined && '--out',
    settings.record !== undefined && '--record',
    settings.recordBoth !== undefined && '--record-both',
    settings.play && '--play',
  ].find((flag) => typeof flag === 'string');
  if (kept !== undefined) {
    throw new VoicectlError('usage', `${kept} is for one session, but ${flag} runs several`);
  }
  if (tokenFrom !== undefined) {
    throw new VoicectlError('usage', `A token opens one session, but ${flag} needs several`);
  }
}
