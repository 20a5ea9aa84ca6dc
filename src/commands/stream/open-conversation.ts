import { dirname } from 'node:path';
import { openWavFile } from '../../audio/wav/wav-source.ts';
import { type ExpectFileTurn, parseExpectFile } from '../../config/expect-file.ts';
import { readText, type Stdin } from '../../files/read-text.ts';
import { nameOf } from '../../files/refusal.ts';
import { findShippedSound } from '../../files/shipped-file.ts';
import { type AudioLimits, audioLimitNames } from '../../kernel/audio-limits.ts';
import { toVoicectlError } from '../../kernel/errors.ts';
import type {
  Absence,
  ConversationPlan,
  Following,
  Judge,
  TurnPlan,
} from '../../session/conversation/conversation-plan.ts';
import type { FieldMatches } from '../../session/conversation/field-match.ts';
import type { Cleanness, Expectations } from '../../session/expectations.ts';
import { createJudge, type JudgeOptions } from './judge-command.ts';
import { speakText } from './speak-text.ts';

export interface ConversationFile {
  plan: ConversationPlan;
  /** The expectations of the file for the whole session. */
  expectations: Expectations;
}

interface OpenOptions extends Stdin {
  strictFormat: boolean | undefined;
  /** For the commands that speak and judge. */
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads a conversation file (`-`: standard input) and opens its clips. Throws `bad-input` with line and column, even
 * for a clip that cannot be read.
 */
export async function openConversation(
  path: string,
  { strictFormat, env, ...input }: OpenOptions,
): Promise<ConversationFile> {
  const file = parseExpectFile(await readText(path, input), nameOf(path));
  const folder = path === '-' ? '.' : dirname(path);
  const turns: TurnPlan[] = [];
  for (const [index, turn] of file.value.turns.entries()) {
    const { say } = turn;
    try {
      const options = { strictFormat, signal: input.signal };
      const clip =
        typeof say === 'object'
          ? await speakText(say, { folder, env, signal: input.signal })
          : say && (await findShippedSound(say, folder));
      const source = clip === undefined ? undefined : await openWavFile(clip, options);
      turns.push({ ...planTurn(turn, index), say: source, judge: planJudge(turn, { folder, env }) });
    } catch (thrown) {
      input.signal.throwIfAborted();
      throw file.refuse(['turns', index, 'say'], toVoicectlError(thrown).message, thrown);
    }
  }
  const { value } = file;
  return {
    plan: { turns },
    expectations: {
      ...limitsOf(value),
      events: value['expect-event'],
      forbiddenEvents: value['forbid-event'],
      closeCode: value['expect-close'],
      clean: cleannessOf(value),
    },
  };
}

function planTurn(turn: ExpectFileTurn, index: number): Omit<TurnPlan, 'say' | 'judge'> {
  const { name, when = index === 0 ? 'connected' : 'after-reply' } = turn;
  const cue = () => {
    if (typeof when === 'string') return when;
    return 'after' in when ? { afterMs: when.after } : { duringReplyMs: when['during-reply'] };
  };
  return {
    name,
    when: cue(),
    expect: turn.expect.map(planFollowing),
    absent: turn.absent.map(planAbsence),
    ...limitsOf(turn),
    clean: cleannessOf(turn),
  };
}

function planJudge({ judge }: ExpectFileTurn, place: Omit<JudgeOptions, 'withinMs'>): Judge | undefined {
  if (judge === undefined) return undefined;
  const { run, within } = Array.isArray(judge) ? { run: judge } : judge;
  return createJudge(run, { ...place, withinMs: within });
}

function planFollowing(following: ExpectFileTurn['expect'][number]): Following {
  if ('hold' in following) return { type: 'hold', holdMs: following.hold, withinMs: undefined };
  const withinMs = following.within;
  if ('audio' in following) return { type: 'audio', audioMs: following.audio, withinMs };
  if ('silence' in following) return { type: 'silence', silenceMs: following.silence, withinMs };
  return { type: 'event', event: planEvent(following), withinMs };
}

function planAbsence(absence: ExpectFileTurn['absent'][number]): Absence {
  return absence === 'audio' ? { type: 'audio' } : { type: 'event', event: planEvent(absence) };
}

function planEvent({ event, where }: Exclude<ExpectFileTurn['absent'][number], 'audio'>) {
  const fields = Object.entries(where).map(([path, match]) => {
    if (typeof match !== 'object' || match === null || 'like' in match) return [path, match];
    const { min, max, matches, 'one-of': oneOf } = match;
    return [path, { min, max, matches, oneOf }];
  });
  return { kind: event, where: Object.fromEntries(fields) as FieldMatches };
}

function limitsOf(given: AudioLimits): AudioLimits {
  return Object.fromEntries(audioLimitNames.map((name) => [name, given[name]]));
}

function cleannessOf({ 'expect-clean': clean }: Pick<ExpectFileTurn, 'expect-clean'>): Cleanness | undefined {
  return clean === true ? 'findings' : clean;
}
