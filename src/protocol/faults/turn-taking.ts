import { duration, type FaultSpec, fault } from '../fault-spec.ts';

/** What can go wrong between two who speak: who stops, who waits, and who begins. */
export const turnTakingFaults = {
  'false-interruption': fault({
    at: 'reply',
    summary: 'the reply stops at any sound of the user, a cough included, and is not finished',
    parameters: {},
  }),
  'slow-yield': fault({
    at: 'reply',
    summary: 'the reply goes on for a while after an interruption',
    parameters: { by: duration('700ms', 'How much later it stops') },
    notByProxy: 'it would have to say what the service did not send',
  }),
  'never-yields': fault({
    at: 'reply',
    summary: 'the reply goes on to its end, whatever the user says',
    parameters: {},
    notByProxy: 'it would have to say what the service did not send',
  }),
  'reply-lost': fault({
    at: 'reply',
    summary:
      'the reply does not come if a short sound of the user came after the turn: under stream.shortestTurnMs, or under a second and 700 ms later',
    parameters: {},
  }),
  'early-reply': fault({
    at: 'turn',
    summary: 'the AI takes the turn for over while the user still speaks',
    parameters: {
      by: duration('400ms', 'How long before the end of a turn that is as long as the one before'),
      after: duration('1s', 'How long after the start of the first turn of a stream'),
    },
    notByProxy: 'only the service decides when a turn is over',
  }),
  'answers-noise': fault({
    at: 'sound',
    summary: 'the AI answers a sound that is no turn: it says its last reply again',
    parameters: { delay: duration('1s', 'How long after the sound') },
    notByProxy: 'it would have to say what the service did not send',
  }),
} as const satisfies Record<string, FaultSpec>;
