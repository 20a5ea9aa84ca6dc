import { defaultDevice } from '../../config/target.ts';
import { checkProxy, createProxy } from '../../proxy/proxy.ts';
import { emulatorLines } from '../../report/emulator-lines.ts';
import { createNotePrinter } from '../../report/printer.ts';
import { plainStyle } from '../../report/style.ts';
import type { ContextOf } from '../command.ts';
import { reachTarget, readProxySettings, requireLawful } from '../proxy/proxy-settings.ts';
import { runCommand } from './run-command.ts';

/**
 * Runs the command with a proxy to a service in place of an emulator, and reports each broken rule. Returns the status of the
 * command, or 1 if that is 0 and `--fail-on` applies.
 */
export async function runThroughProxy(context: ContextOf<'exec'>): Promise<number> {
  const { settings, io, signal, verbose, quiet, warn } = context;
  const options = await readProxySettings(context);
  checkProxy(options);
  await reachTarget(options.target, { clock: io.clock, signal });
  const notes = createNotePrinter(warn);
  // A note is escaped whole, even its colours.
  const proxy = await createProxy({
    ...options,
    tls: settings.tls ?? false,
    allowHosts: settings.allowHost,
    allowOrigins: settings.allowOrigin,
    onEvent(event) {
      const isNote = !quiet && (verbose || event.type === 'remark');
      if (isNote || event.type === 'violation')
        for (const line of emulatorLines(event, plainStyle)) notes.print(line);
    },
  });
  let status = 0;
  try {
    const { baseUrl, wsUrl, certificate } = proxy;
    const device = settings.device ?? defaultDevice();
    const env = { VOICECTL_BASE_URL: baseUrl, VOICECTL_WS_URL: wsUrl, VOICECTL_DEVICE: device };
    status = await runCommand(context, env, certificate);
  } finally {
    await proxy.close();
    await notes.flush();
  }
  if (status === 0) requireLawful(proxy.judged(), settings.failOn);
  return status;
}
