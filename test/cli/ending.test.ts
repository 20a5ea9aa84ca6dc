import { existsSync } from 'node:fs';
import { afterAll, describe, test } from 'vitest';
import { type Ending, endings, type Request, requests, type Scene } from '../chaos/endings.ts';
import { findMarked } from '../helpers/marked-processes.ts';
import { sandboxFor } from '../helpers/voicectl.ts';

/** `npm run endings` ends each row of the table in every way, and prints the results. */
const isWhole = process.env.ENDINGS === 'all';

const table = endings.flatMap((one) =>
  requests
    .filter(([request]) => (isWhole ? request !== '--timeout' || !one.isUnlimited : one.by.includes(request)))
    .map((request) => ({ ...one, request: request[0], usual: request[1], says: request[2] })),
);

const results: (Omit<Ending, 'code'> & { request: Request; code: number; tookMs: number })[] = [];
afterAll(() => {
  if (!isWhole) return;
  const cell = (name: string, request: Request) => {
    const found = results.find((one) => one.name === name && one.request === request);
    if (found === undefined) return '–';
    // Rows that failed or left something running are not here: Vitest reports them.
    const took = request === '--timeout' ? '' : `, ${(found.tookMs / 1_000).toFixed(2)} s`;
    return `${found.code}${took}`;
  };
  const head = ['command', 'moment', 'row', ...requests.map(([request]) => request)];
  const rows = endings.map(({ of, moment, name }) => [
    of,
    moment,
    name,
    ...requests.map(([request]) => cell(name, request)),
  ]);
  for (const row of [head, head.map(() => '---'), ...rows]) process.stdout.write(`| ${row.join(' | ')} |\n`);
});

describe.concurrent('within a short time', () => {
  test.for(table)(
    '$request ends $name: what was found is written, and nothing is left',
    async (one, context) => {
      const { expect } = context;
      const sandbox = sandboxFor(context);
      const id = `${one.name}, ${one.request}`.replace(/\W+/g, '-');
      const scene: Scene = {
        ...{ sandbox, expect, env: { CASE: id } },
        onTestFinished: context.onTestFinished,
        limit: one.request === '--timeout' ? ['--timeout', '5s'] : [],
        there: (name) => expect.poll(() => existsSync(sandbox.path(name))).toBe(true),
      };
      const running = await one.start(scene);
      const askedAt = performance.now();
      if (one.request !== '--timeout') running.signal(one.request);
      const { code, stdout } = await running.ended;
      const tookMs = Math.round(performance.now() - askedAt);
      expect(code, running.stderr).toBe(one.code?.(one.usual) ?? one.usual);
      const read = (name: string) => (existsSync(sandbox.path(name)) ? sandbox.read(name) : '');
      one.found?.({ stdout, junit: read('j.xml'), html: read('page.html') }, one.says, scene);
      if (process.platform === 'linux')
        await expect.poll(() => findMarked(`CASE=${id}`), { interval: 100 }).toEqual([]);
      results.push({ ...one, code, tookMs });
    },
  );
});

describe.skipIf(process.platform !== 'linux').concurrent('SIGKILL of', () => {
  test.for(endings.filter(({ killed }) => killed === 'sample' || (isWhole && killed === 'whole')))(
    '$name leaves nothing running that it started',
    async (one, context) => {
      const { expect } = context;
      const sandbox = sandboxFor(context);
      const env = { CASE: `killed-${one.name}`.replace(/\W+/g, '-') };
      const there = (name: string) => expect.poll(() => existsSync(sandbox.path(name))).toBe(true);
      const running = await one.start({
        expect,
        onTestFinished: context.onTestFinished,
        sandbox,
        env,
        limit: [],
        there,
      });
      running.signal('SIGKILL');
      await running.ended;
      await expect.poll(() => findMarked(`CASE=${env.CASE}`), { interval: 100 }).toEqual([]);
    },
  );

  test.for([
    ['drill', ['drill', '--situation', 'D1'], 'exec env -i'],
    ['exec', ['exec'], 'env -i'],
    ['drill with a new session', ['drill', '--situation', 'D1'], 'setsid env -i'],
  ] as const)(
    '%s also ends a process that has cleared its environment',
    async ([name, args, run], context) => {
      const { expect } = context;
      const sandbox = sandboxFor(context);
      const keptOnly = `CASE=${process.pid}-${name.replaceAll(' ', '-')}`;
      const running = sandbox.start([...args, '--', 'sh', '-c', `: >runs; ${run} ${keptOnly} sleep 100; :`]);
      await expect.poll(() => existsSync(sandbox.path('runs'))).toBe(true);
      await expect.poll(() => findMarked(keptOnly), { interval: 100 }).toHaveLength(1);
      running.signal('SIGKILL');
      await running.ended;
      await expect.poll(() => findMarked(keptOnly), { interval: 100 }).toEqual([]);
    },
  );
});
