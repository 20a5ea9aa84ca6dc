import { createDrawer } from '../../src/ui/drawer.tsx';
import type { FrameRequest, ScreenStart } from '../../src/ui/port.ts';
import { createScreenModel } from '../../src/ui/screen-model.ts';
import { frameRequest } from './screens.ts';

/** A screen without a terminal: what it would write is applied to lines of text. */
export function createScreen(start: ScreenStart) {
  const next = createScreenModel(start);
  const drawer = createDrawer(start.ascii);
  let lines: string[] = [];
  return {
    /** The lines after one more frame, and what the user asked for. */
    frame(given: Partial<FrameRequest>) {
      const request = frameRequest(given);
      const { bands, actions } = next(request);
      const patch = drawer.draw(bands, request, request.fresh);
      lines = apply(request.fresh ? [] : lines, patch);
      return { lines, actions, patch };
    },
  };
}

function apply(before: readonly string[], patch: string): string[] {
  const lines = [...before];
  for (const [, row = '', text = ''] of patch.matchAll(/\u001b\[(\d+);1H([^\u001b]*)/g)) {
    while (lines.length < Number(row)) lines.push('');
    lines[Number(row) - 1] = text;
  }
  return lines;
}
