import { expect, test } from 'vitest';
import { judgeDialogue } from '../../src/audio/dialogue/judge-dialogue.ts';
import { dialogueRows } from '../../src/report/dialogue-lines.ts';
import { measureSteps } from '../helpers/pcm.ts';

test('a session in which nobody spoke has no figures of turns', () => {
  const silence = measureSteps(Buffer.alloc(32_000));
  const nobody = judgeDialogue({ user: silence, ai: silence, clips: undefined, stops: [], waitMs: 5_000 });
  expect(dialogueRows(nobody)).toEqual([['turns', 'nobody spoke']]);
});
