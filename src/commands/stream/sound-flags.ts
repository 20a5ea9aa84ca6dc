import { flagOf } from '../../config/options.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { ContextOf } from '../command.ts';

/** Which sound devices each flag is about. */
const soundFlags = {
  aec: 'both',
  inputDevice: 'microphone',
  outputDevice: 'loudspeaker',
  volume: 'loudspeaker',
  bargeIn: 'loudspeaker',
  audioBackend: 'either',
  soundTimeout: 'either',
} as const;

const needs = {
  both: ['a microphone and a loudspeaker', 'Use it with --mic, and without --no-play.'],
  microphone: ['a microphone', 'Use it with --mic.'],
  loudspeaker: ['a loudspeaker', 'Use it with --play, or with --mic and without --no-play.'],
  either: ['a microphone or a loudspeaker', 'Use it with --mic or --play.'],
} as const;

type Given = Pick<ContextOf<'stream'>, 'settings' | 'origin'>;

/** Whether to play the AI audio. Default: yes with a microphone. Several sessions have no loudspeaker. */
export function isPlayed({ settings, origin }: Given): boolean {
  const { mic, play, repeat, warmup } = settings;
  const isForOthers = play === true && origin('play') !== 'flag' && repeat + warmup > 1;
  return isForOthers ? false : (play ?? mic ?? false);
}

/** Throws `usage` for a flag of a sound device that this session does not use; a config file may hold it for others. */
export function checkSoundFlags({ settings, origin }: Given): void {
  const microphone = settings.mic === true;
  const loudspeaker = isPlayed({ settings, origin });
  const has = {
    ...{ microphone, loudspeaker },
    both: microphone && loudspeaker,
    either: microphone || loudspeaker,
  };
  for (const name of Object.keys(soundFlags) as (keyof typeof soundFlags)[]) {
    const which = soundFlags[name];
    if (origin(name) !== 'flag' || has[which]) continue;
    const [what, hint] = needs[which];
    throw new VoicectlError('usage', `${flagOf(name)} needs ${what}`, { hint });
  }
}
