import cluster from 'node:cluster';
import type { ProcessesOptions } from '../../cluster/processes/first-process.ts';
import type { ServedEmulator } from '../../cluster/processes/messages.ts';
import type { Settings } from '../../config/options.ts';
import { createEmulator } from '../../emulator/emulator.ts';
import type { EmulatorOptions } from '../../emulator/options.ts';
import { replayedFolder } from '../../emulator/replies/registry.ts';
import { newSecret } from '../../kernel/new-secret.ts';
import { whenAborted } from '../../kernel/promises.ts';
import { isLoopbackHost } from '../../protocol/loopback.ts';
import type { CurlKey } from '../../report/curl.ts';
import type { TlsCertificate } from '../../wire/server/certificate.ts';
import { prepareTls } from '../../wire/server/prepare-tls.ts';
import type { ContextOf } from '../command.ts';
import { readControlSecret } from '../control/secret.ts';
import { readEmulatorSettings } from '../service/emulator-settings.ts';
import { preparePage } from './page.ts';
import { openServeView, runService } from './run-service.ts';
import { tlsSettings } from './tls-settings.ts';

/** `command`: the one that the user gave, if it is not `serve`. */
export async function run(context: ContextOf<'serve'>, command?: string): Promise<number> {
  const { settings, signal } = context;
  const { processes } = settings;
  if (processes !== undefined && cluster.isWorker) {
    const { runEmulatorProcess } = await import('../../cluster/processes/emulator-process.ts');
    const { host, port } = settings;
    await runEmulatorProcess({
      signal,
      open: async (start) =>
        openEmulator(settings, {
          ...(await readEmulatorSettings(context)),
          ...{ ...start, host, port },
          metrics: { refused: onePort },
        }),
    });
    return 0;
  }

  const options = await readEmulatorSettings(context);
  const tls = await tlsSettings(settings, context);
  const given = await readControlSecret(context);
  // Behind a balancer every request seems to come from this machine.
  const trustsThisMachine = isLoopbackHost(settings.host) && settings.shared === undefined;
  const view = await openServeView(context, {
    command,
    key: curlKey(settings),
    ...(trustsThisMachine ? { forwarded: given === undefined ? 'refused' : 'secret' } : {}),
  });
  // Any of several processes may answer a request, and none of them knows everything that a page shows.
  const hasPage = settings.page !== false && processes === undefined;
  const page = hasPage ? await preparePage({ replayed: replayedFolder(settings.reply) }) : undefined;
  await runService(context, {
    ...{
      view,
      page,
      whyNoPage: processes === undefined ? undefined : 'with --processes there is none',
      key: curlKey(settings),
      ended: whenAborted(signal),
    },
    async open(onEvent) {
      const { emulator, controlSecret } =
        processes === undefined
          ? await openEmulator(settings, {
              ...{ ...options, tls, onEvent },
              host: settings.host,
              port: settings.port,
              controlSecret: given,
              page: page?.create,
              metrics: { allow: settings.metricsAllow, devices: settings.metricsDevices },
            })
          : await openSeveral(settings, { processes, tls, controlSecret: given, onEvent });
      const from = settings.shared === undefined ? ' from this machine' : '';
      const note = `To control it${from}: export VOICECTL_CONTROL_SECRET=${controlSecret}`;
      return { service: emulator, note: given === undefined && !trustsThisMachine ? note : undefined };
    },
  });
  return 0;
}

const onePort =
  'The processes share this port, and each has only its own metrics: start the emulators separately, with --shared';

/** One certificate for all processes: otherwise each would make its own. */
async function openSeveral(
  { host, allowHost }: Settings<'host' | 'allowHost'>,
  { tls, ...options }: Omit<ProcessesOptions, 'tls'> & { tls: boolean | TlsCertificate },
) {
  const { openProcesses } = await import('../../cluster/processes/first-process.ts');
  const certificate = await prepareTls(tls, { host, allowHosts: allowHost });
  return openProcesses({ ...options, tls: certificate ?? false });
}

/** The key in the printed curl command. Without configured keys an emulator accepts any key. */
function curlKey({ acceptKey, acceptKeyFile }: Settings<'acceptKey' | 'acceptKeyFile'>): CurlKey {
  if (acceptKeyFile !== undefined && acceptKeyFile !== '-') return { file: acceptKeyFile };
  if (acceptKey.length === 0 && acceptKeyFile === undefined) return { open: 'any-key' };
  return { missing: 'export it first, with a key that serve accepts' };
}

/** Starts the emulator, alone or as one of several, and says with which secret it is controlled. */
async function openEmulator(
  { shared, sharedPrefix }: Settings<'shared' | 'sharedPrefix'>,
  options: EmulatorOptions,
): Promise<{ emulator: ServedEmulator; controlSecret: string }> {
  if (shared === undefined) {
    const controlSecret = options.controlSecret ?? newSecret();
    return { emulator: await createEmulator({ ...options, controlSecret }), controlSecret };
  }
  const { createSharedEmulator } = await import('../../cluster/shared-emulator.ts');
  const { controlSecret, ...known } = options;
  const emulator = await createSharedEmulator(controlSecret === undefined ? known : options, {
    url: shared,
    prefix: sharedPrefix,
  });
  return { emulator, controlSecret: emulator.controlSecret };
}
