import { VoicectlError } from '../../kernel/errors.ts';
import { messageOf } from '../../kernel/thrown.ts';
import { aimFault } from '../../protocol/faults.ts';
import type { Faults } from '../../service/faults/faults.ts';
import type { CreateReply, Voice } from '../replies/reply.ts';
import type { Clips } from './clips.ts';
import type { ScenarioAction, ScenarioPart, SpeechAction } from './scenario-schema.ts';
import { createStage, type ScenarioStage } from './stage.ts';

export interface Performance {
  part: ScenarioPart;
  clips: Clips;
  faults: Faults;
}

/** Plays the steps on each stream. If a step fails, its stream reports it and continues without the rest. */
export function perform(performance: Performance): CreateReply {
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
  if (fault !== undefined) faults.add(aimFault(fault, voice));
  if (action['clear-faults']) faults.clear();
  if (close !== undefined) voice.close(close.code, close.reason);
}

function pcmOf(say: string | SpeechAction, clips: Clips, stage: ScenarioStage): Buffer {
  if (typeof say !== 'string' && say.utterance) return stage.utterance;
  const pcm = clips.get(say);
  if (pcm === undefined) throw new VoicectlError('internal', 'A clip of the scenario was not prepared');
  return pcm;
}
