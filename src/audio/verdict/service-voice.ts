import type { Level } from '../level.ts';
import { createSentSpeech } from '../sent-speech.ts';
import type { FoundInVoice, VoiceJudgement } from './found-sounds.ts';
import type { VoiceMeasures } from './listener.ts';
import { VoiceCheck } from './voice-check.ts';

/** What was found in the AI's audio. */
export interface VoiceSummary extends VoiceMeasures {
  /** Kinds, as `serve` and `proxy` name them for a device. */
  findings: string[];
  /** The same in words. */
  remarks: string[];
  /** The same with moments, figures and advice; `is` tells what is certain. */
  judgements: VoiceJudgement[];
  /** Why the voice was not judged, or not wholly; null if it was. */
  unjudged: string | null;
}

/** Judges the voice of the service while a session runs. */
export interface ServiceVoice {
  /** Takes what the user says: a reply that is arriving when that begins may end anywhere. */
  sent(pcm: Buffer, level: Level, at: number): void;
  received(pcm: Buffer, level: Level, at: number): void;
  /** The service drops what was not heard yet; the reply may end anywhere. */
  interrupted(at: number): void;
  /** The stream has ended. */
  end(at: number): void;
  summary(): VoiceSummary;
}

/** Sent frames that are remembered, to recognise a service that echoes them: half a minute. */
const maxRemembered = 1_500;
const comparedBytes = 64;
/** Quieter messages are alike without being an echo. */
const tellingDbfs = -50;

/** `onFound` is called once for each kind. A service that echoes what it hears is not judged. */
export function createServiceVoice(onFound: (found: FoundInVoice, at: number) => void): ServiceVoice {
  let now = 0;
  const check = new VoiceCheck({ from: 'service', clock: { now: () => now }, isThorough: true });
  const speech = createSentSpeech<never>();
  const remembered = new Set<string>();
  const told = new Map<string, boolean>();
  let audible = 0;
  let echoed = 0;
  const isEcho = () => echoed > audible / 2;
  const nameOf = (pcm: Buffer) => pcm.toString('latin1', 0, comparedBytes);
  const report = (news: readonly FoundInVoice[]) => {
    for (const one of news) {
      const isCertain = one.isDoubtful !== true;
      if (isEcho() || (told.has(one.finding) && (!isCertain || told.get(one.finding)))) continue;
      told.set(one.finding, isCertain);
      onFound(one, now);
    }
  };
  return {
    sent(pcm, { rmsDbfs }, at) {
      now = at;
      check.otherSaid(pcm);
      if (speech.push(pcm, at).some(({ type }) => type === 'speech-start')) check.stopped();
      if (rmsDbfs < tellingDbfs) return;
      remembered.add(nameOf(pcm));
      const [oldest] = remembered;
      if (remembered.size > maxRemembered && oldest !== undefined) remembered.delete(oldest);
    },
    received(pcm, { rmsDbfs }, at) {
      now = at;
      if (rmsDbfs >= tellingDbfs) {
        audible += 1;
        if (remembered.has(nameOf(pcm))) echoed += 1;
      }
      report(check.push(pcm));
      if (!check.isDue) return;
      const verdict = check.judgePace();
      const remark = verdict?.remarks[verdict.findings.indexOf('wrong-rate')];
      const isDoubtful = check.isRateDoubtful ? { isDoubtful: true as const } : {};
      if (remark !== undefined) report([{ finding: 'wrong-rate', remark, ...isDoubtful }]);
    },
    interrupted(at) {
      now = at;
      check.interrupted();
    },
    end(at) {
      now = at;
      report(check.end());
    },
    summary() {
      const judgements = isEcho() ? [] : check.judgements();
      return {
        findings: judgements.map(({ kind }) => kind),
        remarks: judgements.map(({ text }) => text),
        judgements,
        ...(isEcho() ? unmeasured : check.measures()),
        unjudged: isEcho() ? 'the service echoes what it hears' : (check.unjudged ?? null),
      };
    },
  };
}

const unmeasured: VoiceMeasures = { activeDbov: null, floorDbov: null, bandwidthHz: null };
