import { isDeepStrictEqual } from 'node:util';
import { Document, isScalar, parseDocument, visit } from 'yaml';
import { safeYaml } from '../files/yaml-document.ts';
import { bytesForMs } from '../protocol/audio-format.ts';
import { isSendableCloseCode } from '../protocol/close-codes.ts';
import { defaultDialect } from '../protocol/dialect.ts';
import { isConfirmingText, writeStatus } from '../protocol/messages.ts';
import { parseJson } from '../protocol/parse-json.ts';
import { isServiceText } from './format.ts';
import type { Recording } from './read-recording.ts';
import { replayOrigin } from './replay.ts';
import type { Timeline } from './timeline.ts';

export interface ScenarioOptions {
  /** The name of the WAV of a reply in the scenario, by its number from 1. */
  clipName(number: number): string;
  /** How long after the end of speech the emulator considers the turn ended, in milliseconds. */
  turnEndMs: number;
}

/** What the service did in a recording, as steps that an emulator plays and a person can edit. */
export interface RecordedScenario {
  /** A scenario file, in YAML. */
  text: string;
  /** The replies, as PCM. */
  clips: { name: string; pcm: Buffer }[];
  /** Number of messages that a scenario cannot send because they are not JSON. */
  leftOut: number;
}

interface ScenarioStep {
  when: 'connected' | 'speech-start' | 'speech-end';
  do: object[];
}

/** An action of the service, from `t` to `endMs`. */
interface ServiceDeed {
  t: number;
  endMs: number;
  act: object;
}

/** How every scenario that is made from a recording begins; the second is how earlier versions began it. */
const beginnings = ['# Made from a recording. ', '# Made of a recording. '];
const head = `${beginnings[0]}Edit it: voicectl serve --scenario FILE plays it. The emulator sends its own status messages
# (listening, speaking) around each reply; stream.status.send: false in a dialect turns them off.
`;

/** A shorter pause is left out. */
const shortestWaitMs = 20;

/**
 * Makes a scenario from a recording: each message, reply and close of the service comes after the user's turn that it
 * followed. Throws `bad-input` for a recording without a stream.
 */
export function recordedScenario(
  recording: Recording,
  { turns }: Timeline,
  { clipName, turnEndMs }: ScenarioOptions,
): RecordedScenario {
  const origin = replayOrigin(recording);
  const clips: RecordedScenario['clips'] = [];
  const { deeds, leftOut } = messagesOf(recording, origin);
  for (const { voice, startMs, endMs } of turns) {
    if (voice !== 'in') continue;
    const name = clipName(clips.length + 1);
    clips.push({ name, pcm: recording.audio.in.subarray(bytesForMs(startMs), bytesForMs(endMs)) });
    deeds.push({ t: startMs, endMs, act: { say: name } });
  }
  deeds.sort((a, b) => a.t - b.t);
  const triggers = [
    { when: 'connected' as const, t: origin, spent: 0 },
    ...turns
      .filter(({ voice }) => voice === 'out')
      .flatMap(({ startMs, endMs }) => [
        { when: 'speech-start' as const, t: startMs, spent: 0 },
        { when: 'speech-end' as const, t: endMs, spent: turnEndMs },
      ]),
  ];
  const steps = triggers.map(({ when, t, spent }, index): ScenarioStep => {
    const next = triggers[index + 1]?.t ?? Number.POSITIVE_INFINITY;
    const own = deeds.filter((deed) => deed.t >= t && deed.t < next);
    return { when, do: actionsOf(own, t + spent) };
  });
  const scenario = {
    description: `What the service did in the recording of ${recording.manifest?.startedAt ?? 'unknown time'}`,
    steps: steps.filter((step) => step.do.length > 0 || step.when === 'speech-end'),
  };
  return {
    text: head + safeYaml(new Document(scenario), 0),
    clips,
    leftOut,
  };
}

/** The WAVs that a scenario plays, if it was made from a recording. */
export function clipsOf(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  if (!beginnings.some((beginning) => text.startsWith(beginning))) return names;
  visit(parseDocument(text), {
    Pair(_key, { key, value }) {
      if (isScalar(key) && key.value === 'say' && isScalar(value)) names.add(String(value.value));
    },
  });
  return names;
}

function messagesOf({ wire }: Recording, origin: number): { deeds: ServiceDeed[]; leftOut: number } {
  const deeds: ServiceDeed[] = [];
  let leftOut = 0;
  for (const line of wire) {
    const { t } = line;
    if (t < origin) continue;
    if (line.type === 'close' && line.by === 'service') {
      const { code, reason } = line;
      if (isSendableCloseCode(code)) deeds.push({ t, endMs: t, act: { close: { code, reason } } });
      else deeds.push({ t, endMs: t, act: { fault: 'abnormal-close' } });
      continue;
    }
    if (!isServiceText(line) || isConfirmingText(line.text)) continue;
    const body = parseJson(line.text);
    if (ownStatuses.some((own) => isDeepStrictEqual(own, body))) continue;
    if (body === undefined) leftOut += 1;
    else deeds.push({ t, endMs: t, act: { send: body } });
  }
  return { deeds, leftOut };
}

/** The emulator sends these itself, at the beginning and around each reply. */
const ownStatuses = (['listening', 'speaking'] as const).map((state) =>
  parseJson(writeStatus(defaultDialect(), state)),
);

/** The actions, with the pauses between them. */
function actionsOf(deeds: readonly ServiceDeed[], from: number): object[] {
  let now = from;
  return deeds.flatMap(({ t, endMs, act }) => {
    const waitMs = Math.round(t - now);
    now = Math.max(now, endMs);
    return waitMs >= shortestWaitMs ? [{ wait: `${waitMs}ms` }, act] : [act];
  });
}
