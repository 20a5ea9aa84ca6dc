import { expect, test } from 'vitest';
import { createBoundary } from '../../../src/commands/mcp/boundary.ts';
import type { ChildCommand, PrintedLine } from '../../../src/commands/mcp/child-command.ts';
import { callTool } from '../../../src/commands/mcp/run.ts';
import { createServers } from '../../../src/commands/mcp/servers.ts';
import type { ToolContext } from '../../../src/commands/mcp/tool.ts';

const signal = new AbortController().signal;

/** A command that never ends by itself. */
function endless(): ChildCommand {
  let end = (_code: number) => {};
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  return {
    ended,
    errors: () => '',
    async end() {
      end(0);
      await ended;
    },
  };
}

test('a client has at most eight emulators and proxies, including those that are starting', async () => {
  const servers = createServers();
  const listens: ((line: PrintedLine) => void)[] = [];
  const started = Array.from({ length: 8 }, () =>
    servers.start(
      'emulator',
      (onLine) => {
        listens.push(onLine);
        return endless();
      },
      signal,
    ),
  );
  const cwd = import.meta.dirname;
  const boundary = createBoundary({ cwd, allowTargets: [], folder: undefined });
  const context = { io: { cwd, env: {} }, servers, boundary } as unknown as ToolContext;
  const another = () => callTool('start', {}, context, { signal, progress() {} });
  await expect(another()).rejects.toThrow('8 emulators and proxies are already running');
  for (const listen of listens) listen({ type: 'listening', baseUrl: 'http://127.0.0.1:1' });
  const [first] = await Promise.all(started);
  await expect(another()).rejects.toThrow('8 emulators and proxies are already running');
  expect(await servers.stop(first?.id ?? '')).toBe(0);
  expect(servers.ids).toHaveLength(7);
});
