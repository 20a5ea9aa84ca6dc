import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadModule } from '../../../src/emulator/replies/module.ts';
import { speakWith } from '../../helpers/fake-voice.ts';
import { silence, speech } from '../../helpers/pcm.ts';

const folder = mkdtempSync(join(tmpdir(), 'voicectl-module-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
function writeModule(source: string): string {
  count += 1;
  const path = join(folder, `reply-${count}.mjs`);
  writeFileSync(path, source);
  return path;
}

test('a module is given a voice for each stream, and hears its audio', async () => {
  const createReply = await loadModule(
    writeModule(`let streams = 0;
      export function createReply(voice) {
        const stream = ++streams;
        return { hear: (pcm) => voice.send(Buffer.concat([Buffer.of(stream, 0), pcm])), close: () => voice.status('listening') };
      }`),
  );
  const [first, second] = [speakWith(createReply), speakWith(createReply)];
  first.reply.hear(Buffer.of(7, 0));
  second.reply.hear(Buffer.of(8, 0));
  first.reply.close?.();
  expect(first.sent).toEqual([Buffer.of(1, 0, 7, 0)]);
  expect(second.sent).toEqual([Buffer.of(2, 0, 8, 0)]);
  expect(first.log).toEqual(['listening']);
});

test('a module may give PCM as any array of bytes or samples', async () => {
  const { sent, said } = speakWith(
    await loadModule(
      writeModule(`export function createReply(voice) {
        voice.send(new Uint8Array([1, 0]));
        const pcm = [new Int16Array([2])];
        voice.say({ read: () => pcm.pop() });
        return { hear() {} };
      }`),
    ),
  );
  expect([...sent, ...said]).toEqual([Buffer.of(1, 0), Buffer.of(2, 0)]);
});

test('a module that says something else is told what to return', async () => {
  const { reply, log } = speakWith(
    await loadModule(
      writeModule('export const createReply = (voice) => ({ hear: (pcm) => voice.say(pcm) })'),
    ),
  );
  reply.hear(speech(20));
  expect(log).toEqual(['failed: A reply must have a read method, like the result of playPcm']);
});

test('a module gets named events, and learns when everything is said and when the stream ends', async () => {
  const { reply, log } = speakWith(
    await loadModule(
      writeModule(`export function createReply(voice) {
        const tell = (what) => voice.fail(what);
        return { hear() {}, event: (name) => tell('event ' + name), said: () => tell('said'), close: () => tell('close') };
      }`),
    ),
  );
  reply.event?.('door');
  reply.said?.();
  reply.close?.();
  expect(log).toEqual(['failed: event door', 'failed: said', 'failed: close']);
});

test.each([
  ['when it is made', `export function createReply() { throw new Error('oops'); }`],
  ['when it hears', `export const createReply = () => ({ hear() { throw new Error('oops'); } });`],
])('a reply that throws %s is reported once, and hears nothing more', async (_when, source) => {
  const { reply, log } = speakWith(await loadModule(writeModule(source)));
  reply.hear(Buffer.alloc(2));
  reply.hear(Buffer.alloc(2));
  reply.said?.();
  reply.close?.();
  expect(log).toEqual(['failed: oops']);
});

test('a reply that has failed is closed with its stream, and what that throws is not reported', async () => {
  const { reply, log } = speakWith(
    await loadModule(
      writeModule(`export const createReply = (voice) => ({
        hear() { throw new Error('oops'); },
        event() {},
        said() {},
        close() { voice.text('closed'); throw new Error('again'); },
      });`),
    ),
  );
  reply.hear(Buffer.alloc(2));
  expect([reply.event, reply.said]).toEqual([undefined, undefined]);
  reply.close?.();
  expect(log).toEqual(['failed: oops', 'closed']);
});

test.each([
  ['hears', `export const createReply = () => ({ async hear() { throw new Error('oops'); } });`],
  [
    'is heard',
    `export const createReply = (voice) => ({ hear() { voice.say({ read() { throw new Error('oops'); } }); } });`,
  ],
])('a reply that fails while it %s is reported once, and ends nothing else', async (_when, source) => {
  const { reply, log } = speakWith(await loadModule(writeModule(source)));
  reply.hear(Buffer.alloc(2));
  await new Promise((resolve) => setImmediate(resolve));
  reply.hear(Buffer.alloc(2));
  expect(log.filter((line) => line !== 'say')).toEqual(['failed: oops']);
});

test.each([
  ['is not there', () => join(folder, 'missing.mjs'), /Cannot load the reply module/],
  ['has an error in it', () => writeModule('export function ('), /Cannot load the reply module/],
  ['throws as it loads', () => writeModule(`throw new Error('at once');`), /at once/],
  ['has no createReply', () => writeModule('export const other = 1;'), /does not export createReply/],
])('a module that %s is refused at start', async (_why, path, message) => {
  await expect(loadModule(path())).rejects.toMatchObject({
    code: 'bad-input',
    message: expect.stringMatching(message),
  });
});

test('the example replies with beeps, one more each turn, and then with what was said', async () => {
  const { reply, said, hear, finishSpeaking, log } = speakWith(
    await loadModule(join(import.meta.dirname, '..', '..', '..', 'examples', 'dialogue.js')),
  );
  for (let turn = 1; turn <= 4; turn += 1) {
    hear(speech(600));
    hear(silence(1_000));
    finishSpeaking();
  }
  reply.close?.();
  expect(said.slice(0, 3).map(({ length }) => length)).toEqual([9_600, 19_200, 28_800]);
  expect(said[3]?.length).toBeGreaterThan(600 * 32);
  expect(log).not.toContainEqual(expect.stringMatching(/failed/));
});
