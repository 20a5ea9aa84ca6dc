import type { ChildProcess } from 'node:child_process';
import { VoicectlError } from '../../kernel/errors.ts';
import type { CommandContext } from '../command.ts';

/** Starts a program that shows an address in a browser. Throws `input-output` if there is none. */
async function openBrowser(url: string): Promise<ChildProcess> {
  const { default: open } = await import('open');
  try {
    const child = await open(url);
    child.unref();
    return child;
  } catch (cause) {
    throw new VoicectlError('input-output', 'Cannot start a browser', { cause });
  }
}

/**
 * Shows a page in the browser, for `--open`. Without one, or if no browser starts, it only warns. `whyNone`:
 * why there is no page. The signal is aborted as soon as it is clear that no browser shows the page.
 */
export async function showPage(
  { warn }: Pick<CommandContext<never>, 'warn'>,
  url: string | undefined,
  whyNone = 'a browser can reach it only on loopback',
): Promise<AbortSignal> {
  const given = new AbortController();
  const giveUp = async (why: string) => {
    given.abort();
    await warn(why);
  };
  if (url === undefined) await giveUp(`There is no page to open: ${whyNone}`);
  else {
    const failed = (why: string) => giveUp(`${why}. The page is ${url}`);
    try {
      const child = await openBrowser(url);
      child.once('error', ({ message }) => void failed(`Cannot start a browser: ${message}`));
      child.once('exit', (code) => {
        if (code !== 0 && code !== null) void failed('No browser could be started');
      });
    } catch (thrown) {
      await failed((thrown as Error).message);
    }
  }
  return given.signal;
}
