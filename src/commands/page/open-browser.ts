import { VoicectlError } from '../../kernel/errors.ts';
import type { CommandContext } from '../command.ts';

/** Throws `input-output` if there is none to start. */
async function openBrowser(url: string): Promise<void> {
  const { default: open } = await import('open');
  try {
    const child = await open(url);
    child.unref();
  } catch (cause) {
    throw new VoicectlError('input-output', 'Cannot start a browser', { cause });
  }
}

/**
 * Shows a page in the browser, for `--open`. Without one, or if no browser starts, a warning says so: no reason to stop. Resolves
 * with whether a browser was started. `whyNone`: why there is no page.
 */
export async function showPage(
  { warn }: Pick<CommandContext<never>, 'warn'>,
  url: string | undefined,
  whyNone = 'a browser reaches it on loopback only',
): Promise<boolean> {
  if (url === undefined) {
    await warn(`There is no page to open: ${whyNone}`);
    return false;
  }
  try {
    await openBrowser(url);
    return true;
  } catch (thrown) {
    await warn(`${(thrown as Error).message}. The page is ${url}`);
    return false;
  }
}
