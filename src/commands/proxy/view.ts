import { proxyStartLines, proxySubject } from '../../report/proxy-lines.ts';
import type { ContextOf } from '../command.ts';
import { createServeLines, type ServeContext, type ServeFacts, type ServeView } from '../serve/view.ts';
import type { proxySpec } from './spec.ts';

/** What the curl command of a proxy sends. */
export const proxyKey = { missing: 'export it first: the key of the service' };

/** The view of `serve`, of a proxy: on a screen, as lines, or as JSON. */
export async function openProxyView(
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
