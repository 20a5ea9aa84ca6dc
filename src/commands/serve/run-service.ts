import type { ServedEmulator } from '../../cluster/processes/messages.ts';
import { writeWhole } from '../../files/output-file.ts';
import type { CurlKey } from '../../report/curl.ts';
import type { EmulatorEvent } from '../../service/events.ts';
import type { CommandContext } from '../command.ts';
import { showPage } from '../page/open-browser.ts';
import type { ServePage } from './page.ts';
import { curlTrust } from './tls-settings.ts';
import type { ServeContext, ServeFacts, ServeView } from './view.ts';

type ServiceContext = Pick<
  CommandContext<'certOut' | 'cert' | 'readyFile' | 'open' | 'page'>,
  'settings' | 'io' | 'warn'
>;

export interface RunningParts<Service> {
  view: ServeView;
  page: ServePage | undefined;
  /** Why there is no page, unless `--no-page` turns it off or no browser can reach it. */
  whyNoPage?: string | undefined;
  key: CurlKey;
  /** Starts the service. `note` is shown to the user before anything else. */
  open(onEvent: (event: EmulatorEvent) => void): Promise<{ service: Service; note: string | undefined }>;
  /** Resolves when it is to end. */
  ended: Promise<void>;
}

/**
 * Runs a service (an emulator or a proxy) until `ended`: writes and shows its addresses. Returns it closed; the view is
 * closed too.
 */
export async function runService<Service extends ServedEmulator>(
  { settings, io, warn }: ServiceContext,
  { view, page, whyNoPage, key, open, ended }: RunningParts<Service>,
): Promise<Service> {
  try {
    // Print the first line only when the files exist: its reader may open them at once.
    const held: EmulatorEvent[] = [];
    let show = (event: EmulatorEvent): unknown => held.push(event);
    const { service, note } = await open((event) => void show(event));
    try {
      if (note !== undefined) await view.note(note);
      const { certificate } = service;
      if (settings.certOut !== undefined && certificate !== undefined)
        await writeWhole(settings.certOut, certificate, { giveUp: io.giveUp });
      if (settings.readyFile !== undefined) await writeReadyFile(settings.readyFile, service, io.giveUp);
      const trust = curlTrust(service, settings.certOut ?? settings.cert);
      page?.attach(service, { key, trust });
      const url = page?.url(service);
      view.attach(service, { trust, page: url });
      show = view.show;
      held.forEach(view.show);
      const why = settings.page === false ? '--no-page turns it off' : whyNoPage;
      if (settings.open) await showPage({ warn }, url, why);
      await Promise.race([ended, view.ended]);
    } finally {
      await service.close();
    }
    return service;
  } finally {
    await view.close();
  }
}

/** The view of a service: on a screen, as lines, or as JSON. */
export async function openServeView(context: ServeContext, facts: ServeFacts): Promise<ServeView> {
  const { io, output } = context;
  if (output !== 'tui' || io.terminal === undefined) {
    const { createServeLines } = await import('./view.ts');
    return createServeLines(context, facts);
  }
  const { createServeScreen } = await import('./screen.ts');
  return createServeScreen(context, { device: io.terminal, ...facts });
}

/** Writes the URLs, and with TLS the certificate, as JSON. */
async function writeReadyFile(
  path: string,
  { baseUrl, wsUrl, port, lan, certificate }: ServedEmulator,
  giveUp: AbortSignal,
): Promise<void> {
  const ready = {
    baseUrl,
    wsUrl,
    port,
    pid: process.pid,
    ...(lan.length === 0 ? {} : { lan }),
    ...(certificate === undefined ? {} : { certificate }),
  };
  await writeWhole(path, `${JSON.stringify(ready)}\n`, { giveUp });
}
