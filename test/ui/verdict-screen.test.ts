import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import type { VerdictNews } from '../../src/ui/verdict-model.ts';
import { createScreen } from './draw.ts';
import { checkStart, verdictNews } from './screens.ts';

const size = { columns: 100, rows: 30 };
const text = (lines: readonly string[]) => lines.join('\n');

function open(events: readonly VerdictNews[] = verdictNews()) {
  const screen = createScreen(checkStart);
  screen.frame({ ...size, events, now: 9_000, fresh: true });
  return {
    press: (input: string) => screen.frame({ ...size, now: 9_000, input }),
    show: (news: readonly VerdictNews[], now = 9_000) => screen.frame({ ...size, events: news, now }),
  };
}

describe('the screen of a check', () => {
  const shown = text(open().press('').lines);

  test('shows what it is asking now, and counts down a wait', () => {
    const screen = open();
    expect(screen.show([], 20_000).lines[1]).toBe(' now waiting 17 s');
    expect(screen.show([{ type: 'doing', text: 'E6 cut JSON' }]).lines[1]).toBe(' now E6 cut JSON');
    expect(screen.show([{ type: 'tick' }], 60_000).lines[0]).toContain('asking  01:00.0');
  });

  test('shows how much of the plan is used', () => {
    expect(shown).toMatch(/steps .* 12 of 22 +requests .* 9 of 14 +connections .* 3 of 8/);
  });

  test('counts the verdicts, and the rules that wait for theirs', () => {
    const counts = '14 pass · 2 fail · 1 warn · 1 observed · 1 unknown · 1 skipped · 10 waiting';
    expect(shown).toContain(counts);
  });

  test('keeps the rule with the latest verdict in view, with what was seen', () => {
    const [judged] = verdictNews().filter((news) => news.type === 'judged');
    const { lines } = open().show([judged!]);
    expect(text(lines)).toMatch(/✓ R1 +pass +rule number 1 +as specified/);
    expect(text(lines)).toContain('── R1: rule number 1 ──');
  });

  test('adds a broken rule that was not planned, as a drill finds it', () => {
    const screen = open();
    const item = {
      id: 'D11-odd-D2',
      title: 'presents the token',
      verdict: 'fail',
      message: 'audio came first',
    } as const;
    const { lines } = screen.show([
      { type: 'judged', item: { ...item, isFinal: true }, lines: [], body: {} },
    ]);
    expect(text(lines)).toContain('14 pass · 3 fail');
    expect(text(lines)).toContain('── D11-odd-D2: presents the token ──');
    screen.show([{ type: 'ended', ok: false, text: 'done, failed' }]);
  });

  test('marks a fail that is not confirmed yet', () => {
    expect(shown).toMatch(/✗ R11 +fail\? +rule number 11 +exp is 61 s after iat/);
    expect(text(open().press('g').lines)).toMatch(/✗ R4 +fail +Cache-Control is "max-age=60": a proxy/);
  });

  test('ends with the most severe verdict in view, and its clock stops', () => {
    const screen = open();
    screen.show([{ type: 'ended', ok: false, text: 'done, failed' }]);
    const { lines } = screen.show([], 60_000);
    expect(lines[0]).toContain('✗ done, failed  00:09.0');
    expect(text(lines)).toContain('── R4: a rule whose title is as long as any can be ──');
  });
});

describe('keys of a check', () => {
  test('enter shows a rule in full, y copies it', () => {
    const screen = open();
    expect(text(screen.press('g\r').lines)).toMatch(
      /── R1: rule number 1 .*\n {2}The specification says so\./,
    );
    expect(screen.press('\u001by').actions).toEqual([
      { type: 'copy', text: '{"type":"rule","id":"R1","verdict":"pass"}', what: 'the event' },
    ]);
  });

  test('a filter shows only the rules with a verdict', () => {
    const { lines } = open().press('/kind:fail\r');
    expect(text(lines)).toContain('── 2 of 30 with kind:fail');
    expect(text(lines)).not.toMatch(/R1 +pass/);
  });

  test('q ends it', () => {
    const screen = open();
    expect(screen.press('q').actions).toEqual([{ type: 'quit' }]);
    expect(screen.press('').lines[0]).toContain('ending');
  });
});

describe.each([
  [20, 5],
  [40, 10],
  [60, 15],
  [80, 24],
  [132, 45],
  [300, 12],
])('at %i × %i', (columns, rows) => {
  test('the screen is as high as the terminal, and no line is wider than it', () => {
    for (const input of ['', '?', '\r', '/kind:fail']) {
      const screen = createScreen(checkStart);
      const { lines } = screen.frame({
        columns,
        rows,
        events: verdictNews(),
        now: 9_000,
        input,
        fresh: true,
      });
      expect(lines.length).toBeLessThanOrEqual(rows);
      if (columns >= 40)
        expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(columns);
    }
  });

  test('with --ascii there are only ASCII characters', () => {
    const screen = createScreen({ ...checkStart, ascii: true });
    const { lines } = screen.frame({ columns, rows, events: verdictNews(), now: 9_000, fresh: true });
    expect(text(lines)).toMatch(/^[\u0020-\u007e\n]*$/);
  });
});
