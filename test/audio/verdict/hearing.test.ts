import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mapSamples } from '../../../src/audio/encode.ts';
import { gainOf } from '../../../src/audio/level.ts';
import type { VoiceFinding } from '../../../src/audio/verdict/voice-findings.ts';
import { speechAt } from '../../helpers/device-audio.ts';
import { hearReply, soundFaults } from '../../helpers/hear-reply.ts';

/** `npm run hearing` hears all voices and recordings of this machine, and prints tables; the suite hears a sample. */
const isWhole = process.env.HEARING === '1';
const text =
  'Please hold the line. Your appointment is on Thursday the fourteenth of May, at twenty past three. Would you like anything else?';

interface Voice {
  name: string;
  pcm: Buffer;
}

/** Runs a program that writes audio to standard output; undefined where it is missing or fails. */
function output(command: string, args: readonly string[], input?: string): Buffer | undefined {
  const { status, stdout } = spawnSync(command, args, { input, maxBuffer: 1e8 });
  return status === 0 && stdout.length > 0 ? stdout : undefined;
}

const toPcm = (from: readonly string[]) =>
  output('ffmpeg', [
    '-nostdin',
    '-loglevel',
    'error',
    ...from,
    '-ac',
    '1',
    '-ar',
    '16000',
    '-f',
    's16le',
    'pipe:1',
  ]);

/** What a synthesiser says. `{wav}` is where it writes. */
function synthesise(command: string, args: readonly string[], input?: string): Buffer | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-hearing-'));
  const wav = join(folder, 'said.wav');
  try {
    output(
      command,
      args.map((arg) => arg.replace('{wav}', wav)),
      input,
    );
    return existsSync(wav) ? toPcm(['-i', wav]) : undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function synthesised(): Voice[] {
  const espeak = ['en-us', 'en-gb-scotland', 'de', 'es', 'en+f3', 'en+m7'].map((voice) => ({
    name: `espeak-ng ${voice}`,
    pcm: synthesise('espeak-ng', ['-v', voice, '-w', '{wav}', text]),
  }));
  const flite = ['awb', 'rms', 'slt', 'kal16'].map((voice) => ({
    name: `flite ${voice}`,
    pcm: synthesise('flite', ['-voice', voice, '-t', text, '-o', '{wav}']),
  }));
  const festival = { name: 'festival', pcm: synthesise('text2wave', ['-o', '{wav}'], text) };
  return [...espeak, ...flite, festival].filter((one): one is Voice => one.pcm !== undefined);
}

/** Recordings of people, each at least three seconds long: shorter ones are joined. Tones and beeps are left out. */
function recordings(folder: string, extension: string, most: number): Voice[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(extension) && !/tone|beep|silence|Noise/.test(name))
    .sort();
  const voices: Voice[] = [];
  let joined: Buffer[] = [];
  for (const name of files) {
    if (voices.length >= most) break;
    const pcm = toPcm(['-i', join(folder, name)]);
    if (pcm === undefined) continue;
    joined.push(pcm);
    if (Buffer.concat(joined).length < 96_000) continue;
    voices.push({ name: `${extension} ${name}`, pcm: Buffer.concat(joined) });
    joined = [];
  }
  return voices;
}

const fixtures = ['question.wav', 'answer.wav', 'hello.wav', 'two-turns.wav'].map((name) => ({
  name,
  pcm: speechAt(16_000, name),
}));

function tenVoices(): Voice[] {
  const people = recordings('/usr/share/asterisk/sounds/en_US_f_Allison', '.g722', 2);
  return [...synthesised().filter((_, index) => index % 2 === 0 || index > 5), ...people].slice(0, 10);
}

/** What is found in a voice without a fault: it is the same beside each fault. */
const cleanKinds = new Map<string, VoiceFinding[]>();
function kindsWithoutFault({ name, db, pcm }: Voice & { db: number }, replies?: number): VoiceFinding[] {
  const key = `${name}, ${db} dB, ${replies} replies`;
  const kinds = cleanKinds.get(key) ?? kindsOf(hearReply(pcm, { replies }));
  cleanKinds.set(key, kinds);
  return kinds;
}

const voices = isWhole ? tenVoices() : fixtures.slice(0, 1);

describe('each fault is reported as its kind and no other', () => {
  test.each(soundFaults.map((one) => (isWhole ? one : { ...one, strengths: one.strengths.slice(-1) })))(
    '$kind',
    ({ kind, strengths, softerDb = [0], replies, isTurn }) => {
      // Without its tools the table would be of fewer.
      if (isWhole) expect(voices).toHaveLength(10);
      const levels = isWhole ? softerDb : softerDb.slice(0, 1);
      const said = levels.flatMap((db) =>
        voices.map(({ name, pcm }) => ({ name, db, pcm: softer(pcm, db) })),
      );
      const rows = strengths.flatMap((fault) =>
        said.map((voice) => {
          const { name, db, pcm } = voice;
          const clean = kindsWithoutFault(voice, replies);
          const user = isTurn ? speechAt(16_000) : undefined;
          const heard = kindsOf(hearReply(pcm, { fault, replies, user }));
          const others = heard.filter((one) => one !== kind && !clean.includes(one));
          return { fault, name, db, isNamed: heard.includes(kind), others: others.join() };
        }),
      );
      const missed = rows.filter(({ isNamed }) => !isNamed);
      const wrong = rows.filter(({ others }) => others !== '');
      if (isWhole)
        for (const [fault, db] of strengths.flatMap((one) => levels.map((db) => [one, db] as const))) {
          const own = rows.filter((row) => row.fault === fault && row.db === db);
          console.log(
            `${`${fault}${db === 0 ? '' : `, ${db} dB softer`}`.padEnd(36)} named ${own.filter(({ isNamed }) => isNamed).length} of ${own.length}, with others: ${own.filter(({ others }) => others !== '').length}`,
          );
        }
      expect(wrong).toEqual([]);
      // A weak fault may be hidden: a click by a loud sound, clipping in a voice that is quiet.
      expect(missed.length).toBeLessThanOrEqual(rows.length / 30);
    },
  );
});

test.each(['mulaw', 'alaw'])('%s that is found late explains its pace', (kind) => {
  const pcm = speechAt(16_000);
  const soft = softer(pcm, 36);
  const heard = hearReply(Buffer.concat([soft, pcm]), { fault: `format:as=${kind}` });
  expect(kindsOf(heard)).toEqual([kind]);
});

function softer(pcm: Buffer, db: number): Buffer {
  const gain = gainOf(-db);
  return db === 0 ? pcm : mapSamples(pcm, (sample) => sample * gain);
}

function kindsOf({ judgements }: ReturnType<typeof hearReply>): VoiceFinding[] {
  return judgements.map(({ kind }) => kind);
}

describe('a clean voice', () => {
  test.runIf(isWhole)(
    'is judged, and nothing is found, in 200 files that nobody here made',
    { timeout: 600_000 },
    () => {
      const sounds = '/usr/share/asterisk/sounds/en_US_f_Allison';
      const people = [
        ...recordings(sounds, '.g722', 120),
        ...recordings(sounds, '.wav', 70),
        ...recordings('/usr/share/sounds/alsa', '.wav', 10),
      ];
      const all = [...people, ...synthesised()];
      const found = all.map(({ name, pcm }) => ({ name, ...hearReply(pcm) }));
      const findings = found.flatMap(({ name, judgements }) =>
        judgements.filter(({ is }) => is === 'finding').map(({ kind, text: says }) => ({ name, kind, says })),
      );
      const remarks = found.flatMap(({ judgements }) => judgements.filter(({ is }) => is === 'remark'));
      console.log(`${people.length} of people, ${all.length - people.length} synthesised`);
      console.log(`findings: ${findings.length}; remarks: ${countText(remarks.map(({ kind }) => kind))}`);
      expect(found.filter(({ unjudged }) => unjudged !== undefined).map(({ name }) => name)).toEqual([]);
      expect(findings).toEqual([]);
      expect(people.length).toBeGreaterThanOrEqual(100);
      expect(all.length).toBeGreaterThanOrEqual(200);
    },
  );

  test.each(fixtures)('$name: nothing is found', ({ pcm }) => {
    expect(hearReply(pcm).judgements.filter(({ is }) => is === 'finding')).toEqual([]);
  });

  test.runIf(isWhole)('is judged for less than a hundredth of a core', () => {
    const pcm = Buffer.concat(Array.from({ length: 6 }, () => speechAt(16_000)));
    hearReply(pcm);
    const before = process.cpuUsage();
    hearReply(pcm, { user: speechAt(16_000) });
    const { user, system } = process.cpuUsage(before);
    const share = (user + system) / 1_000 / (pcm.length / 32);
    console.log(`judging takes ${(share * 100).toFixed(2)} % of a core, by processor time`);
    expect(share).toBeLessThan(0.01);
  });
});

function countText(kinds: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${kind} × ${count}`).join(', ') || 'none';
}
