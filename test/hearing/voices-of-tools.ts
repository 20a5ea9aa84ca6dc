import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPcm } from '../../src/audio/wav/wav-source.ts';

/** Somebody who speaks: clips of 16 kHz s16le mono, each with speech in it. */
export interface Speaker {
  name: string;
  clips: Buffer[];
}

const sentences = [
  'What time does the train to Utrecht leave?',
  'Half past nine, from platform four.',
  'Yes.',
  'Could you please repeat that, a little slower?',
  'Of course. I have found seven results for you, and the first of them is in the city centre.',
  'No, thanks. That was all I wanted to know today.',
];

const programs: Record<string, (text: string, wav: string) => [string, string[]]> = {
  'espeak-ng Gene': (text, wav) => ['espeak-ng', ['-v', 'en-us+Gene', '-w', wav, text]],
  'espeak-ng Annie': (text, wav) => ['espeak-ng', ['-v', 'en-us+Annie', '-s', '150', '-w', wav, text]],
  'flite slt': (text, wav) => ['flite', ['-voice', 'slt', '-t', text, '-o', wav]],
  'flite rms': (text, wav) => ['flite', ['-voice', 'rms', '-t', text, '-o', wav]],
  'flite awb': (text, wav) => ['flite', ['-voice', 'awb', '-t', text, '-o', wav]],
};

/** Five synthesised voices. Needs `espeak-ng` and `flite`. */
export async function speakersOfTools(): Promise<Speaker[]> {
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-hearing-'));
  try {
    const speakers: Speaker[] = [];
    for (const [name, command] of Object.entries(programs)) {
      const clips: Buffer[] = [];
      for (const [index, sentence] of sentences.entries()) {
        const wav = join(folder, `${speakers.length}-${index}.wav`);
        const [program, args] = command(sentence, wav);
        execFileSync(program, args, { stdio: 'ignore' });
        clips.push(gateRoom(await loadPcm(wav)));
      }
      speakers.push({ name, clips });
    }
    return speakers;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The fixtures, in five pitches. */
export async function speakersOfFixtures(): Promise<Speaker[]> {
  const fixture = (name: string) => join(import.meta.dirname, '..', '..', 'fixtures', `${name}.wav`);
  const clips = await Promise.all(
    ['question', 'answer', 'hello', 'barge-in'].map((name) => loadPcm(fixture(name))),
  );
  return [0.84, 0.92, 1, 1.09, 1.19].map((factor) => ({
    name: `fixtures × ${factor}`,
    clips: clips.map((pcm) => gateRoom(changePitch(pcm, factor))),
  }));
}

const windowSamples = 80;
/** Around each loud window as many are kept on either side. */
const keptWindows = 4;

/** Takes the room away, as a noise gate in a studio does: the track is silent where nobody speaks. */
function gateRoom(pcm: Buffer): Buffer {
  const count = Math.floor(pcm.length / 2 / windowSamples);
  const levels = Array.from({ length: count }, (_, at) => {
    let power = 1;
    for (let index = at * windowSamples; index < (at + 1) * windowSamples; index += 1)
      power += pcm.readInt16LE(index * 2) ** 2;
    return 10 * Math.log10(power / windowSamples / 0x8000 ** 2);
  });
  const loudDb = levels.toSorted((a, b) => a - b)[Math.floor(0.95 * count)] ?? 0;
  const isSpeech = (level: number) => level > loudDb - 30;
  const gated = Buffer.from(pcm.subarray(0, count * windowSamples * 2));
  for (let at = 0; at < count; at += 1) {
    const isKept = levels.slice(Math.max(0, at - keptWindows), at + keptWindows + 1).some(isSpeech);
    if (!isKept) gated.fill(0, at * windowSamples * 2, (at + 1) * windowSamples * 2);
  }
  const audible = (at: number) => gated.readInt16LE(at) !== 0;
  let [from, to] = [0, gated.length];
  while (from < to && !audible(from)) from += 2;
  while (to > from && !audible(to - 2)) to -= 2;
  return gated.subarray(from, to);
}

function changePitch(pcm: Buffer, factor: number): Buffer {
  const samples = Math.floor(pcm.length / 2 / factor) - 1;
  const changed = Buffer.alloc(samples * 2);
  for (let at = 0; at < samples; at += 1) {
    const place = at * factor;
    const before = Math.floor(place);
    const [left, right] = [pcm.readInt16LE(before * 2), pcm.readInt16LE(before * 2 + 2)];
    changed.writeInt16LE(Math.round(left + (right - left) * (place - before)), at * 2);
  }
  return changed;
}
