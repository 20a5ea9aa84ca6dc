import { optionSpec } from '../../config/options.ts';
import { newSecret } from '../../kernel/new-secret.ts';
import type { PageFacts } from '../../page/server/create-page.ts';
import { pagePath } from '../../protocol/control-paths.ts';
import { isLoopbackHost } from '../../protocol/loopback.ts';
import { serviceUrl } from '../../protocol/paths.ts';
import { type StartFacts, serviceFacts } from '../../report/start-lines.ts';
import type { CreatePage } from '../../service/control/page-handler.ts';
import type { Addresses } from '../../wire/addresses.ts';

/** The page of an emulator that is about to start. */
export interface ServePage {
  create: CreatePage;
  /** Connects the page to its emulator. */
  attach(emulator: Addresses, facts: Pick<StartFacts, 'key' | 'trust'>): void;
  /** Its address for a browser, with the secret of this start; undefined if no browser can reach it. */
  url(emulator: Addresses): string | undefined;
}

export interface ServePageOptions {
  /** The service behind a proxy. */
  target?: Addresses;
  /** The folder of the recording that the emulator replays. */
  replayed?: string | undefined;
}

export async function preparePage({ target, replayed }: ServePageOptions): Promise<ServePage> {
  const { createPage } = await import('../../page/server/create-page.ts');
  const token = newSecret();
  let facts: PageFacts = { baseUrl: '', wsUrl: '', isDefault: true, curl: '' };
  return {
    create: createPage(() => facts, { token, replayed }),
    attach(emulator, { key, trust }) {
      const { baseUrl, wsUrl } = emulator;
      const { curl } = serviceFacts(emulator, { key, trust });
      const known = { baseUrl, wsUrl, curl, isDefault: baseUrl === optionSpec('baseUrl').default };
      facts = target === undefined ? known : { ...known, target };
    },
    url({ baseUrl }) {
      const isReachable = isLoopbackHost(new URL(baseUrl).hostname);
      return isReachable ? `${serviceUrl(baseUrl, pagePath)}#${token}` : undefined;
    },
  };
}
