import { randomBytes } from 'node:crypto';
import { optionSpec } from '../../config/options.ts';
import { writeWhole } from '../../files/write-whole.ts';
import { isLoopbackHost } from '../../protocol/loopback.ts';
import type { ProxyOptions } from '../../proxy/options.ts';
import { checkProxy, createProxy, type ServiceProxy } from '../../proxy/proxy.ts';
import { type StartFacts, serviceLines } from '../../report/start-lines.ts';
import type { Style } from '../../report/style.ts';
import type { EmulatorEvent } from '../../service/events.ts';
import type { ContextOf } from '../command.ts';
import { readControlSecret } from '../control/secret.ts';
import { showPage } from '../page/open-browser.ts';
import { preparePage } from '../serve/page.ts';
import { writeReadyFile } from '../serve/ready-file.ts';
import { curlTrust, tlsSettings } from '../serve/tls-settings.ts';
import { createServeLines, type ServeContext, type ServeFacts, type ServeView } from '../serve/view.ts';
import { readProxySettings } from './proxy-settings.ts';
import { reachTarget } from './reach.ts';
import type { proxySpec } from './spec.ts';
import { proxyVerdict } from './verdict.ts';

const noPage = '--no-page leaves it out';

type ProxyContext = ContextOf<typeof proxySpec>;

export async function run(context: ProxyContext): Promise<number> {
  const { settings, io, signal } = context;
  const options = await proxyOptions(context);
  checkProxy(options);
  const given = await readControlSecret(context);
  await reachTarget(options.target, { clock: io.clock, signal });
  const ending = endOf(context);
  const isLoopback = isLoopbackHost(settings.proxyHost);
  const controlSecret = given ?? randomBytes(24).toString('base64url');
  const view = await openProxyView(context, options.target.baseUrl, {
    ...(isLoopback ? { forwarded: given === undefined ? 'refused' : 'secret' } : {}),
  });
  const page =
    settings.page === false
      ? undefined
      : await preparePage(optionSpec('baseUrl').default ?? '', { target: options.target });
  let proxy: ServiceProxy | undefined;
  try {
    // Print the first line only when the files exist: its reader may open them at once.
    const held: EmulatorEvent[] = [];
    let show = (event: EmulatorEvent): unknown => held.push(event);
    proxy = await createProxy({
      ...{ ...options, controlSecret, page: page?.create },
      onEvent: (event) => show(event),
    });
    try {
      if (given === undefined && !isLoopback)
        await view.note(`To control it from this machine: export VOICECTL_CONTROL_SECRET=${controlSecret}`);
      const { certificate } = proxy;
      if (settings.certOut !== undefined && certificate !== undefined)
        await writeWhole(settings.certOut, certificate, { giveUp: io.giveUp });
      if (settings.readyFile !== undefined) await writeReadyFile(settings.readyFile, proxy, io.giveUp);
      const trust = curlTrust(proxy, settings.certOut ?? settings.cert);
      page?.attach(proxy, { key: proxyKey, trust });
      const url = page?.url(proxy);
      view.attach(proxy, { trust, page: url });
      show = view.show;
      held.forEach(view.show);
      if (settings.open) await showPage(context, url, settings.page === false ? noPage : undefined);
      await Promise.race([ending, view.ended]);
    } finally {
      await proxy.close();
    }
  } finally {
    await view.close();
  }
  return proxyVerdict(proxy.judged(), settings.failOn);
}

/** Resolves when the user, the system or `--duration` ends it. */
function endOf({ settings: { proxyDuration }, io, signal }: ProxyContext): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (proxyDuration !== undefined) io.clock.after(proxyDuration, resolve, { background: true });
  });
}

/** The options of the proxy from the flags. Reads the files that they name. */
async function proxyOptions(context: ProxyContext): Promise<ProxyOptions> {
  const { settings, io, signal } = context;
  return {
    ...(await readProxySettings(context)),
    host: settings.proxyHost,
    port: settings.proxyPort,
    tls: await tlsSettings(settings, { stdin: io.stdin, signal }),
    allowHosts: settings.allowHost,
    allowOrigins: settings.allowOrigin,
    metrics: { allow: settings.metricsAllow, devices: settings.metricsDevices },
  };
}

/** What the curl command of a proxy sends. */
const proxyKey = { missing: 'export it first: the key of the service' };

/** The view of `serve`, of a proxy: on a screen, as lines, or as JSON. */
async function openProxyView(
  context: ContextOf<typeof proxySpec>,
  target: string,
  { forwarded }: Pick<ServeFacts, 'forwarded'>,
): Promise<ServeView> {
  const key = proxyKey;
  const facts: ServeFacts = {
    ...{ key, forwarded, head: { command: 'proxy', subject: proxySubject(target) } },
    linesOf: (event, running, style) => proxyStartLines(event, { target, key, forwarded, ...running }, style),
  };
  const { io, output, settings } = context;
  const shown = { ...context, settings: { ...settings, reply: '', scenario: undefined } } as ServeContext;
  if (output !== 'tui' || io.terminal === undefined) return createServeLines(shown, facts);
  const { createServeScreen } = await import('../serve/screen.ts');
  return createServeScreen(shown, { device: io.terminal, ...facts });
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
    `${style.strong(`voicectl ${event.version}`)} passes everything on to ${target}, and judges both sides`,
    ...serviceLines(event, facts),
  ];
}
