import { flagOf } from '../../config/options.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { ContextOf } from '../command.ts';

const soundFlags = {
  aec: 'a microphone and a loudspeaker',
  inputDevice: 'a microphone',
  outputDevice: 'a loudspeaker',
  volume: 'a loudspeaker',
  bargeIn: 'a loudspeaker',
  audioBackend: 'a microphone or a loudspeaker',
  soundTimeout: 'a microphone or a loudspeaker',
} as const;

const hints = {
  'a microphone and a loudspeaker': 'Use it with --mic, and without --no-play.',
  'a microphone': 'Use it with --mic.',
  'a loudspeaker': 'Use it with --play, or with --mic and without --no-play.',
  'a microphone or a loudspeaker': 'Use it with --mic or --play.',
} as const;

/** Whether to play the AI audio. Default: yes with a microphone. */
export function isPlayed({ mic, play }: ContextOf<'stream'>['settings']): boolean {
  return play ?? mic ?? false;
}

/** Throws `usage` for a flag of a sound device that this session does not use; a config file may hold it for others. */
export function checkSoundFlags({ settings, origin }: ContextOf<'stream'>): void {
  const isRecorded = settings.mic === true;
  const played = isPlayed(settings);
  const has = {
    'a microphone and a loudspeaker': isRecorded && played,
    'a microphone': isRecorded,
    'a loudspeaker': played,
    'a microphone or a loudspeaker': isRecorded || played,
  };
  for (const name of Object.keys(soundFlags) as (keyof typeof soundFlags)[]) {
    const needed = soundFlags[name];
    if (origin(name) !== 'flag' || has[needed]) continue;
    throw new VoicectlError('usage', `${flagOf(name)} needs ${needed}`, { hint: hints[needed] });
  }
}
