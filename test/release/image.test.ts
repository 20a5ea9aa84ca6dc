import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { platforms } from '../../release/platforms.js';

const root = join(import.meta.dirname, '..', '..');
/** The tests cannot build an image: they check the Dockerfile. */
const lines = readFileSync(join(root, 'Dockerfile'), 'utf8')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
const at = (word: string) => last.findIndex((line) => line.startsWith(`${word} `));
const argsOf = (line: string) => JSON.parse(line.slice(line.indexOf('['))) as string[];

describe('the image', () => {
  test('runs the executable as a user other than root', () => {
    expect(argsOf(last[at('ENTRYPOINT')] ?? '')).toEqual(['/usr/local/bin/voicectl']);
    expect(last[at('COPY')]).toBe('COPY --from=build /voicectl /usr/local/bin/voicectl');
    expect(last[at('USER')]).toBe('USER voicectl');
    expect(last[0]).not.toContain('node');
    // Unpacked by the user that runs it.
    expect(last.indexOf('RUN voicectl --version --verbose')).toBeGreaterThan(at('USER'));
  });

  test('is run in the examples by the user who unpacked its files: another may not read them', () => {
    const [, user] = last.join('\n').match(/useradd .*--uid (\d+) voicectl/) ?? [];
    const examples = join(root, 'examples');
    const users = readdirSync(examples, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.yaml'))
      .flatMap((name) => [...readFileSync(join(examples, name), 'utf8').matchAll(/runAsUser: (.*)/g)])
      .map(([, one]) => one);
    expect(users.length).toBeGreaterThan(0);
    expect(new Set(users)).toEqual(new Set([user]));
  });

  test('is built from files that exist, for platforms that exist', () => {
    for (const line of lines.filter((one) => /^COPY package/.test(one)))
      for (const name of line.split(' ').slice(1, -1)) expect(existsSync(join(root, name))).toBe(true);
    const names = lines.join('\n').matchAll(/platform=([\w-]+)/g);
    for (const [, name = ''] of names) expect(platforms).toHaveProperty([name]);
    const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
    for (const name of ['.git', 'node_modules', 'dist', 'executables', '.env*'])
      expect(ignored).toContain(name);
  });

  test.skipIf(process.platform === 'win32')('is healthy while something listens on its port', async () => {
    const check = argsOf(last[at('HEALTHCHECK')] ?? '');
    const [command = '', ...args] = check;
    const isHealthy = async (port: number) => {
      const child = spawn(command, args, {
        env: { ...process.env, VOICECTL_PORT: String(port) },
        stdio: 'ignore',
      });
      const [code] = await once(child, 'exit');
      return code === 0;
    };
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    expect(await isHealthy(port)).toBe(true);
    server.close();
    await once(server, 'close');
    expect(await isHealthy(port)).toBe(false);
  });
});
