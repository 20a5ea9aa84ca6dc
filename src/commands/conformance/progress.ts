import { cutText, escapeText } from '../../kernel/escape.ts';
import { clearLine } from '../../report/style.ts';
import type { VerdictNews } from '../../ui/verdict-model.ts';
import type { CommandContext } from '../command.ts';

/** Shows progress as a changing line on standard error; nothing if that is not a terminal. */
export function createProgress({ io, quiet, json }: CommandContext<never>) {
  const isShown = io.stderr.isTTY && !quiet && !json;
  let count = '';
  const write = (text: string) => {
    if (isShown) void io.stderr.write(`${clearLine}${text}`).catch(() => {});
  };
  return {
    show(news: VerdictNews) {
      if (news.type === 'used') {
        const [first] = news.amounts;
        if (first !== undefined) count = `${first.used}/${first.of}  `;
      } else if (news.type === 'doing') {
        const time = news.forMs === undefined ? '' : ` ${Math.ceil(news.forMs / 1000)} s`;
        write(cutText(escapeText(`${count}${news.text}${time}`), (io.stderr.columns ?? 80) - 1));
      }
    },
    /** Makes room for other lines. */
    clear: () => write(''),
  };
}
