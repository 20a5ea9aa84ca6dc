import { describe, expect, test } from 'vitest';
import { runInProcess } from '../../helpers/in-process.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';
import { fixture, jsonLines, setUpSandbox } from '../../helpers/voicectl.ts';

const sandbox = setUpSandbox();

const stream = (...args: string[]) =>
  runInProcess(['stream', '--local', '--reply', 'tone', '--json', ...args], { clock: createManualClock() });
const hello = () => sandbox.write('c.yaml', `turns:\n  - say: ${JSON.stringify(fixture('barge-in.wav'))}\n`);
const several = ['--file', fixture('barge-in.wav'), '--repeat', '2'];

describe('what is refused', () => {
  test.each([
    ['a pace', () => ['--expect-file', hello(), '--pace', 'max'], '--pace max cannot be used'],
    ['a loudspeaker', () => [...several, '--play'], '--play is for one session, but --repeat runs several'],
  ])('%s that these sessions do not have', async (_, args, why) => {
    const { code, stderr } = await stream(...args());
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(why) });
  });

  test.each([
    ['pace: max', () => ['--expect-file', hello()], 1],
    ['play: true', () => several, 2],
  ])('but not what a config file has for other sessions: %s', async (config, args, count) => {
    const path = sandbox.write('voicectl.config.yaml', `${config}\n`);
    const { code, stdout, stderr } = await stream(...args(), '--config', path);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const sessions = jsonLines(stdout).filter(({ type }) => type === 'session');
    expect(sessions).toHaveLength(count);
    // The event has a pace if it is not real time.
    for (const session of sessions) expect(session).not.toHaveProperty('pace');
  });
});
