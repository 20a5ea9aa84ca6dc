import { type DrillResult, drill } from '../../conformance/drill/drill.ts';
import type { Situation } from '../../conformance/drill/situation.ts';
import type { ServiceAccess } from '../../conformance/drill/stage.ts';
import { writeWhole } from '../../files/write-whole.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { jsonLine } from '../../kernel/escape.ts';
import { isLoopbackHost } from '../../protocol/loopback.ts';
import { situationObject } from '../../report/drill-json.ts';
import { drillListLines } from '../../report/drill-lines.ts';
import { certificateNames } from '../../wire/server/certificate.ts';
import { reportRun } from '../run-reporter.ts';
import { tlsSettings } from '../serve/tls-settings.ts';
import { acceptedKeys } from '../service/emulator-settings.ts';
import { chooseSituations } from './choose.ts';
import type { DrillContext } from './context.ts';
import { commandDevice } from './device.ts';
import { createDrillLines, type DrillFacts, type DrillView } from './view.ts';

export async function run(context: DrillContext): Promise<number> {
  const { settings, io, json, style, args } = context;
  const situations = chooseSituations(settings.drill);
  if (settings.list) {
    const text = json
      ? situations.map((one) => jsonLine(situationObject(one))).join('')
      : `${drillListLines(situations, style).join('\n')}\n`;
    await io.stdout.write(text);
    return 0;
  }
  const name = args.length === 0 ? (settings.device ?? 'a device') : args.join(' ');
  return reportRun(context, { command: 'drill', subject: name, junit: settings.junit }, async (report) => {
    if (args.length === 0 && settings.parallel > 1)
      throw new VoicectlError('usage', '--parallel needs a command: only then can there be several devices');
    const access = await accessOf(context);
    const startedAt = io.clock.wall();
    const result = await hold(context, { situations, access, name });
    report(async () => {
      const { drillReport } = await import('../../report/verdict-report.ts');
      return drillReport({ subject: name, device: args, startedAt, result });
    });
    if (result.stopped !== undefined && result.exitCode === result.stopped.exitCode) throw result.stopped;
    return result.exitCode;
  });
}

async function hold(
  context: DrillContext,
  { situations, access, name }: { situations: readonly Situation[]; access: ServiceAccess; name: string },
): Promise<DrillResult> {
  const { settings, io } = context;
  const start = commandDevice(context, access.acceptKeys ?? []);
  const view = await openView(context, { name, situations, isCommand: start !== undefined, access });
  try {
    const result = await drill({
      situations,
      access,
      clock: io.clock,
      deviceTimeoutMs: settings.noticeWithin,
      parallel: settings.parallel,
      start,
      device: start === undefined ? settings.device : undefined,
      ...view.follow,
    });
    await view.finish(result);
    return result;
  } finally {
    await view.close();
  }
}

/** How the service listens and whom it accepts. A command gets a free port for each situation. */
async function accessOf(context: DrillContext): Promise<ServiceAccess> {
  const { settings, io, signal, args, origin } = context;
  const { host, port, allowHost, allowOrigin } = settings;
  const input = { stdin: io.stdin, signal };
  const acceptKeys = await acceptedKeys(settings, input);
  if (!isLoopbackHost(host) && acceptKeys.length === 0)
    throw new VoicectlError('host-exposed', `Refusing to listen on ${host} with any API key accepted`, {
      hint: 'Give the keys to accept with --accept-key or --accept-key-file.',
    });
  const wanted = await tlsSettings(settings, input);
  const { createCertificate } = await import('../../wire/server/self-signed.ts');
  const tls =
    wanted === true ? await createCertificate(certificateNames(host, allowHost)) : wanted || undefined;
  if (settings.certOut !== undefined && tls !== undefined)
    await writeWhole(settings.certOut, tls.cert, { giveUp: io.giveUp });
  const isFree = args.length > 0 && origin('port') !== 'flag';
  return {
    host,
    port: isFree ? 0 : port,
    acceptKeys,
    allowHosts: allowHost,
    allowOrigins: allowOrigin,
    tls,
  };
}

async function openView(context: DrillContext, facts: DrillFacts): Promise<DrillView> {
  const openOwn = () => openOwnView(context, facts);
  if (!context.settings.open) return openOwn();
  const { withDrillPage } = await import('./page.ts');
  return withDrillPage(context, facts, openOwn);
}

async function openOwnView(context: DrillContext, facts: DrillFacts): Promise<DrillView> {
  const { io, output } = context;
  if (output !== 'tui' || io.terminal === undefined) return createDrillLines(context, facts);
  const { createDrillScreen } = await import('./screen.ts');
  return createDrillScreen(context, { ...facts, device: io.terminal });
}
