import { secondsText } from '../../../protocol/time-text.ts';
import { audioAsText } from '../../../rules/device/audio.ts';
import { type Finding, warn } from '../../../rules/rule.ts';
import { audioOf, confirmationOf, type SeenStream } from '../../../rules/stream-seen.ts';
import { judgeBy, judgeGoingOn } from '../judging.ts';
import { isOpen, isPast, isStreaming, sentMs, streamsConfirmed } from '../moments.ts';
import type { DrillView, Service, Situation, StepAction } from '../situation.ts';

const usual = { ms: 30_000 };

/** What a device sends: D4 and D5. */
export const sendingSituations: readonly Situation[] = [
  {
    id: 'D4',
    title: 'no audio before a late confirmation',
    service: { faults: [{ name: 'connected-late', delay: 1_500 }] },
    until: (view) => streamsConfirmed(view).some((one) => sentMs(one) > 0 || isQuiet(view)),
    longest: usual,
    judge: judgeBy('D4'),
  },
  {
    id: 'D5',
    title: 'ten seconds of audio, raw and in real time',
    until: (view) => streamsConfirmed(view).some((one) => spanMs(one) >= 10_000),
    longest: usual,
    judge: judgeTenSeconds,
  },
];

/** Whether the newest stream has been confirmed for a while. */
function isQuiet(view: DrillView): boolean {
  const stream = streamsConfirmed(view).at(-1);
  return stream !== undefined && view.now - (confirmationOf(stream)?.at ?? view.now) > 3_000;
}

/** A device without a user, or with its microphone off, may be silent. */
function judgeTenSeconds(view: DrillView): Finding {
  const streams = streamsConfirmed(view);
  const [first] = streams;
  const speaks = (stream: SeenStream) => sentMs(stream) > 0 || audioAsText(stream) !== undefined;
  if (first === undefined || streams.some(speaks)) return judgeBy('D5')(view);
  const since = confirmationOf(first)?.at ?? view.now;
  return warn(`no audio in ${secondsText(view.now - since, 1)}`, first);
}

function spanMs(stream: Parameters<typeof audioOf>[0]): number {
  const audio = audioOf(stream, 'device');
  return (audio.at(-1)?.at ?? 0) - (audio[0]?.at ?? 0);
}

/** Something strange that a device tolerates: it happens once the device streams, and the device must continue. */
function tolerating(
  id: string,
  title: string,
  {
    action,
    what,
    watchMs = 1_500,
    service,
  }: { action: StepAction; what: string; watchMs?: number; service?: Service },
): Situation {
  return {
    id,
    title,
    ...(service === undefined ? {} : { service }),
    steps: [{ when: isStreaming, do: action }],
    until: (view) => isPast(view, watchMs) || (view.done.length > 0 && !streamsConfirmed(view).some(isOpen)),
    longest: usual,
    judge: (view) => judgeGoingOn(view, what),
  };
}

/** The confirmation has unknown fields too: a device that ends the stream because of them never streams. */
function toleratingFields(whole: Situation): Situation {
  const refused = (view: DrillView) => {
    const [first] = streamsConfirmed(view);
    if (view.done.length > 0 || first === undefined || isOpen(first)) return undefined;
    return judgeGoingOn(view, 'a confirmation with unknown fields', confirmationOf(first)?.at);
  };
  return {
    ...whole,
    until: (view) => whole.until(view) || refused(view) !== undefined,
    judge: (view) => refused(view) ?? whole.judge(view),
  };
}

/** What the specification does not rule out: D11. */
export const strangeSituations: readonly Situation[] = [
  tolerating('D11-kind', 'a message of an unknown kind', {
    action: { fault: { name: 'message-unknown', times: 1 } },
    what: 'a message of an unknown kind',
  }),
  toleratingFields(
    tolerating('D11-fields', 'messages with unknown fields', {
      action: { status: 'listening' },
      what: 'messages with unknown fields',
      service: {
        dialect: {
          stream: {
            connected: { fields: { session: { id: 7, tags: [null, true] }, greeting: 'Grüße 你好' } },
            status: { fields: { confidence: 0.5, nested: { more: [] } } },
          },
        },
      },
    }),
  ),
  tolerating('D11-odd', 'audio messages that end in the middle of a sample', {
    action: { audio: [641, 1, 639, 3] },
    what: 'audio messages of unusual sizes',
  }),
  tolerating('D11-huge', 'an audio message of 512 KiB', {
    action: { audio: [512 * 1024] },
    what: 'a huge message',
  }),
  tolerating('D11-tiny', 'audio messages of one and two bytes', {
    action: { audio: [2, 1, 1, 2, 2] },
    what: 'tiny messages',
  }),
  tolerating('D11-empty', 'an empty audio message', { action: { audio: [0, 0] }, what: 'an empty message' }),
];

const replyMs = 4_000;

/** Audio that does not arrive as it should: D12, and the stall of D10. */
export const unevenSituations: readonly Situation[] = [
  tolerating('D12-burst', 'the reply arrives in bursts', {
    action: { sayMs: replyMs },
    what: 'a reply in bursts',
    watchMs: replyMs,
    service: { faults: [{ name: 'burst', every: 1_000 }] },
  }),
  tolerating('D12-drip', 'the reply arrives slower than real time', {
    action: { sayMs: replyMs },
    what: 'a reply at half speed',
    watchMs: replyMs,
    service: { faults: [{ name: 'drip', factor: 0.5 }] },
  }),
  tolerating('D12-long', 'a long reply', {
    action: { sayMs: 10_000 },
    what: 'a long reply',
    watchMs: replyMs,
  }),
];

/** How long the service is stuck, and how long the device is watched from then on. */
const stallMs = 3_000;

export const stallSituation: Situation = {
  id: 'D10-stall',
  title: 'the service stalls for three seconds',
  steps: [{ when: isStreaming, do: { fault: { name: 'stall', for: stallMs, times: 1 } } }],
  until: (view) => isPast(view, stallMs + 1_000),
  longest: usual,
  judge(view: DrillView) {
    const isElsewhere = streamsConfirmed(view).length > 1;
    return isElsewhere ? judgeBy('D3')(view) : judgeGoingOn(view, 'a stall of three seconds');
  },
};
