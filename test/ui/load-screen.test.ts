import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import type { LoadNews } from '../../src/ui/load-model.ts';
import { createScreen } from './draw.ts';
import { liveLoad, loadNews, loadStart } from './screens.ts';

const size = { columns: 100, rows: 30 };
const text = (lines: readonly string[]) => lines.join('\n');

function open(events: readonly LoadNews[] = loadNews(), given = size) {
  const screen = createScreen(loadStart);
  screen.frame({ ...given, events: [events[0]!], fresh: true });
  screen.frame({ ...given, events: events.slice(1), now: 12_000 });
  return {
    press: (input: string) => screen.frame({ ...given, now: 12_000, input }),
    show: (news: readonly LoadNews[], now = 12_000) => screen.frame({ ...given, events: news, now }),
  };
}

describe('the screen of a load run', () => {
  const shown = text(open().press('').lines);

  test('counts the sessions that are open, started, refused and cut', () => {
    const counts = '80 open · 200 started · 120 done · 2 refused · 1 cut · 1 failed otherwise · 1 dropped';
    expect(shown).toContain(counts);
    expect(shown).toMatch(/arrivals .* 200 of 200 +seconds at most .* 12 of 60/);
  });

  test('shows the percentiles of each time, and marks those that are lower bounds', () => {
    expect(shown).toMatch(/^ {12} +p50 +p95 +p99 +max {2}p95 of each second/m);
    expect(shown).toMatch(/^ first-audio +400 ms +800 ms +2000 ms +≥4800 ms/m);
    expect(shown).toMatch(/^ sent late +0\.80 ms +1\.60 ms/m);
  });

  test('shows their course over time, with a gap where nothing was measured', () => {
    expect(shown).toMatch(/^ first-audio .*ms {2}▂▃▃▄ ▅▆▆▇ ██$/m);
    expect(shown).toMatch(/^ open +80 +▂▄▆█████████$/m);
  });

  test('joins seconds if there are more than columns, and keeps the highest value', () => {
    const long = Array.from(
      { length: 2_000 },
      (_, second): LoadNews => ({ type: 'second', live: liveLoad(second) }),
    );
    const lines = text(open([loadNews()[0]!, ...long]).press('').lines);
    expect(lines).toContain('p95 of each 4 s');
    expect(lines).toMatch(/^ first-audio .*ms {2}▁.*█$/m);
  });

  test('shows each threshold with its value beside the limit', () => {
    expect(shown).toMatch(/✓ first-audio:p95<800ms {2}640 ms +━+─+ of 800 ms/);
    expect(shown).toMatch(/✗ failed<1% +2\.00 % +━+ of 1\.00 %/);
    expect(shown).toMatch(/· back:max<2s +no value yet +─+ of 2000 ms/);
  });

  test('lists what failed, escaped, and enter shows it in full', () => {
    const screen = open();
    expect(shown).toMatch(/failure +The token endpoint refused the key \(403\): no .*\[31m你好/);
    expect(text(screen.press('g\r').lines)).toContain('── failure ──');
  });

  test('ends with the verdict, and its clock stops', () => {
    const screen = open();
    screen.show([{ type: 'ended', ok: false, text: 'not valid', reasons: ['frames were sent 31 ms late'] }]);
    const { lines } = screen.show([], 60_000);
    expect(lines[0]).toContain('✗ not valid  00:12.0');
    expect(text(lines)).toMatch(/verdict +frames were sent 31 ms late/);
  });

  test('q ends the run', () => {
    const screen = open();
    expect(screen.press('q').actions).toEqual([{ type: 'quit' }]);
    expect(screen.press('').lines[0]).toContain('ending');
  });

  test('counts down to a start in the future', () => {
    const screen = createScreen(loadStart);
    const planned: LoadNews = { type: 'planned', sessions: 5, startsInMs: 30_000, longestMs: 1_000 };
    const { lines } = screen.frame({ ...size, events: [planned], fresh: true });
    expect(lines[0]).toContain('◌ waiting  00:30.0');
  });
});

describe.each([
  [20, 5],
  [40, 10],
  [60, 15],
  [80, 24],
  [120, 40],
  [300, 12],
])('at %i × %i', (columns, rows) => {
  test('the screen is as high as the terminal, and no line is wider than it', () => {
    for (const input of ['', '?', '\r', '/broke']) {
      const screen = createScreen(loadStart);
      const { lines } = screen.frame({ columns, rows, events: loadNews(), now: 12_000, input, fresh: true });
      expect(lines.length).toBeLessThanOrEqual(rows);
      if (columns >= 40)
        expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(columns);
    }
  });

  test('with --ascii there are only ASCII characters', () => {
    const screen = createScreen({ ...loadStart, ascii: true });
    const { lines } = screen.frame({ columns, rows, events: loadNews(), now: 12_000, fresh: true });
    expect(text(lines)).toMatch(/^[\u0020-\u007e\n]*$/);
  });
});
