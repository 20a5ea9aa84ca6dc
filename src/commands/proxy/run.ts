import { newSecret } from '../../kernel/new-secret.ts';
import { whenAborted } from '../../kernel/promises.ts';
import { isLoopbackHost } from '../../protocol/loopback.ts';
import type { ProxyOptions } from '../../proxy/options.ts';
import { checkProxy, createProxy } from '../../proxy/proxy.ts';
import { type StartFacts, serviceLines } from '../../report/start-lines.ts';
import type { Style } from '../../report/style.ts';
import type { EmulatorEvent } from '../../service/events.ts';
import type { ContextOf } from '../command.ts';
import { readControlSecret } from '../control/secret.ts';
import { preparePage } from '../serve/page.ts';
import { openServeView, runService } from '../serve/run-service.ts';
import { tlsSettings } from '../serve/tls-settings.ts';
import type { ServeContext, ServeFacts, ServeView } from '../serve/view.ts';
import { reachTarget, readProxySettings, requireLawful } from './proxy-settings.ts';

export async function run(context: ContextOf<'proxy'>): Promise<number> {
  const { settings, io, signal } = context;
  const options = await proxyOptions(context);
  checkProxy(options);
  const given = await readControlSecret(context);
  await reachTarget(options.target, { clock: io.clock, signal });
  const ended = endOfProxy(context);
  const isLoopback = isLoopbackHost(settings.proxyHost);
  const controlSecret = given ?? newSecret();
  const view = await openProxyView(context, options.target.baseUrl, {
    ...(isLoopback ? { forwarded: given === undefined ? 'refused' : 'secret' } : {}),
  });
  const page = settings.page === false ? undefined : await preparePage({ target: options.target });
  const note = `To control it from this machine: export VOICECTL_CONTROL_SECRET=${controlSecret}`;
  const proxy = await runService(context, {
    ...{ view, page, ended, key: proxyKey },
    open: async (onEvent) => ({
      service: await createProxy({ ...options, controlSecret, page: page?.create, onEvent }),
      note: given === undefined && !isLoopback ? note : undefined,
    }),
  });
  requireLawful(proxy.judged(), settings.failOn);
  return 0;
}

/** Resolves when the user, the system or `--duration` ends it. */
function endOfProxy({ settings: { proxyDuration }, io, signal }: ContextOf<'proxy'>): Promise<void> {
  const ended = whenAborted(signal);
  if (proxyDuration === undefined) return ended;
  const over = new Promise<void>((resolve) => {
    io.clock.after(proxyDuration, resolve, { background: true });
  });
  return Promise.race([ended, over]);
}

/** The options of the proxy from the flags. Reads the files that they name. */
async function proxyOptions(context: ContextOf<'proxy'>): Promise<ProxyOptions> {
  const { settings } = context;
  return {
    ...(await readProxySettings(context)),
    host: settings.proxyHost,
    port: settings.proxyPort,
    tls: await tlsSettings(settings, context),
    allowHosts: settings.allowHost,
    allowOrigins: settings.allowOrigin,
    metrics: { allow: settings.metricsAllow, devices: settings.metricsDevices },
  };
}

/** What the curl command of a proxy sends. */
const proxyKey = { missing: 'export it first, with the key of the service' };

/** The view of `serve`, of a proxy: on a screen, as lines, or as JSON. */
function openProxyView(
  context: ContextOf<'proxy'>,
  target: string,
  { forwarded }: Pick<ServeFacts, 'forwarded'>,
): Promise<ServeView> {
  const key = proxyKey;
  const facts: ServeFacts = {
    ...{ key, forwarded, head: { command: 'proxy', subject: proxySubject(target) } },
    linesOf: (event, running, style) => proxyStartLines(event, { target, key, forwarded, ...running }, style),
  };
  const settings = { ...context.settings, reply: '', scenario: undefined };
  return openServeView({ ...context, settings } as ServeContext, facts);
}

interface ProxyFacts extends Pick<StartFacts, 'key' | 'trust' | 'forwarded' | 'page'> {
  /** The address of the service. */
  target: string;
}

/** `to https://service.example` */
function proxySubject(target: string): string {
  return `to ${target}`;
}

/** The first lines of `proxy`: where devices connect, and a curl command that works. */
function proxyStartLines(
  event: EmulatorEvent & { type: 'listening' },
  { target, ...facts }: ProxyFacts,
  style: Style,
): string[] {
  return [
    `${style.strong(`voicectl ${event.version}`)} relays everything to ${target} and judges both sides`,
    ...serviceLines(event, facts),
  ];
}
