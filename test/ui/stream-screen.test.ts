import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import type { SessionEvent } from '../../src/session/events.ts';
import { createScreen } from './draw.ts';
import { audio, conversation, seenTurns, streamStart, wall } from './screens.ts';

const text = (lines: readonly string[]) => lines.join('\n');

function open(given: Partial<typeof streamStart> = {}) {
  const screen = createScreen({ ...streamStart, ...given });
  screen.frame({ events: conversation(), now: 12_000, fresh: true });
  return {
    /** The screen after these keys. */
    press: (input: string, now = 12_000) => screen.frame({ input, now }),
    show: (events: readonly unknown[], now = 12_000) => screen.frame({ events, now }),
    ...screen,
  };
}

describe('the screen of a session', () => {
  test('shows who, where, the state and the time', () => {
    const [head, steps] = open().frame({ now: 12_000 }).lines;
    expect(head).toMatch(/voicectl stream {3}hello.wav as kitchen-1 to wss:\/\/.*● live {2}00:12\.0$/);
    expect(steps).toContain('authorising ✓ › live › draining');
  });

  test('counts down the lifetime of the token and the window, from its claims and headers', () => {
    const screen = open();
    expect(text(screen.frame({ now: 12_000 }).lines)).toMatch(/valid [━╸─]+ +48 s of 60 s/);
    const later = text(screen.frame({ now: 22_000, wall: wall + 10_000 }).lines);
    expect(later).toMatch(/valid [━╸─]+ +38 s of 60 s/);
    expect(later).toMatch(/limit [━╸─]+ +41 of 60, +23 s/);
    expect(text(screen.frame({ now: 99_000, wall: wall + 90_000 }).lines)).toMatch(/valid ─+ +0 s of 60 s/);
  });

  test('shows both levels, and a mark where the audio clips', () => {
    const screen = open();
    const [loud] = audio('out', { from: 12_000, until: 12_100, rmsDbfs: -6 });
    const lines = screen.show([{ ...loud, clipped: true, peakDbfs: 0 }]).lines;
    expect(lines.find((line) => / you +━/.test(line))).toMatch(/you ━+.* CLIP +−6\.0 dB$/);
    expect(lines.find((line) => line.includes(' AI '))).toMatch(/AI .*silent$/);
  });

  test('marks the barge-in and the gap below the voices, on the same axis', () => {
    const lines = open().frame({ now: 12_000 }).lines;
    const axis = lines.find((line) => line.includes('−20 s')) ?? '';
    expect(axis.indexOf('╳')).toBeGreaterThan(axis.indexOf('−10 s'));
    expect(axis.indexOf('▲ barge-in')).toBeGreaterThan(axis.indexOf('╳'));
    const [you = '', ai = ''] = lines.slice(lines.indexOf(axis) - 3);
    const at = axis.indexOf('▲');
    // Both speak where the user speaks over the AI.
    expect([you[at], ai[at - 1]]).toEqual([expect.stringMatching(/[▁-█]/), expect.stringMatching(/[▁-█]/)]);
  });

  test('draws where both speak, and marks a yield and a false stop where they are, as in the timeline of a recording', () => {
    const screen = open();
    const lineOf = (lines: readonly string[]) => lines.find((line) => line.startsWith(' both')) ?? '';
    expect(lineOf(screen.frame({ now: 12_000 }).lines)).toBe(' both');
    const shown = screen.show([seenTurns], 12_000).lines;
    const both = lineOf(shown);
    const axis = shown.find((line) => line.includes('−20 s')) ?? '';
    expect(both).toMatch(/^ both +▒f +▒▒y 700 ms$/);
    expect(both.lastIndexOf('▒') - 1).toBe(axis.indexOf('▲'));
    // What is known anew replaces what was taken for it, and only that.
    const anew = { type: 'turns', fromMs: 7_000, overlaps: [], marks: [] };
    expect(lineOf(screen.show([anew], 12_000).lines)).toMatch(/^ both +▒f false stop$/);
  });

  test('marks figures past their limits; limits of the user replace the defaults', () => {
    const line = (lines: readonly string[]) => lines.find((one) => one.includes('first audio')) ?? '';
    expect(line(open().frame({ now: 12_000 }).lines)).toContain(
      'first audio 600 ms  gap 400 ms!  jitter 61 ms!  underruns –  sent late 1.9 ms',
    );
    const strict = open({ limits: { firstAudioMs: 500, gapMs: 500 } });
    expect(line(strict.frame({ now: 12_000 }).lines)).toContain('first audio 600 ms!  gap 400 ms  ');
    expect(line(open({ limits: { jitterMs: 100 } }).frame({ now: 12_000 }).lines)).toContain(
      'jitter 61 ms  ',
    );
  });

  test('folds the frames of a direction into one line that grows until something else happens', () => {
    const screen = createScreen(streamStart);
    const lines = (events: readonly SessionEvent[], now: number) =>
      screen.frame({ events, now }).lines.filter((line) => /frames/.test(line));
    expect(lines(audio('out', { from: 0, until: 1_000 }), 1_000)).toHaveLength(1);
    const grown = lines(audio('out', { from: 1_000, until: 5_000 }), 5_000);
    expect(grown).toEqual([expect.stringMatching(/0\.000 ↑ +audio +250 frames {2}5\.00 s {2}peak/)]);
    const next = lines(
      [
        { t: 5_000, type: 'state', state: 'draining' },
        ...audio('out', { from: 5_000, until: 5_500, rmsDbfs: -100 }),
      ],
      5_500,
    );
    expect(next[1]).toMatch(/5\.000 ↑ +audio +25 frames {2}0\.50 s {2}silence/);
  });

  test('shows text from the network escaped, and the code and message of an error', () => {
    const { lines, patch } = open().frame({ now: 12_000, fresh: true });
    const error = lines.find((line) => line.includes('QUOTA')) ?? '';
    expect(error).toContain('! error');
    expect(error).toContain('QUOTA: Zu viel 你好 👨 \\u001b[31m');
    expect(patch).not.toContain('\u001b[31m"');
    const whole = text(open().press('/quota\r\u001b[A\r').lines);
    expect(whole).toContain('"message": "Zu viel 你好 👨 \\u001b[31m"');
  });

  test('starts again with another session, and keeps the events of the previous one', () => {
    const screen = open();
    screen.show([{ ...conversation()[0], t: 0 } as SessionEvent, { t: 1, type: 'state', state: 'token' }], 1);
    const { lines } = screen.frame({ now: 2 });
    expect(lines[0]).toContain('◌ token  00:00.0');
    expect(text(lines)).toContain('first audio –');
    expect(text(lines)).toContain('QUOTA');
  });
});

describe('keys', () => {
  test('? shows all that are available, and no others', () => {
    const help = text(createScreen(streamStart).frame({ rows: 50, input: '?' }).lines);
    expect(help).toContain('connect again with a new token');
    expect(help).not.toContain('mute');
    // What the signs of the timeline mean stands below.
    expect(help).toMatch(/ ▒ +both speak *\n +y +the AI yields.*\n +f +false stop:/);
    const withMute = { ...streamStart, can: [...streamStart.can, 'mute'] } as const;
    expect(text(createScreen(withMute).frame({ rows: 40, input: '?' }).lines)).toContain('hold to talk');
  });

  test('move through the list, open an event as JSON, and go back', () => {
    const screen = open();
    const marked = (lines: readonly string[]) => lines.find((line) => line.startsWith(' ›')) ?? '';
    expect(marked(screen.press('k').lines)).toContain('error');
    expect(marked(screen.press('g').lines)).toContain('session');
    const { lines } = screen.press('\r');
    expect(text(lines)).toContain('"device": "kitchen-1"');
    expect(text(screen.press('\u001b').lines)).not.toContain('"device"');
  });

  test('a filter applies while it is typed, and ends with Escape', () => {
    const screen = open();
    const { lines } = screen.press('/kind:sta');
    expect(lines.at(-1)).toContain('filter: kind:sta');
    expect(text(lines)).toMatch(/5 of \d+ with kind:sta/);
    expect(text(screen.press('\u001b').lines)).not.toContain(' with ');
  });

  test('p pauses the list, and says how many events wait', () => {
    const screen = open();
    screen.press('p');
    expect(text(screen.show([{ t: 12_001, type: 'warning', code: 'late', message: 'New' }]).lines)).toMatch(
      /paused, 1 more/,
    );
    expect(text(screen.press('p').lines)).toContain('New');
  });

  test('request a copy of the event or the curl line, or the session as JSON lines', () => {
    const screen = open();
    const [copy, curl, save] = screen.press('kycs').actions;
    expect(copy).toEqual({ type: 'copy', what: 'the event', text: expect.stringContaining('"QUOTA"') });
    expect(curl).toEqual({ type: 'copyCurl' });
    const lines = (save as { text: string }).text.trimEnd().split('\n');
    const saved = lines.map((line) => JSON.parse(line) as { type: string; frames?: number });
    expect(saved[0]).toMatchObject({ type: 'session', device: 'kitchen-1' });
    expect(
      saved.filter(({ type }) => type === 'audio').reduce((sum, { frames = 0 }) => sum + frames, 0),
    ).toBe(495);
  });

  test('q and r request one action each from the program', () => {
    const screen = open();
    expect(screen.press('r').actions).toEqual([{ type: 'reconnect' }]);
    const quit = screen.press('q');
    expect(quit.actions).toEqual([{ type: 'quit' }]);
    expect(quit.lines[0]).toContain('live, ending');
  });

  test('m mutes and unmutes; space unmutes while it is held', () => {
    const screen = open({ can: ['mute'] });
    expect(screen.press('m').actions).toEqual([{ type: 'mute', on: true }]);
    expect(text(screen.frame({ now: 12_000 }).lines)).toContain('muted');
    expect(screen.press(' ', 13_000).actions).toEqual([{ type: 'mute', on: false }]);
    expect(screen.press(' ', 13_500).actions).toEqual([]);
    expect(screen.frame({ now: 14_100 }).actions).toEqual([]);
    expect(screen.frame({ now: 14_201 }).actions).toEqual([{ type: 'mute', on: true }]);
    expect(screen.frame({ now: 15_000 }).actions).toEqual([]);
  });
});

const sizes: [number, number][] = [
  [20, 5],
  [40, 10],
  [60, 15],
  [79, 19],
  [80, 24],
  [100, 30],
  [132, 45],
  [300, 12],
];

describe.each(sizes)('at %i × %i', (columns, rows) => {
  test('the screen is as high as the terminal, and no line is wider than it', () => {
    for (const input of ['', '?', '\u001bkk\r', '\u001b/status', '\u001bp']) {
      const screen = createScreen(streamStart);
      const { lines } = screen.frame({
        columns,
        rows,
        events: conversation(),
        now: 12_000,
        input,
        fresh: true,
      });
      expect(lines.length).toBeLessThanOrEqual(rows);
      if (columns < 40) continue;
      expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(columns);
    }
  });

  test('with --ascii there are only ASCII characters', () => {
    const screen = createScreen({ ...streamStart, ascii: true });
    const { lines } = screen.frame({ columns, rows, events: conversation(), now: 12_000, fresh: true });
    expect(text(lines)).toMatch(/^[\u0020-\u007e\n]*$/);
  });
});

test('a frame writes only the lines that have changed', () => {
  const screen = open();
  const { patch } = screen.frame({ now: 12_000 });
  expect(patch).toBe('');
  // Time goes on in the head, and your meter falls.
  const next = screen.frame({ now: 12_100 }).patch;
  expect([...next.matchAll(/\u001b\[(\d+);1H/g)].map(([, row]) => row)).toEqual(['1', '4']);
});
