import { describe, expect, test } from 'vitest';
import { silence as silentReply } from '../../../src/emulator/replies/registry.ts';
import { loadScenario } from '../../../src/emulator/scenario/scenario.ts';
import type { ScenarioInput } from '../../../src/emulator/scenario/scenario-schema.ts';
import { createEmulatorEvents } from '../../../src/service/events.ts';
import { createFaults } from '../../../src/service/faults/faults.ts';
import { createRandom } from '../../../src/service/random.ts';
import { speakWith } from '../../helpers/fake-voice.ts';
import { silence, speech } from '../../helpers/pcm.ts';
import { fixture, fixturePcm } from '../../helpers/voicectl.ts';

async function play(input: ScenarioInput) {
  const scenario = await loadScenario(input);
  const faults = createFaults({
    initial: scenario.faults,
    random: createRandom(1),
    events: createEmulatorEvents(() => 0),
  });
  const stage = speakWith(scenario.replyModeFor(faults, silentReply));
  await stage.clock.run(10);
  return {
    ...stage,
    faults,
    /** What was sent since the last look, but for the reports of turns. */
    async next(): Promise<string[]> {
      await stage.clock.run(10);
      return stage.log.splice(0).filter((line) => !line.startsWith('turn'));
    },
    async turn(ms = 300) {
      stage.hear(Buffer.concat([speech(ms), silence(1_000)]));
    },
  };
}

const note = (text: string) => ({ send: text });

test('what happens during the actions is kept for the following steps, each for the step that waits for it', async () => {
  const { next, clock, turn, reply } = await play({
    steps: [
      { when: 'connected', do: [note('begin'), { wait: '2500ms' }, note('ready')] },
      { when: 'speech-end', do: [note('heard')] },
      { when: { event: 'door' }, do: [note('door')] },
      { when: 'speech-start', do: [note('never')] },
    ],
  });
  reply.event?.('door');
  await turn();
  await clock.run(2_500);
  // The speech that began before the one that ended is over.
  expect(await next()).toEqual(['listening', '"begin"', '"ready"', '"heard"', '"door"']);
});

test('a fault of one stream that a scenario adds after its close is gone at once, and nothing follows', async () => {
  const { faults, next } = await play({
    steps: [
      { when: 'connected', do: [{ close: { code: 1011 } }, { fault: 'stall' }] },
      { when: 'connected', do: [note('never')] },
    ],
  });
  expect(faults.list()).toEqual([]);
  expect(await next()).not.toContain('"never"');
});

test('a fault of one stream ends with it, and any other fault is not added twice', async () => {
  const { faults, reply } = await play({
    steps: [
      { when: 'connected', do: [{ fault: 'stall' }, { fault: 'token-hang' }, { fault: 'token-hang' }] },
    ],
  });
  expect(faults.list().map(({ fault }) => fault.name)).toEqual(['stall', 'token-hang']);
  reply.close?.();
  expect(faults.list().map(({ fault }) => fault.name)).toEqual(['token-hang']);
});

describe('a step waits for', () => {
  test('nothing, if it is for the beginning', async () => {
    const { next } = await play({ steps: [{ when: 'connected', do: [note('hi')] }] });
    expect(await next()).toEqual(['listening', '"hi"']);
  });

  test('the user to begin and to stop speaking', async () => {
    const { next, hear } = await play({
      steps: [
        { when: 'speech-start', do: [note('begun')] },
        { when: 'speech-end', do: [note('ended')] },
      ],
    });
    await next();
    hear(speech(300));
    expect(await next()).toEqual(['"begun"']);
    hear(silence(1_000));
    expect(await next()).toEqual(['"ended"']);
  });

  test('a time after the previous step', async () => {
    const { next, clock } = await play({ steps: [{ when: { after: '2s' }, do: [note('late')] }] });
    await clock.run(1_900);
    expect(await next()).toEqual(['listening']);
    await clock.run(100);
    expect(await next()).toEqual(['"late"']);
  });

  test('an amount of audio from the user since the previous step', async () => {
    const { next, hear } = await play({
      steps: [{ when: { bytes: 640 }, do: [note('heard')] }],
      repeat: true,
    });
    await next();
    hear(Buffer.alloc(600));
    expect(await next()).toEqual([]);
    hear(Buffer.alloc(40));
    expect(await next()).toEqual(['"heard"']);
    expect(await next()).toEqual([]);
    hear(Buffer.alloc(640));
    expect(await next()).toEqual(['"heard"']);
  });

  test('an event that the control API reports, by its name', async () => {
    const { next, reply } = await play({ steps: [{ when: { event: 'door' }, do: [note('open')] }] });
    await next();
    reply.event?.('window');
    expect(await next()).toEqual([]);
    reply.event?.('door');
    expect(await next()).toEqual(['"open"']);
  });

  test('what came during the previous step', async () => {
    const { next, turn, clock } = await play({
      steps: [
        { when: 'connected', do: [{ wait: '5s' }] },
        { when: 'speech-end', do: [note('I heard you')] },
      ],
    });
    await turn();
    expect(await next()).toEqual(['listening']);
    await clock.run(5_000);
    expect(await next()).toEqual(['"I heard you"']);
  });
});

describe('a step', () => {
  test('says a file, a tone, silence and what the user said, one after the other', async () => {
    const { next, turn, said, finishSpeaking } = await play({
      steps: [
        { when: 'speech-end', do: [{ say: fixture('hello.wav') }, { say: { tone: 440, for: '100ms' } }] },
        { when: 'connected', do: [{ say: { silence: '50ms' } }, { say: { utterance: true } }] },
      ],
    });
    await turn(500);
    for (let count = 0; count < 4; count += 1) {
      await next();
      expect(said).toHaveLength(count + 1);
      finishSpeaking();
    }
    const [file, tone, quiet, utterance] = said;
    expect(file?.equals(fixturePcm('hello.wav'))).toBe(true);
    expect(tone).toHaveLength(3_200);
    expect(quiet).toEqual(Buffer.alloc(1_600));
    expect(utterance?.length).toBeGreaterThanOrEqual(500 * 32);
  });

  test('stops speaking when the user talks over it, and continues with what follows', async () => {
    const { next, turn, hear } = await play({
      steps: [{ when: 'speech-end', do: [{ say: { tone: 440 } }, note('next')] }],
    });
    await turn();
    expect(await next()).toEqual(['listening', 'speaking', 'say']);
    hear(speech(200));
    expect(await next()).toEqual(['stop', 'listening', '"next"']);
  });

  test('talks over the user if it is not to stop', async () => {
    const { next, turn, hear, finishSpeaking } = await play({
      steps: [{ when: 'speech-end', do: [{ say: { tone: 440, 'barge-in': false } }, note('next')] }],
    });
    await turn();
    await next();
    hear(speech(200));
    expect(await next()).toEqual([]);
    finishSpeaking();
    expect(await next()).toEqual(['listening', '"next"']);
  });

  test('sends a status, an error and any JSON, and closes', async () => {
    const { next } = await play({
      steps: [
        {
          when: 'connected',
          do: [
            { status: 'speaking' },
            { error: { code: 'OOPS', message: 'no' } },
            { send: { type: 'lights', on: true } },
            { close: { code: 4001, reason: 'bye' } },
          ],
        },
      ],
    });
    expect(await next()).toEqual([
      'listening',
      'speaking',
      'error OOPS: no',
      '{"type":"lights","on":true}',
      'close 4001 bye',
    ]);
  });

  test('adds faults for its own stream and device, and clears them', async () => {
    const { next, faults, turn } = await play({
      faults: ['mute'],
      steps: [
        {
          when: 'connected',
          do: [{ fault: 'drop:probability=0.5' }, { fault: { name: 'token-hang', times: 1 } }],
        },
        { when: 'speech-end', do: [{ 'clear-faults': true }] },
      ],
    });
    await next();
    expect(faults.list().map(({ fault }) => fault)).toMatchObject([
      { name: 'mute' },
      { name: 'drop', stream: 1, probability: 0.5 },
      { name: 'token-hang', device: 'd1', times: 1 },
    ]);
    await turn();
    await next();
    expect(faults.list()).toEqual([]);
  });

  test('that fails is reported, and the stream continues without the rest', async () => {
    const faults = Array.from({ length: 1_001 }, (_, at) => ({ fault: `mute:times=${at + 1}` }));
    const { next } = await play({ steps: [{ when: 'connected', do: faults }] });
    expect(await next()).toEqual(['listening', 'failed: More than 1000 faults']);
  });
});

test('a device can have its own steps instead of the common ones', async () => {
  const { next } = await play({
    steps: [{ when: 'connected', do: [note('all')] }],
    devices: { d1: { steps: [{ when: 'connected', do: [note('d1')] }] } },
  });
  expect(await next()).toEqual(['listening', '"d1"']);
});

test('if a scenario has no steps, the AI uses the reply mode', async () => {
  const { next, log } = await play({ faults: ['mute'], devices: { d2: { steps: [] } } });
  await next();
  expect(log).toEqual([]);
});

test('steps that are repeated begin again after the last one', async () => {
  const { next, turn } = await play({ steps: [{ when: 'speech-end', do: [note('ok')] }], repeat: true });
  await turn();
  await next();
  await turn();
  expect(await next()).toEqual(['"ok"']);
});

test('nothing is said on a stream that has ended', async () => {
  const { next, reply, clock } = await play({ steps: [{ when: { after: '1s' }, do: [note('late')] }] });
  reply.close?.();
  await clock.run(2_000);
  expect(await next()).toEqual(['listening']);
});

describe('refused is', () => {
  test.each([
    [{ steps: [{ when: 'connected' }], repeat: true }, /other than connected/, []],
    [
      { steps: [{ when: 'connected', do: [{ say: 'no.wav' }] }] },
      /Cannot read/,
      ['steps', 0, 'do', 0, 'say'],
    ],
    [
      { devices: { d: { steps: [{ when: 'connected', do: [{ say: 'no.wav' }] }] } } },
      /Cannot read/,
      ['devices', 'd', 'steps', 0, 'do', 0, 'say'],
    ],
    [{ faults: ['nope'] }, /"nope"/, ['faults', 0]],
    [
      { steps: [{ when: 'never' }] },
      /expected connected, speech-start, speech-end, \{after\}/,
      ['steps', 0, 'when'],
    ],
    [
      { steps: [{ when: 'connected', do: [{ say: { tone: 440, silence: '1s' } }] }] },
      /do\.0\.say is \(an object\), expected a WAV file, or exactly one of file, tone/,
      ['steps', 0, 'do', 0, 'say'],
    ],
  ])('%j', async (input, message, path) => {
    const refusal = loadScenario(input as ScenarioInput);
    await expect(refusal).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringMatching(message),
      details: { path },
    });
  });
});

test('a scenario that closes its stream does nothing more', async () => {
  const { clock, faults, next } = await play({
    repeat: true,
    steps: [{ when: { after: 20 }, do: [{ fault: 'drop' }, { close: { code: 1012 } }] }],
  });
  let added = 0;
  faults.onAdded(() => {
    added += 1;
  });
  await clock.run(1_000);
  expect(await next()).toEqual(['listening', 'close 1012 ']);
  expect(added).toBe(1);
});
