import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { createJudge } from '../../../src/commands/stream/judge-command.ts';
import { runInProcess } from '../../helpers/in-process.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';

const folder = mkdtempSync(join(tmpdir(), 'voicectl-judge-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => void vi.unstubAllEnvs());

const reply = Buffer.alloc(6_400, 7);
const never = new AbortController().signal;
const node = (script: string, ...args: string[]) => [process.execPath, '-e', script, ...args];
const judge = (command: string[], withinMs?: number) =>
  createJudge(command, { folder, withinMs, env: { ...process.env, VOICECTL_API_KEY: 'canary' } }).run(
    reply,
    never,
  );

describe('a command judges a reply', () => {
  test('that comes as WAV on its standard input', async () => {
    const script = `let n = []; process.stdin.on('data', d => n.push(d)).on('end', () => {
      const wav = Buffer.concat(n); console.log(wav.toString('latin1', 0, 4), wav.readUInt32LE(24), wav.length); })`;
    expect(await judge(node(script))).toEqual({ ok: true, says: 'RIFF 16000 6444' });
  });

  test('that comes as a file where it asks for one; the file is gone afterwards', async () => {
    const script =
      "const p = process.argv[1]; console.log(p.endsWith('/reply.wav'), require('fs').statSync(p).size)";
    expect(await judge(node(script, '{wav}'))).toEqual({ ok: true, says: 'true 6444' });
    expect(readdirSync(tmpdir()).filter((name) => /^voicectl-judge-(?!test)/.test(name))).toEqual([]);
  });

  test('and says why it cannot if there is no folder for the file', async () => {
    vi.stubEnv('TMPDIR', join(folder, 'missing'));
    const says = expect.stringMatching(/^the reply could not be written to a temporary file: ENOENT/);
    expect(await judge(node('', '{wav}'))).toEqual({ ok: false, says });
  });

  test('and does not accept it with another exit code, saying why', async () => {
    const script = "console.log('heard: good\\u001b[31m bye'); process.exit(3)";
    expect(await judge(node(script))).toEqual({
      ok: false,
      says: 'it exited with 3: heard: good\\u001b[31m bye',
    });
  });

  test('without a shell, and without our keys', async () => {
    const script = "console.log(process.argv[1], process.env.VOICECTL_API_KEY ?? 'no key')";
    expect(await judge(node(script, '$(echo x); *'))).toEqual({ ok: true, says: '$(echo x); * no key' });
  });

  test('and is named by its beginning if it is long', () => {
    const { text } = createJudge(['accept', 'x'.repeat(1_000_000)], { folder, env: {} });
    expect(text).toMatch(/^accept x{100,}…$/);
    expect(text.length).toBeLessThan(250);
  });

  test('from the folder of the file', async () => {
    writeFileSync(join(folder, 'accept.mjs'), `#!${process.execPath}\nconsole.log('accepted')\n`, {
      mode: 0o700,
    });
    expect(await judge(['./accept.mjs'])).toEqual({ ok: true, says: 'accepted' });
    expect(await judge(['./missing'])).toMatchObject({
      ok: false,
      says: expect.stringContaining('it cannot run'),
    });
  });

  test('within its time limit, with everything it started', async () => {
    const script =
      "require('child_process').spawn('sleep', ['100'], { stdio: 'inherit' }); setInterval(() => {}, 1000)";
    expect(await judge(node(script), 300)).toEqual({ ok: false, says: 'it did not end within 300 ms' });
  });

  test('and processes that it leaves behind with its output are not awaited', async () => {
    const script = "require('child_process').spawn('sleep', ['100'], { stdio: 'inherit' }).unref()";
    expect(await judge(node(script))).toEqual({ ok: true, says: 'it exited with 0' });
  });

  test('that reads nothing', async () => {
    expect(await judge(['true'])).toEqual({ ok: true, says: 'it exited with 0' });
  });
});

describe('a conversation file', () => {
  const converse = (script: string, reply: string) => {
    const file = join(folder, 'talk.yaml');
    const turn = { say: 'hello.wav', judge: { run: node(script), within: '20s' } };
    writeFileSync(file, JSON.stringify({ turns: [turn] }));
    const args = ['stream', '--expect-file', file, '--local', '--reply', `file:${reply}`];
    return runInProcess(args, { clock: createManualClock() });
  };

  test('passes where the command accepts what the AI said', async () => {
    const script = `let n = 0; process.stdin.on('data', d => n += d.length).on('end', () => {
      console.log(Math.round((n - 44) / 32000)); process.exit(n > 64000 ? 0 : 1) })`;
    const { code, stdout } = await converse(script, 'question.wav');
    expect(stdout).toMatch(/turn 1: judge +pass: .*accepts the reply, measured [34]/);
    expect(code).toBe(0);
  });

  test('fails if it does not', async () => {
    const { code, stdout, stderr } = await converse(
      "console.log('no such word'); process.exit(1)",
      'barge-in.wav',
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(/turn 1: judge +FAIL: .*measured it exited with 1: no such word/);
    expect(stdout).toContain('failed (judge-failed)');
    expect(stderr).toContain('no such word');
  });
});
