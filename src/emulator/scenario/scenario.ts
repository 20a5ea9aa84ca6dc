import { isDeepStrictEqual } from 'node:util';
import { loadPcm } from '../../audio/wav/wav-source.ts';
import { findShippedSound } from '../../files/shipped-file.ts';
import { messageOf, VoicectlError } from '../../kernel/errors.ts';
import { bytesForMs } from '../../protocol/audio-format.ts';
import { aimFault, type Fault } from '../../protocol/faults.ts';
import { describeIssue, readOnce, schemaProblemText } from '../../protocol/schema-problem.ts';
import type { Faults } from '../../service/faults/faults.ts';
import type { CreateReply, ReplyMode, Voice } from '../replies/reply.ts';
import { makeTone } from '../replies/tone.ts';
import {
  type ScenarioAction,
  type ScenarioInput,
  type ScenarioPart,
  type SpeechAction,
  scenarioSchema,
} from './scenario-schema.ts';
import { createStage, type ScenarioStage } from './stage.ts';

/** A scenario that is ready to be played. */
export interface Scenario {
  readonly faults: readonly Fault[];
  /** The reply mode that plays the scenario; `otherwise` speaks for devices without steps. */
  replyModeFor(faults: Faults, otherwise: ReplyMode): ReplyMode;
}

/**
 * Makes a scenario from its content; files are relative to `folder`. Throws `bad-input` for an invalid
 * scenario and for a WAV that cannot be read; `details.path` names the place.
 */
export async function loadScenario(input: ScenarioInput, folder = '.'): Promise<Scenario> {
  const checked = scenarioSchema.safeParse(input, readOnce);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const why = issue === undefined ? '' : schemaProblemText(describeIssue(issue));
    throw new VoicectlError('bad-input', `Invalid scenario: ${why}`, {
      details: { path: issue?.path ?? [] },
    });
  }
  const { faults, devices, ...everyone } = checked.data;
  const forAll = await ready(everyone, folder, []);
  const forDevice = await Promise.all(
    Object.entries(devices).map(
      async ([device, part]) => [device, await ready(part, folder, ['devices', device])] as const,
    ),
  );
  return {
    faults,
    replyModeFor(active, otherwise) {
      const play = (one: Omit<Performance, 'faults'>): ReplyMode =>
        one.part.steps.length === 0 ? otherwise : perform({ ...one, faults: active });
      const everyone = play(forAll);
      const single = new Map(forDevice.map(([device, one]) => [device, play(one)]));
      const replyOf = (device: string) => single.get(device) ?? everyone;
      const createReply: CreateReply = (voice) => replyOf(voice.device)(voice);
      return Object.assign(createReply, {
        confirms: (device: string) => replyOf(device).confirms?.(device) ?? false,
      });
    },
  };
}

async function ready(part: ScenarioPart, folder: string, at: readonly PropertyKey[]) {
  const clips = await prepareClips(part, folder).catch((thrown: VoicectlError) => {
    const path = [...at, ...(thrown.details?.path ?? [])];
    throw new VoicectlError(thrown.code, thrown.message, { cause: thrown.cause, details: { path } });
  });
  return { part, clips };
}

interface Performance {
  part: ScenarioPart;
  clips: Clips;
  faults: Faults;
}

/** Plays the steps on each stream. If a step fails, its stream reports it and continues without the rest. */
function perform(performance: Performance): CreateReply {
  return (voice) => {
    const stage = createStage(voice);
    void play(performance, stage, voice).catch((thrown) => voice.fail(messageOf(thrown)));
    return stage.reply;
  };
}

/** Plays the steps of one stream. When the stream ends, the next step never resolves, and all of it is garbage-collected. */
async function play(performance: Performance, stage: ScenarioStage, voice: Voice): Promise<void> {
  const { steps, repeat } = performance.part;
  voice.status('listening');
  do {
    for (const step of steps) {
      await stage.until(step.when);
      for (const action of step.do) await act(action, performance, stage, voice);
    }
    // Let other work run between steps that do not wait.
    await stage.pause(0);
  } while (repeat);
}

async function act(
  action: ScenarioAction,
  { clips, faults }: Performance,
  stage: ScenarioStage,
  voice: Voice,
) {
  const { say, wait, status, error, send, fault, close } = action;
  if (say !== undefined) {
    const speech = typeof say === 'string' ? undefined : say;
    await stage.say(pcmOf(say, clips, stage), speech?.['barge-in'] ?? true);
  }
  if (wait !== undefined) await stage.pause(wait);
  if (status !== undefined) voice.status(status);
  if (error !== undefined) voice.error(error.code, error.message);
  if (send !== undefined) voice.message(send);
  if (fault !== undefined) addFault(aimFault(fault, voice), faults, stage, voice);
  if (action['clear-faults']) faults.clear();
  if (close !== undefined) voice.close(close.code, close.reason);
}

/** Adds a fault as the newest, in place of an equal one. A fault of this stream alone ends with the stream. */
function addFault(aimed: Fault, faults: Faults, stage: ScenarioStage, voice: Voice): void {
  const same = faults.list().find(({ fault }) => isDeepStrictEqual(fault, aimed));
  if (same !== undefined) faults.clear(same.id);
  const { id } = faults.add(aimed);
  if ('stream' in aimed && aimed.stream === voice.stream) stage.onEnd(() => faults.clear(id));
}

function pcmOf(say: string | SpeechAction, clips: Clips, stage: ScenarioStage): Buffer {
  if (typeof say !== 'string' && say.utterance) return stage.lastTurn;
  const pcm = clips.get(say);
  if (pcm === undefined) throw new VoicectlError('internal', 'A clip of the scenario was not prepared');
  return pcm;
}

/** The audio of a scenario, ready to send. */
type Clips = ReadonlyMap<string | SpeechAction, Buffer>;

/**
 * Reads or makes all audio of these steps. Throws `bad-input` for a file that is not a WAV; `details.path`
 * names the step.
 */
async function prepareClips({ steps }: Pick<ScenarioPart, 'steps'>, folder: string): Promise<Clips> {
  const speeches = steps.flatMap((step, at) =>
    step.do.flatMap(({ say }, index) =>
      say === undefined ? [] : [{ say, path: ['steps', at, 'do', index, 'say'] }],
    ),
  );
  const clips = new Map<string | SpeechAction, Buffer>();
  for (const { say, path } of speeches) {
    const pcm = await prepare(say, folder).catch((cause) => {
      throw new VoicectlError('bad-input', (cause as Error).message, { cause, details: { path } });
    });
    if (pcm !== undefined) clips.set(say, pcm);
  }
  return clips;
}

async function prepare(say: string | SpeechAction, folder: string): Promise<Buffer | undefined> {
  if (typeof say === 'string') return loadPcm(await findShippedSound(say, folder));
  const { file, tone, silence } = say;
  if (file !== undefined) return loadPcm(await findShippedSound(file, folder));
  if (tone !== undefined) return makeTone(tone, say.for);
  return silence === undefined ? undefined : Buffer.alloc(bytesForMs(silence));
}
