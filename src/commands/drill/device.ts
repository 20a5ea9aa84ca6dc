import type { DeviceAddress, StartDevice } from '../../conformance/drill/device.ts';
import { redacted } from '../../kernel/redact.ts';
import { childEnvironment } from '../child/environment.ts';
import { startGroup } from '../child/process-group.ts';
import { writeTrustFiles } from '../child/trust-files.ts';
import type { ContextOf } from '../command.ts';
import type { drillSpec } from './spec.ts';

/** Without anything in the form of a JWT. */
function withoutTokens(line: string): string {
  return line.replace(/[\w.-]+/g, (word) => {
    const start = word.indexOf('eyJ');
    const parts = start < 0 ? [] : word.slice(start).split('.');
    return parts.length < 3 ? word : word.slice(0, start) + redacted;
  });
}

/** Starts the command of the user as a device; undefined if there is none. */
export function commandDevice(
  { args, io, settings }: ContextOf<typeof drillSpec>,
  acceptKeys: readonly string[],
): StartDevice | undefined {
  if (args.length === 0) return undefined;
  return async ({ baseUrl, wsUrl, certificate }: DeviceAddress) => {
    const own = childEnvironment({ baseUrl, wsUrl, acceptKeys, device: settings.device });
    const trust = certificate === undefined ? undefined : await writeTrustFiles(certificate, io.env);
    const conceal = (line: string) => withoutTokens(line.replaceAll(own.VOICECTL_API_KEY, redacted));
    try {
      const device = await startGroup(args, { cwd: io.cwd, env: { ...io.env, ...own, ...trust?.env } });
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
