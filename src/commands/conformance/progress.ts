import type { HoldOptions } from '../../conformance/hold.ts';
import { escapeText } from '../../kernel/escape.ts';
import type { ConformanceContext } from './context.ts';

const clearLine = '\r\u001b[K';

/** Shows the current step as a changing line on standard error; nothing if that is no terminal. */
export function createProgress({ io, quiet, json }: ConformanceContext, total: number) {
  const isShown = io.stderr.isTTY && !quiet && !json;
  const columns = (io.stderr as { columns?: number }).columns ?? 80;
  let asked = 0;
  const show = (text: string) => {
    const line = escapeText(text).slice(0, columns - 1);
    if (isShown) void io.stderr.write(`${clearLine}${line}`).catch(() => {});
  };
  const step: NonNullable<HoldOptions['onStep']> = ({ id, title }, number) => {
    if (number === 1) asked += 1;
    const count = number === 1 ? `${asked}/${total}` : 'again';
    show(`${count}  ${id}  ${title}`);
  };
  return {
    step,
    wait: (ms: number) => show(`${asked}/${total}  waiting ${Math.ceil(ms / 1000)} s`),
    end() {
      if (isShown) void io.stderr.write(clearLine).catch(() => {});
    },
  };
}
