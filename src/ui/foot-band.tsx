import type { Band } from './bands.ts';
import type { Browser } from './browser.ts';
import { Foot } from './components/Foot.tsx';
import { hintsFor } from './hints.ts';

/** The last line of every screen. */
export function footBand(model: Browser, columns: number): Band {
  const hints = hintsFor(model).map(({ key, text }) => `${key} ${text}`);
  return {
    name: 'foot',
    lines: 1,
    on: [model.overlay, model.notice, hints.join()],
    draw: () => <Foot model={model} width={columns} />,
  };
}
