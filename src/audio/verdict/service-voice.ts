import { createSentSpeech } from '../sent-speech.ts';
import type { EchoKind } from '../user-echo.ts';
import type { FoundInVoice, VoiceJudgement } from './found-sounds.ts';
import type { VoiceMeasures } from './listener.ts';
import type { LostTime } from './pace-check.ts';
import { VoiceCheck } from './voice-check.ts';

/** The findings in the AI's audio. */
export interface VoiceSummary extends VoiceMeasures {
  /** Kinds, as `serve` and `proxy` name them for a device. */
  findings: string[];
  /** The same as text. */
  remarks: string[];
  /** The same with places, figures and advice; `is` says which are certain. */
  judgements: VoiceJudgement[];
  /** Why the voice was not judged, or only partly; null if it was. */
  unjudged: string | null;
}

/** Judges the voice of the service while a session runs. */
export interface ServiceVoice {
  /** Takes audio of the user. A reply that is arriving when the user begins to speak may end anywhere. */
  sent(pcm: Buffer, at: number): void;
  received(pcm: Buffer, at: number): void;
  /** The service drops audio that has not been heard yet; the reply may end anywhere. */
  interrupted(at: number): void;
  /** The stream has ended. */
  end(at: number): void;
  /** Set if the service sends back what it hears. */
  readonly returned: EchoKind | undefined;
  summary(): VoiceSummary;
}

/**
 * `onFound` is called once per kind. `own`: time in which the service was not read; default: it always was. A service that sends
 * back what it hears is not judged.
 */
export function createServiceVoice(
  onFound: (found: FoundInVoice, at: number) => void,
  own: LostTime = { lostMs: 0 },
): ServiceVoice {
  let now = 0;
  const check = new VoiceCheck({ from: 'service', clock: { now: () => now }, own, isThorough: true });
  const speech = createSentSpeech<never>();
  const reported = new Map<string, boolean>();
  const report = (news: readonly FoundInVoice[]) => {
    for (const one of news) {
      const isCertain = one.isDoubtful !== true;
      if (reported.has(one.finding) && (!isCertain || reported.get(one.finding))) continue;
      reported.set(one.finding, isCertain);
      onFound(one, now);
    }
  };
  return {
    sent(pcm, at) {
      now = at;
      check.otherSaid(pcm);
      if (speech.push(pcm, at).some(({ type }) => type === 'speech-start')) check.stopped();
    },
    received(pcm, at) {
      now = at;
      report(check.push(pcm));
      if (!check.isDue || check.returned !== undefined) return;
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
      // Audio may arrive after the close.
      now = Math.max(now, at);
      report(check.end());
    },
    get returned() {
      return check.returned;
    },
    summary() {
      const judgements = check.judgements();
      return {
        findings: judgements.map(({ kind }) => kind),
        remarks: judgements.map(({ text }) => text),
        judgements,
        ...check.measures(),
        unjudged: check.unjudged ?? null,
      };
    },
  };
}
