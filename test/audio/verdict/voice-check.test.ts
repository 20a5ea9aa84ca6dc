import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import type { FoundInVoice } from '../../../src/audio/verdict/found-sounds.ts';
import { VoiceCheck } from '../../../src/audio/verdict/voice-check.ts';
import { speechAt } from '../../helpers/device-audio.ts';

const fixture = (name: string) => readFileSync(new URL(`../../../fixtures/${name}`, import.meta.url));
const speech = fixture('question.wav').subarray(44);

interface Sending {
  frameBytes?: number;
  /** Milliseconds between two messages; by index. */
  every?: (index: number) => number;
}

/** What is said of a device that sends this. */
function judge(pcm: Buffer, { frameBytes = 640, every = () => 20 }: Sending = {}) {
  let now = 1_000;
  const check = new VoiceCheck({ from: 'device', clock: { now: () => now } });
  const told: string[] = [];
  for (let offset = 0, index = 0; offset < pcm.length; offset += frameBytes, index += 1) {
    for (const { finding } of check.push(pcm.subarray(offset, offset + frameBytes))) told.push(finding);
    now += every(index);
  }
  return { ...check.verdict(), told };
}

function mapSamples(pcm: Buffer, map: (sample: number, index: number) => number): Buffer {
  const mapped = Buffer.alloc(pcm.length);
  for (let i = 0; i < pcm.length / 2; i += 1) {
    mapped.writeInt16LE(
      Math.max(-0x8000, Math.min(0x7fff, Math.round(map(pcm.readInt16LE(2 * i), i)))),
      2 * i,
    );
  }
  return mapped;
}

/** Each sample twice: one voice on both channels. */
const asStereo = (pcm: Buffer) => {
  const stereo = Buffer.alloc(2 * pcm.length);
  for (let i = 0; i < pcm.length; i += 2) {
    pcm.copy(stereo, 2 * i, i, i + 2);
    pcm.copy(stereo, 2 * i + 2, i, i + 2);
  }
  return stereo;
};

const tone = (hz: number, peak: number, seconds = 2) =>
  mapSamples(Buffer.alloc(32_000 * seconds), (_, i) => peak * Math.sin((2 * Math.PI * hz * i) / 16_000));

test.each([100, 300, 500])('%i ms at once at the start, and then real time, is real time', (leadMs) => {
  let now = 1_000;
  const check = new VoiceCheck({ from: 'device', clock: { now: () => now } });
  const told: string[] = [];
  for (let index = 0; index < 500; index += 1) {
    for (const { finding } of check.push(speech.subarray(0, 640))) told.push(finding);
    const verdict = check.isDue ? check.judgePace() : undefined;
    told.push(...(verdict?.findings ?? []));
    now += index * 20 < leadMs ? 1 : 20;
  }
  expect(told.filter((finding) => finding === 'too-fast' || finding === 'wrong-rate')).toEqual([]);
});

test('messages that are taken later are judged by when they arrived, and by the time lost until then', () => {
  let now = 1_000;
  const own = { lostMs: 0 };
  const check = new VoiceCheck({ from: 'device', clock: { now: () => now }, own });
  const arrivals = Array.from({ length: 150 }, (_, index) => {
    now += index === 50 ? 620 : 20;
    own.lostMs += index === 50 ? 600 : 0;
    return check.arrival();
  });
  now += 5_000;
  own.lostMs += 5_000;
  for (const arrival of arrivals) check.push(Buffer.alloc(640), arrival);
  expect(check.verdict().pace).toMatchObject({ longestGapMs: 20, burstMessages: 0, meanJitterMs: 4.03 });
});

describe('a reply that stops within a loud vowel', () => {
  const reply = speech.subarray(0, 80_000);
  /** What is found if nothing comes for 2 s, in which this process loses so much, and then this. */
  const pauseFor2s = (lostMs: number, then: 'the rest' | 'the user' | 'the end') => {
    let now = 1_000;
    const own = { lostMs: 700 };
    const check = new VoiceCheck({ from: 'service', clock: { now: () => now }, own });
    const found: FoundInVoice[] = [];
    const hear = (pcm: Buffer) => {
      for (let at = 0; at < pcm.length; at += 640) {
        found.push(...check.push(pcm.subarray(at, at + 640)));
        now += 20;
      }
    };
    hear(reply);
    now += 1_980;
    own.lostMs += lostMs;
    if (then === 'the rest') hear(speech.subarray(80_000));
    if (then === 'the user') {
      check.stopped();
      now += 2_000;
    }
    found.push(...check.end());
    return found.map(({ finding }) => finding);
  };

  test.each(['the rest', 'the user', 'the end'] as const)('is cut off before %s', (then) => {
    expect(pauseFor2s(0, then)).toEqual(['cut-off']);
    expect(pauseFor2s(400, then)).toEqual(['cut-off']);
  });

  test.each(['the rest', 'the user', 'the end'] as const)(
    'only because it was not read is not cut off before %s',
    (then) => {
      expect(pauseFor2s(1_950, then)).toEqual([]);
    },
  );

  test('is not cut off either if it is taken later', () => {
    let now = 1_000;
    const own = { lostMs: 0 };
    const check = new VoiceCheck({ from: 'service', clock: { now: () => now }, own });
    const found: FoundInVoice[] = [];
    for (let at = 0; at < speech.length; at += 640) {
      if (at === reply.length) {
        now += 2_000;
        own.lostMs += 1_950;
      }
      const arrival = check.arrival();
      own.lostMs += 5_000;
      found.push(...check.push(speech.subarray(at, at + 640), arrival));
      own.lostMs -= 5_000;
      now += 20;
    }
    expect(found).toEqual([]);
  });
});

describe('a device that does everything right', () => {
  test.each(['hello.wav', 'question.wav', 'two-turns.wav', 'answer.wav'])(
    'gets no remark for %s at real time',
    (name) => {
      expect(judge(fixture(name).subarray(44))).toMatchObject({ findings: [], remarks: [], told: [] });
    },
  );

  test.each([2, 320, 1_920, 32_000])('gets no remark for messages of %d bytes either', (frameBytes) => {
    const every = () => frameBytes / 32;
    expect(judge(speech, { frameBytes, every }).told).toEqual([]);
  });

  test('gets no remark for white noise, a high tone or a low one either', () => {
    const noise = mapSamples(Buffer.alloc(64_000), (_, i) => ((i * 7_919) ** 2 % 20_001) - 10_000);
    for (const pcm of [noise, tone(7_000, 10_000), tone(60, 10_000)]) expect(judge(pcm).findings).toEqual([]);
  });

  test('gets no remark for an unsteady network that catches up', () => {
    const verdict = judge(Buffer.concat([speech, speech]), {
      every: (index) => (index % 10 === 9 ? 60 : 15.5),
    });
    expect(verdict).toMatchObject({ findings: [], pace: { longestGapMs: 60 } });
  });
});

describe('a device that sends the wrong samples is reported', () => {
  test.each([
    ['riff-header', 'WAV header', fixture('hello.wav')],
    ['swapped-bytes', 'little-endian', Buffer.from(speech).swap16()],
    ['stereo', 'looks like stereo', asStereo(speech)],
    ['clipping', 'clips', mapSamples(speech, (sample) => sample * 12)],
    ['dc-offset', 'DC offset', mapSamples(speech, (sample) => sample / 4 + 3_000)],
    ['silence', 'silence for 5 s', Buffer.alloc(32_000 * 6)],
  ])('%s: %s', (finding, words, pcm) => {
    const verdict = judge(pcm);
    expect(verdict.told).toEqual([finding]);
    expect(verdict.remarks).toEqual([expect.stringContaining(words)]);
  });

  test('of silence only if nothing was heard before it', () => {
    const quiet = Buffer.alloc(32_000 * 14);
    expect(judge(Buffer.concat([tone(440, 10_000, 3), quiet])).told).toEqual([]);
    expect(judge(Buffer.concat([tone(440, 100, 3), quiet])).told).toEqual(['silence']);
  });

  test('of silence after 5 s of time, however fast it comes', () => {
    const quiet = Buffer.alloc(32_000 * 14);
    expect(judge(quiet, { every: () => 20 / 3 }).told).toEqual([]);
    expect(judge(quiet.subarray(0, 32_000 * 4), { every: () => 40 }).told).toEqual(['silence']);
  });

  test('of very quiet audio if nothing louder came before', () => {
    const whisper = mapSamples(Buffer.concat([speech, speech, speech, speech]), (sample) => sample / 100);
    expect(judge(whisper).told).toEqual(['quiet']);
    expect(judge(Buffer.concat([speech, whisper])).told).toEqual([]);
  });

  test.each([
    [1, 4],
    [10, 6],
  ])('of a wrong format that begins after %d s of loud noise', (seconds, times) => {
    const noise = mapSamples(Buffer.alloc(32_000 * seconds), (_, i) => ((i * 7_919) ** 2 % 20_001) - 10_000);
    const swapped = Buffer.from(speech).swap16();
    expect(judge(Buffer.concat([noise, ...Array(times).fill(swapped)])).told).toEqual(['swapped-bytes']);
  });

  test('of a wrong format after a microphone that delivers only a constant voltage', () => {
    const voltage = mapSamples(Buffer.alloc(10 * 32_000), () => 3_000);
    expect(judge(voltage).findings).toEqual(['dc-offset']);
    expect(judge(Buffer.concat([voltage, Buffer.from(speech).swap16()])).told).toEqual([
      'dc-offset',
      'swapped-bytes',
    ]);
  });

  test('odd-sizes, once', () => {
    expect(judge(speech, { frameBytes: 641 }).told).toEqual(['odd-sizes']);
  });
});

describe('a device that sends at the wrong pace is reported', () => {
  test('with its pace relative to real time', () => {
    expect(judge(Buffer.concat([speech, speech]), { every: () => 20 / 1.7 })).toMatchObject({
      pace: { timesRealTime: 1.7 },
      findings: ['too-fast'],
      remarks: ['the device sends at 1.7 × real time'],
    });
    expect(judge(speech, { every: () => 25 }).remarks).toEqual(['the device sends at 0.8 × real time']);
  });

  test.each([
    [44_100, '44.1 kHz'],
    [96_000, '48 kHz stereo'],
  ])('when %d samples per second look like %s', (rate, words) => {
    const pcm = Buffer.concat(Array.from({ length: 5 }, () => speech));
    expect(judge(pcm, { every: () => (20 * 16_000) / rate }).remarks).toContainEqual(
      expect.stringContaining(`looks like ${words}`),
    );
  });

  test('of bursts and of gaps', () => {
    const { findings } = judge(speech, { every: (index) => (index % 50 === 49 ? 1_000 : 0) });
    expect(findings).toEqual(expect.arrayContaining(['bursts', 'gaps']));
  });

  test('nothing before two seconds have passed', () => {
    expect(judge(speech.subarray(0, 20_000), { every: () => 5 })).toMatchObject({
      pace: { timesRealTime: null },
      findings: [],
    });
  });
});

describe('while a device sends', () => {
  /** Sends speech, and notes what is told of the pace, and when. */
  function follow() {
    let now = 0;
    const check = new VoiceCheck({ from: 'device', clock: { now: () => now } });
    const told: [at: number, remarks: string[]][] = [];
    const dueAt: number[] = [];
    /** A message every so many milliseconds, until then. */
    const send = (until: number, everyMs: number) => {
      for (let index = 0; now < until; index += 1) {
        const offset = (index * 640) % (speech.length - 640);
        check.push(speech.subarray(offset, offset + 640));
        if (check.isDue) {
          dueAt.push(now);
          const verdict = check.judgePace();
          if (verdict !== undefined) told.push([now, verdict.remarks]);
        }
        now += everyMs;
      }
    };
    return { check, told, dueAt, send };
  }
  const looksLike = (times: number, readings: string) => [
    `this looks like ${readings} (${times} × real time): send 16 kHz mono, one 640-byte message every 20 ms`,
  ];

  test('its pace is judged every two seconds', () => {
    const { dueAt, send, told } = follow();
    send(7_000, 20);
    expect(dueAt).toEqual([2_000, 4_000, 6_000]);
    expect(told).toEqual([[2_000, []]]);
  });

  test('another pace is reported when it is seen twice, whatever its exact figure', () => {
    const { told, send } = follow();
    send(6_020, 20);
    send(8_020, 10);
    send(14_000, 9.9);
    expect(told.map(([, remarks]) => remarks)).toEqual([
      [],
      looksLike(2.02, '32 kHz, 16 kHz stereo, or 16 kHz sent too fast'),
    ]);
    expect(told[1]?.[0]).toBeGreaterThan(9_900);
    expect(told[1]?.[0]).toBeLessThan(10_100);
  });

  test.each([
    ['4 × and then 1.5 ×', [3_000, 5], [6_000, 20 / 1.5], 2.75],
    ['1.5 × and then 4 ×', [3_000, 20 / 1.5], [6_000, 5], 2.75],
    ['8 × and then 2 ×', [1_000, 2.5], [5_000, 10], 3.2],
  ] as const)(
    'a pace that is never real time is reported at the end too: %s',
    (_what, [firstUntil, firstMs], [until, everyMs], times) => {
      const { check, told, send } = follow();
      send(firstUntil, firstMs);
      send(until, everyMs);
      const { findings, pace } = check.verdict();
      expect(findings).toEqual(['too-fast']);
      expect(pace.timesRealTime).toBeCloseTo(times, 1);
      expect(told.flatMap(([, remarks]) => remarks)).toHaveLength(1);
    },
  );

  test.each([3_000, 4_000, 9_000])(
    'audio that was kept and comes at once, and then real time for %i ms, is not too fast',
    (until) => {
      const { check, told, send } = follow();
      send(30, 1);
      send(until, 20);
      expect(check.verdict().findings).toEqual([]);
      expect(told.flatMap(([, remarks]) => remarks)).toEqual([]);
    },
  );

  test('a pace that was seen once is not reported', () => {
    const { told, send } = follow();
    send(6_020, 20);
    send(8_020, 10);
    send(14_000, 20);
    expect(told).toEqual([[2_000, []]]);
  });

  test('one sample rate after another is reported', () => {
    const { told, send } = follow();
    send(6_000, 20 / 3);
    send(14_000, 20 / 2.75625);
    expect(told.map(([, remarks]) => remarks)).toEqual([
      looksLike(3, '48 kHz, or 16 kHz sent too fast'),
      looksLike(2.76, '44.1 kHz, or 16 kHz sent too fast'),
    ]);
  });

  test('findings in its text messages are reported once', () => {
    const { check } = follow();
    expect(check.addFinding('json-text')).toMatchObject([{ finding: 'json-text' }]);
    expect(check.addFinding('json-text')).toEqual([]);
    expect(check.verdict()).toMatchObject({ findings: ['json-text'], pace: { timesRealTime: null } });
  });
});

describe('a device whose voice proves its rate', () => {
  test('is reported once, after both explanations', () => {
    let now = 0;
    const check = new VoiceCheck({ from: 'device', clock: { now: () => now } });
    const told: string[] = [];
    for (const pcm = speechAt(24_000); now < 12_000; now += 40 / 3) {
      const at = (Math.round(now / (40 / 3)) * 640) % (pcm.length - 640);
      check.push(pcm.subarray(at, at + 640));
      if (check.isDue) told.push(...(check.judgePace()?.remarks ?? []));
    }
    expect(told).toEqual([
      'this looks like 24 kHz, or 16 kHz sent too fast (1.5 × real time): send 16 kHz mono, one 640-byte message every 20 ms',
      'this looks like 24 kHz (1.5 × real time): send 16 kHz mono',
    ]);
  });
});

describe('the voice of a service', () => {
  interface Reply {
    frameBytes?: number;
    /** Milliseconds between two messages. */
    every?: number;
    /** From the last message to the end of the stream. */
    restMs?: number;
  }
  /** All that is found in a reply, told once while it comes and at its end. */
  function hear(pcm: Buffer, { frameBytes = 640, every = 20, restMs = 1_000 }: Reply = {}) {
    let now = 1_000;
    const check = new VoiceCheck({ from: 'service', clock: { now: () => now }, isThorough: true });
    const found: { finding: string; remark: string; isDoubtful?: true }[] = [];
    for (let at = 0; at < pcm.length; at += frameBytes) {
      found.push(...check.push(pcm.subarray(at, at + frameBytes)));
      now += every;
    }
    now += restMs;
    found.push(...check.end());
    return { found, unjudged: check.unjudged };
  }

  test.each([
    ['in real time', 20],
    ['at once', 0],
    ['1.2 × as fast', 20 / 1.2],
    ['with pauses between its messages', 700],
  ])('is right %s: the specification promises no pace', (_how, every) => {
    expect(hear(speechAt(16_000), { every })).toEqual({ found: [], unjudged: undefined });
  });

  test('may be split within a sample by a message, but not at its end', () => {
    const pcm = speechAt(16_000);
    const even = pcm.subarray(0, 641 * 100);
    const ofSizes = (cut: Buffer, restMs = 1_000) =>
      hear(cut, { frameBytes: 641, restMs }).found.filter(({ finding }) => finding === 'odd-sizes');
    expect(ofSizes(even)).toEqual([]);
    const odd = 'the service’s audio ends within a sample: it has an odd number of bytes';
    expect(ofSizes(pcm.subarray(0, 641 * 101))).toMatchObject([{ remark: odd }]);
    expect(ofSizes(pcm.subarray(0, 641 * 101), 0)).toEqual([]);
  });

  test.each([
    [8_000, '8 kHz', 'it arrives at 0.5 × real time, and the voice sounds 2 × too fast'],
    [24_000, '24 kHz', 'it arrives at 1.5 × real time, and the voice sounds 1.5 × too slow'],
    [48_000, '48 kHz', 'it arrives at 3 × real time, and the voice sounds 3 × too slow'],
  ])('at %d samples a second in real time is certain', (rate, format, why) => {
    const remark = `the service’s audio is ${format}: ${why}`;
    expect(hear(speechAt(rate), { every: 320_000 / rate }).found).toEqual([
      { finding: 'wrong-rate', remark, advice: 'send 16 kHz mono in real time' },
    ]);
  });

  test('that is right, at the pace of 24 kHz, has two explanations', () => {
    expect(hear(speechAt(16_000), { every: 40 / 3 }).found).toMatchObject([
      { finding: 'wrong-rate', isDoubtful: true, remark: expect.stringContaining('24 kHz, or 16 kHz sent') },
    ]);
  });

  test('at 8 kHz that comes at once is a remark', () => {
    expect(hear(speechAt(8_000, 'answer.wav'), { every: 0 }).found).toMatchObject([
      { finding: 'wrong-rate', isDoubtful: true, remark: expect.stringContaining('unusual voice') },
    ]);
  });

  test('at 8 kHz that clips is not judged by its sound: clipping makes a voice sound brighter', () => {
    const clipped = mapSamples(speechAt(8_000, 'answer.wav'), (sample) => sample * 12);
    const kinds = (every: number) => hear(clipped, { every }).found.map(({ finding }) => finding);
    expect(kinds(0)).toEqual(['clipping']);
    // But its pace still shows it.
    expect(kinds(40)).toEqual(expect.arrayContaining(['clipping', 'wrong-rate']));
  });

  test('is not judged if it is a tone, and says so', () => {
    expect(hear(tone(440, 10_000, 3))).toEqual({ found: [], unjudged: 'less than a second of speech' });
  });

  test('takes little more memory than its audio, however short its messages are', () => {
    const check = new VoiceCheck({ from: 'service', clock: { now: () => 0 } });
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const pcm = speechAt(16_000);
    check.push(pcm.subarray(0, 64_000));
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let at = 64_000; at < 124_000; at += 2) check.push(pcm.subarray(at, at + 2));
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(1_000_000);
    expect(check.hasSound).toBe(true);
  });

  test('may be silent or quiet', () => {
    expect(hear(Buffer.alloc(32_000 * 7)).found).toEqual([]);
    expect(hear(tone(440, 100, 7)).found).toEqual([]);
  });
});

test('the figures of judgements have one decimal, like their texts', () => {
  const wrong = mapSamples(speech, (sample, index) =>
    index === 35_513 ? sample - Math.sign(sample) * 8_231 : sample,
  );
  const check = new VoiceCheck({ from: 'device', clock: { now: () => 0 }, isThorough: true });
  check.push(wrong);
  check.end();
  const [click] = check.judgements();
  const value = click?.figure?.value ?? Number.NaN;
  expect(click?.text).toContain(`: ${value} × what is around it`);
  expect(value).toBe(Math.round(value * 10) / 10);
});

test('what is found before any audio has arrived was heard just now', () => {
  const check = new VoiceCheck({ from: 'device', clock: { now: () => 9_000 } });
  expect(check.addFinding('too-early')).toMatchObject([{ finding: 'too-early', atMs: 0, agoMs: 0 }]);
});
