import * as z from 'zod';
import { duration, type FaultSpec, fault } from './fault-spec.ts';

/** What can go wrong with the AI's audio. */
export const replyAudioFaults = {
  mute: fault({
    at: 'audio',
    summary: 'the audio is not sent, as if the AI were silent',
    parameters: {},
  }),
  drop: fault({ at: 'audio', summary: 'the message is lost; use probability to lose some', parameters: {} }),
  duplicate: fault({ at: 'audio', summary: 'the message comes twice', parameters: {} }),
  'odd-split': fault({
    at: 'audio',
    summary: 'the message is split in the middle of a sample',
    parameters: {},
  }),
  burst: fault({
    at: 'audio',
    summary: 'messages are held and sent together',
    parameters: { every: duration('500ms', 'From one burst to the next') },
  }),
  drip: fault({
    at: 'audio',
    summary: 'audio comes slower than real time',
    parameters: { factor: z.number().gt(0).lt(1).default(0.5).describe('Of real time') },
  }),
  clipped: fault({
    at: 'audio',
    summary: 'the audio is far too loud, and clipped',
    parameters: { gain: z.number().min(1).max(60).default(30).describe('In dB') },
  }),
  silent: fault({ at: 'audio', summary: 'the samples are all zero', parameters: {} }),
  'wrong-rate': fault({
    at: 'audio',
    summary: 'the audio has another sample rate, so that the voice is too high or too low',
    parameters: { rate: z.int().min(4_000).max(96_000).default(24_000).describe('In Hz') },
  }),
  'swapped-bytes': fault({ at: 'audio', summary: 'the samples are big-endian', parameters: {} }),
} as const satisfies Record<string, FaultSpec>;
