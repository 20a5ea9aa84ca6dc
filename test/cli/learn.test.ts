import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readDialect } from '../../src/config/dialect-file.ts';
import { createEmulator } from '../../src/emulator/emulator.ts';
import { clearLine } from '../../src/report/style.ts';
import { hasten, hastyClock } from '../helpers/hasten.ts';
import { runInProcess, startInProcess } from '../helpers/in-process.ts';
import { startMiniService } from '../helpers/mini-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'voicectl-learn-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string) => join(folder, name);

const key = 'canary-8a2e51d7';
/** They do not wait longer than necessary for silence. */
const learn = ['learn', '--wait', '1s', '--base-url'];

/** A service whose issuer nobody would guess, asked over the network with a key. */
async function ask(...flags: string[]) {
  await using emulator = await createEmulator({
    acceptKeys: [key],
    clock: hastyClock,
    dialect: { token: { issuer: 'nobody' } },
  });
  const ended = await runInProcess([...learn, emulator.baseUrl, ...flags], {
    env: { VOICECTL_API_KEY: key },
    clock: hastyClock,
  });
  return { ...ended, journal: emulator.control.journal.read({}, 1_000) };
}

describe('voicectl learn', () => {
  test('writes a dialect with the evidence above each value, and reports that the emulator behaves the same', async () => {
    const ended = await ask('--out', file('learned.yaml'));
    expect([ended.code, ended.stdout]).toEqual([0, '']);
    expect(ended.stderr).toContain('An emulator with this dialect gives the same answers.');
    const text = readFileSync(file('learned.yaml'), 'utf8');
    expect(text).toContain('  # iss of E1, E2, E3');
    expect(text).toMatch(/# - rateLimit.window: not probed: costs 2 token requests \(--level standard\)/);
    expect(readDialect(text, 'learned.yaml').token?.issuer).toBe('nobody');
    expect(text + ended.stderr).not.toContain(key);
    expect(text).not.toMatch(/eyJ[\w-]+\.eyJ/);
  });

  test('counts the steps of each of its two runs on a terminal, and clears them before it reports', async () => {
    await using emulator = await createEmulator({ acceptKeys: [key], clock: hastyClock });
    const args = [...learn, emulator.baseUrl, '--out', file('shown.yaml')];
    const { stderr } = await runInProcess(args, {
      env: { VOICECTL_API_KEY: key },
      ...{ clock: hastyClock, isTTY: true },
    });
    const counts = [...stderr.matchAll(/(\d+)\/(\d+) {2}/g)].map(
      ([, used, of]) => Number(used) <= Number(of),
    );
    expect(counts.length).toBeGreaterThan(20);
    expect(counts).not.toContain(false);
    expect(stderr).toContain(`${clearLine}An emulator with this dialect gives the same answers.`);
  });

  test('--diff exits with 0 if nothing differs, and with 1 and a line for each setting that does', async () => {
    writeFileSync(file('same.yaml'), 'token: { issuer: nobody }\n');
    writeFileSync(file('other.yaml'), 'token: { issuer: somebody }\n');
    const same = await ask('--diff', file('same.yaml'));
    expect([same.code, same.stdout]).toEqual([0, `The service does what ${file('same.yaml')} says.\n`]);
    const other = await ask('--diff', file('other.yaml'));
    expect(other.code).toBe(1);
    expect(other.stdout.trim().split('\n')).toEqual([
      expect.stringContaining(`token.issuer: ${file('other.yaml')} says "somebody", the service "nobody"`),
    ]);
  });

  test('--merge keeps what was not probed, and replaces what was', async () => {
    writeFileSync(file('base.yaml'), 'token: { issuer: somebody }\nrateLimit: { window: sliding }\n');
    const { stdout } = await ask('--merge', file('base.yaml'));
    const dialect = readDialect(stdout, 'merged');
    expect([dialect.token?.issuer, dialect.rateLimit?.window]).toEqual(['nobody', 'sliding']);
    // What was not asked is marked so.
    expect(stdout).toMatch(/# kept: not probed: costs 2 token requests.*\n\s+window: sliding/);
  });

  test('what no dialect can express is listed: fields that vary, tokens that live longer, which is a difference too', async () => {
    let free = 100;
    await using service = await startMiniService({
      claims: (claims) => ({ ...claims, exp: Number(claims.iat) + 90 }),
      connected({ say }) {
        free -= 7;
        say({ type: 'service_voice_connected', free });
      },
    });
    const asked = (...flags: string[]) =>
      runInProcess([...learn, service.baseUrl, ...flags], {
        env: { VOICECTL_API_KEY: key },
        clock: hastyClock,
      });
    const { stdout } = await asked();
    expect(stdout).toContain('# - tokens live 90 s (exp − iat), but the specification says 60 s');
    expect(stdout).toContain('# - fields of the confirmation that differ: free');
    writeFileSync(file('short.yaml'), 'token: { issuer: mini }\n');
    const compared = await asked('--diff', file('short.yaml'));
    expect(compared.code).toBe(1);
    expect(compared.stdout).toContain(`token lifetime: ${file('short.yaml')} says 60, the service 90`);
  });

  test('the head of the file counts what was asked', async () => {
    const { stdout } = await ask('--max-requests', '4');
    expect(stdout).toMatch(/^# from 3 requests and 1 connection\. /m);
  });

  test('--dry-run prints the plan and sends nothing', async () => {
    const { code, stdout, journal } = await ask('--dry-run');
    expect([code, journal.map(({ type }) => type)]).toEqual([0, ['listening']]);
    expect(stdout).toContain('Nothing was sent.');
  });

  test('--json is one object: each setting with its value, or why it is unknown', async () => {
    const { stdout } = await ask('--json');
    const { settings } = JSON.parse(stdout) as {
      settings: { path: string; value?: unknown; unknown?: string }[];
    };
    expect(settings.find(({ path }) => path === 'token.issuer')).toMatchObject({ value: 'nobody' });
    expect(settings.find(({ path }) => path === 'token.secret')).toMatchObject({
      unknown: expect.any(String),
    });
  });

  test('a refused key is reported with exit code 3, and no dialect is written', async () => {
    await using emulator = await createEmulator({ acceptKeys: ['another'], clock: hastyClock });
    const ended = await runInProcess([...learn, emulator.baseUrl, '--out', file('none.yaml')], {
      env: { VOICECTL_API_KEY: key },
      clock: hastyClock,
    });
    expect(ended.code).toBe(3);
    expect(() => readFileSync(file('none.yaml'))).toThrow();
  });

  test.each([
    ['token-missing', 'No answer from the service contains a usable token'],
    ['connected-missing', 'The service confirmed no stream'],
    ['token-expired', 'The service confirmed no stream'],
  ])('a service with %s has no dialect, and agrees with none', async (fault, why) => {
    await using emulator = await createEmulator({ faults: [fault], clock: hastyClock });
    writeFileSync(file('agreed.yaml'), '{}\n');
    for (const flags of [
      ['--out', file(`${fault}.yaml`)],
      ['--diff', file('agreed.yaml')],
    ]) {
      const ended = await runInProcess([...learn, emulator.baseUrl, ...flags], { clock: hastyClock });
      expect(ended).toMatchObject({ code: 6, stdout: '', stderr: expect.stringContaining(why) });
    }
    expect(existsSync(file(`${fault}.yaml`))).toBe(false);
  });

  describe('from a service that is gone after three tokens', () => {
    const askThree = async (...flags: string[]) => {
      let count = 0;
      await using service = await startMiniService({
        intercept({ fields }, response) {
          if (fields.deviceId !== undefined) count += 1;
          if (count > 3) response.destroy();
          return count > 3;
        },
      });
      return await runInProcess([...learn, service.baseUrl, ...flags], { clock: hastyClock });
    };
    const whyStopped = '# Stopped: ';

    test('writes what it learned before', async () => {
      const ended = await askThree('--out', file('part.yaml'));
      expect(ended).toMatchObject({ code: 4, stdout: '' });
      const text = readFileSync(file('part.yaml'), 'utf8');
      expect(text).toContain(whyStopped);
      expect(readDialect(text, 'part.yaml').token?.issuer).toBe('mini');
    });

    test('prints it if --out already holds a dialect, which it keeps', async () => {
      writeFileSync(file('whole.yaml'), 'token: { issuer: somebody }\n');
      const ended = await askThree('--out', file('whole.yaml'));
      expect(ended.code).toBe(4);
      expect(ended.stdout).toContain(whyStopped);
      expect(ended.stderr).toContain(`${file('whole.yaml')} is kept`);
      expect(readFileSync(file('whole.yaml'), 'utf8')).toBe('token: { issuer: somebody }\n');
    });

    test('updates a dialect that it merges into, and loses nothing of it', async () => {
      writeFileSync(file('own.yaml'), 'rateLimit: { window: sliding }\n');
      const ended = await askThree('--merge', file('own.yaml'), '--out', file('own.yaml'));
      expect(ended).toMatchObject({ code: 4, stdout: '' });
      const { token, rateLimit } = readDialect(readFileSync(file('own.yaml'), 'utf8'), 'own.yaml');
      expect([token?.issuer, rateLimit?.window]).toEqual(['mini', 'sliding']);
    });

    test('does not say that the service does all that a dialect says', async () => {
      await askThree('--out', file('agrees.yaml'));
      const { code, stdout } = await askThree('--diff', file('agrees.yaml'));
      const said = `No setting that was probed before the run stopped differs from ${file('agrees.yaml')}.\n`;
      expect([code, stdout]).toEqual([4, said]);
    });
  });

  test('says nothing about a comparison that a signal ends, and exits as the signal says', async () => {
    await using emulator = await createEmulator({ acceptKeys: [key], clock: hastyClock });
    const program = startInProcess([...learn, emulator.baseUrl], {
      env: { VOICECTL_API_KEY: key },
      clock: hastyClock,
      // The dialect is written before it is compared.
      onOutput: (stream) => stream === 'stdout' && program.signal('SIGINT'),
    });
    const { code, stdout, stderr } = await hasten(hastyClock, program.ended);
    expect([code, readDialect(stdout, 'printed').token?.issuer]).toEqual([130, 'voicectl-emulator']);
    expect(stderr).not.toContain('An emulator with this dialect');
  });

  test('a dialect that cannot be read is refused before any request', async () => {
    writeFileSync(file('wrong.yaml'), 'tokens: {}\n');
    const { code, stderr, journal } = await ask('--diff', file('wrong.yaml'));
    expect([code, journal.map(({ type }) => type)]).toEqual([2, ['listening']]);
    expect(stderr).toContain('wrong.yaml:1:1: tokens');
  });

  test('invisible characters are escaped in the file, and mean the same', async () => {
    const issuer = 'a\u202eb\u2028c\u0085d\u2066e\ufeff ##[error]f ::warning::g';
    await using service = await startMiniService({
      claims: (claims) => ({ ...claims, iss: issuer }),
      connected: ({ say }) => say({ type: 'service_voice_connected', 'x\u202ey': 1 }),
    });
    const ended = await runInProcess([...learn, service.baseUrl, '--out', file('hidden.yaml')], {
      env: { VOICECTL_API_KEY: key },
      clock: hastyClock,
    });
    expect(ended.code).toBe(0);
    const text = readFileSync(file('hidden.yaml'), 'utf8');
    expect(text).not.toMatch(/[\u0080-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]|##\[|^\s*::/m);
    const { token, stream } = readDialect(text, 'hidden.yaml');
    expect(token?.issuer).toBe(issuer);
    expect(JSON.stringify(stream)).toContain('x\u202ey');
  });

  test('no key or token is in a dialect or a line, even if the service repeats them', async () => {
    await using service = await startMiniService({
      headers: ({ fields }) => ({ 'Content-Type': 'application/json', 'X-Echo': String(fields.apiKey) }),
      claims: (claims, { fields }) => ({ ...claims, iss: fields.apiKey, key: fields.apiKey }),
      problem: (problem, { fields }) =>
        problem && { ...problem, message: `${problem.message} of ${String(fields.apiKey)}` },
      connected: ({ say, token }) => say({ type: 'service_voice_connected', key, token }),
    });
    const flags = [...learn, service.baseUrl];
    const options = { env: { VOICECTL_API_KEY: key }, clock: hastyClock };
    for (const ended of [
      await runInProcess([...flags, '--level', 'standard'], options),
      await runInProcess([...flags, '--json'], options),
    ]) {
      expect(ended.code).toBe(0);
      expect(ended.stdout + ended.stderr).not.toContain(key);
      expect(ended.stdout + ended.stderr).not.toMatch(/eyJ[\w-]+\.[\w-]+\.[\w-]+/);
    }
  });
});
