import type { Readable } from 'node:stream';
import type { Device, DeviceAddress, StartDevice } from '../../conformance/drill/situation.ts';
import { type CommandOptions, cannotRun, startCommand } from '../../kernel/command-process.ts';
import { redacted } from '../../kernel/redact.ts';
import { withoutTokens } from '../../protocol/first-message.ts';
import { childEnvironment, writeTrustFiles } from '../child/environment.ts';
import type { ContextOf } from '../command.ts';

/** Starts the command of the user as a device; undefined if there is none. */
export function commandDevice(
  { args, io, settings }: ContextOf<'drill'>,
  acceptKeys: readonly string[],
): StartDevice | undefined {
  if (args.length === 0) return undefined;
  return async ({ baseUrl, wsUrl, certificate }: DeviceAddress) => {
    const own = childEnvironment({ baseUrl, wsUrl, acceptKeys, device: settings.device });
    const trust = certificate === undefined ? undefined : await writeTrustFiles(certificate, io.env);
    const conceal = (line: string) =>
      withoutTokens(line.replaceAll(own.VOICECTL_API_KEY, redacted), redacted);
    try {
      const device = await startDevice(args, { cwd: io.cwd, env: { ...io.env, ...own, ...trust?.env } });
      return {
        ...device,
        output: () => device.output().map(conceal),
        async kill() {
          await device.kill();
          await trust?.remove();
        },
      };
    } catch (thrown) {
      await trust?.remove();
      throw thrown;
    }
  };
}

/** Starts a command without input, and keeps the end of its output. Throws `usage` if it cannot run. */
async function startDevice(
  [command = '', ...args]: readonly string[],
  options: Pick<CommandOptions, 'cwd' | 'env'>,
): Promise<Device> {
  const running = startCommand(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const { stdout, stderr } = running.child;
  const output = keepLastLines(...[stdout, stderr].filter((stream) => stream !== null));
  await running.started.catch((cause) => {
    throw cannotRun(command, cause);
  });
  return {
    ended: running.ended.then(({ code, signal }) => code ?? signal ?? 0),
    stop: () => running.signal('SIGTERM'),
    kill: () => running.end(),
    output,
  };
}

/** Number of chunks that are kept; a chunk has at most 64 KiB. */
const keptChunks = 2;
const keptLines = 20;

/** Keeps the last lines of the output of a command, however long it is. */
function keepLastLines(...streams: readonly Readable[]): () => string[] {
  const kept: Buffer[] = [];
  for (const stream of streams) {
    stream.on('data', (chunk: Buffer) => {
      kept.push(chunk);
      if (kept.length > keptChunks) kept.shift();
    });
  }
  return () =>
    Buffer.concat(kept)
      .toString()
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '')
      .slice(-keptLines);
}
