import { VoicectlError } from '../../kernel/errors.ts';
import type { Fault } from '../../protocol/faults.ts';
import { describeIssue, noSuchSetting, readOnce } from '../../protocol/schema-problem.ts';
import type { Faults } from '../../service/faults/faults.ts';
import type { CreateReply, ReplyMode } from '../replies/reply.ts';
import { prepareClips } from './clips.ts';
import { type Performance, perform } from './perform.ts';
import { type ScenarioInput, type ScenarioPart, scenarioSchema } from './scenario-schema.ts';

/** A scenario that is ready to be played. */
export interface Scenario {
  readonly faults: readonly Fault[];
  /** The reply mode that plays the scenario; `otherwise` answers devices for which it has no steps. */
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
    const { path, value, expected } =
      issue === undefined ? { path: '', value: '', expected: '' } : describeIssue(issue);
    const why =
      expected === noSuchSetting
        ? `${path}: ${expected}`
        : `${path} is ${JSON.stringify(value)}, expected ${expected}`;
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
