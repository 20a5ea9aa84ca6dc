import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { noCounters } from '../../src/report/serve-counters.ts';
import { createScreen } from './draw.ts';
import { emulatorState, serveNews, serveStart } from './screens.ts';

const text = (lines: readonly string[]) => lines.join('\n');
const pasted = (pasted: string) => `\u001b[200~${pasted}\u001b[201~`;

function open(sessions = 3) {
  const screen = createScreen(serveStart);
  screen.frame({ columns: 100, rows: 34, events: serveNews(sessions), now: 8_000, fresh: true });
  return {
    press: (input: string) => screen.frame({ columns: 100, rows: 34, now: 8_000, input }),
    show: (events: readonly unknown[], now = 8_000) => screen.frame({ columns: 100, rows: 34, events, now }),
  };
}

describe('the screen of the emulator', () => {
  const lines = open().press('').lines;

  test('shows the addresses, and the curl line', () => {
    expect(text(lines)).toContain('http://127.0.0.1:8787/api/websocket-voice/token');
    expect(text(lines)).toContain('ws://127.0.0.1:8787/voice-stream');
    expect(text(lines)).toContain("try    curl -sS -X POST 'http://127.0.0.1:8787");
  });

  test('shows how far its clock is ahead, what has happened in numbers, and which faults are active', () => {
    expect(lines[0]).toContain('clock +61 s');
    expect(text(lines)).toContain(
      '! 1 active: drop · 1 token · 1 stream · 1 turn · 1 reply · 1 barge-in · 1 refused',
    );
  });

  test('corrects its numbers by those of the program: too many events to draw are dropped', () => {
    const counters = { ...noCounters, tokens: 1_018, streams: 202 };
    const issued = { t: 9, type: 'token-issued', device: 'd', jti: 'j', exp: 1, remaining: 1, resetAtMs: 1 };
    const { lines: later } = open().show([issued, { type: 'counted', counters }, issued]);
    expect(text(later)).toContain('1019 tokens · 202 streams');
  });

  test('shows devices with their used connections and requests', () => {
    expect(text(lines)).toMatch(/kitchen-1 +conn ━+─+ +7\/10 window ━+╸?─+ +41\/60 +23 s/);
    expect(text(lines)).toMatch(/hall +conn .* 2\/10 window ━+ +60\/60/);
  });

  test('shows streams with levels and a verdict', () => {
    expect(text(lines)).toMatch(/› +1 kitchen-1 +00:10\.0 ↑ ━+.*↓ ─+ ✓ ok/);
    expect(text(lines)).toMatch(/2 hall +00:11\.0 ↑ .* ! this looks like stereo: send/);
  });

  test('shows the journal, with stream and device on each line', () => {
    expect(text(lines)).toMatch(/1\.061 ↓ +1 kitchen-1 +service…/);
    expect(text(lines)).toMatch(/5\.500 ↓ ! +hall +refused +429 RATE_LIMITED: Too many requests/);
  });
});

test('a row about an unavailable shared state says what follows from it', () => {
  const away = { t: 1, type: 'shared-away', why: 'no answer' } as const;
  expect(text(open().show([away]).lines)).toContain('tokens and streams are refused');
});

test('the screen of a proxy says so, shows what a side breaks, and has no clock to move', () => {
  const screen = createScreen({
    ...serveStart,
    command: 'proxy',
    subject: 'to http://a.test',
    can: ['close'],
  });
  const judged = { from: 'device', rule: 'D4', message: 'no audio before', value: 'audio came', count: 3 };
  const events = [
    ...serveNews(1),
    { t: 6_000, type: 'violation', stream: 1, device: 'kitchen-1', ...judged },
  ];
  const { lines } = screen.frame({ columns: 100, rows: 34, events, now: 8_000, fresh: true });
  expect(lines[0]).toContain('voicectl proxy   to http://a.test');
  expect(text(lines)).toMatch(/6\.000 ↑ ! +1 kitchen-1 +D4 +audio came/);
  const wide = text(screen.frame({ columns: 150, rows: 34, now: 8_000 }).lines);
  expect(wide).toMatch(/6\.000 ↑ ! +1 device kitchen-1 +D4/);
  expect(wide).toMatch(/· 1 violation\b/);
  expect(screen.frame({ columns: 100, rows: 34, now: 8_000, input: '+' }).actions).toEqual([]);
});

describe('keys', () => {
  test('+ moves the clock by 61 s', () => {
    expect(open().press('+').actions).toEqual([{ type: 'advance', ms: 61_000 }]);
  });

  test('x closes the marked stream after a confirmation; after tab the arrows mark another one', () => {
    const screen = open();
    const asked = screen.press('x');
    expect(asked.actions).toEqual([]);
    expect(asked.lines.at(-1)).toContain('Close stream 1 of kitchen-1 with code 1012? y or enter: yes');
    expect(screen.press('y').actions).toEqual([{ type: 'close', stream: 1 }]);
    expect(screen.press('\tjx\r').actions).toEqual([{ type: 'close', stream: 2 }]);
    expect(screen.press('jjjjxy').actions).toEqual([{ type: 'close', stream: 3 }]);
    // Where that session has gone another is marked.
    screen.show([{ type: 'state-seen', state: emulatorState(1) }]);
    expect(screen.press('xy').actions).toEqual([{ type: 'close', stream: 1 }]);
  });

  test.each(['n', '\u001b', 'q', 'x'])('after x the key %j closes nothing and has no other effect', (key) => {
    const screen = open();
    expect(screen.press(`x${key}`).actions).toEqual([]);
    expect(screen.press('').lines.at(-1)).toContain('? keys');
  });

  test('tab goes from panel to panel, and the heading of the focused one is marked', () => {
    const screen = open();
    const focused = (lines: readonly string[]) =>
      lines.filter((line) => line.includes('─›')).map((line) => /─› (\w+)/.exec(line)?.[1]);
    expect(focused(screen.press('').lines)).toEqual(['journal']);
    expect(focused(screen.press('\t').lines)).toEqual(['streams']);
    expect(focused(screen.press('\t').lines)).toEqual(['devices']);
    expect(focused(screen.press('\u001b').lines)).toEqual(['journal']);
  });

  test('a panel with more than it can show scrolls, and says which part is shown', () => {
    const screen = open(20);
    expect(text(screen.press('').lines)).toMatch(/streams ─+ 1 to \d+ of 20/);
    expect(text(screen.press('\tG').lines)).toMatch(/ 20 hall/);
    expect(text(screen.press('').lines)).toMatch(/streams ─+ \d+ to 20 of 20/);
    expect(text(screen.press('g').lines)).toMatch(/streams ─+ 1 to \d+ of 20/);
  });

  test('enter opens the marked stream: claims, verdict, figures and events, as they change', () => {
    const screen = open();
    const shown = text(screen.press('\t\r').lines);
    expect(shown).toContain('stream 1');
    expect(shown).toMatch(/device +kitchen-1, from 127\.0\.0\.1, open for 00:10\.0/);
    expect(shown).toMatch(/claims +sub +"kitchen-1"/);
    expect(shown).toMatch(/exp +1767225660 \(2026-01-01T00:01:00\.000Z\)/);
    expect(shown).toMatch(/verdict +ok/);
    expect(shown).toMatch(/pace +1 × real time, jitter 1 ms, longest gap 25 ms/);
    expect(shown).toMatch(/from device +500 messages, 320000 bytes, 10\.00 s/);
    const later = emulatorState(3);
    const [first] = later.streams;
    later.streams[0] = { ...first!, remarks: ['this looks like stereo: send one channel'] };
    expect(text(screen.show([{ type: 'state-seen', state: later }]).lines)).toMatch(
      /verdict +this looks like stereo/,
    );
    expect(text(screen.press('G\u001b[6~\u001b[6~').lines)).toMatch(/1\.061 ↓ +service_/);
    // It stays when its session has ended.
    expect(text(screen.show([{ type: 'state-seen', state: emulatorState(0) }]).lines)).toContain('stream 1');
    expect(text(screen.press('\u001b').lines)).not.toContain('stream 1');
  });

  test('enter opens the marked device', () => {
    const shown = text(open().press('\t\t\r').lines);
    expect(shown).toContain('device kitchen-1');
    expect(shown).toMatch(/open +7 of 10 connections/);
    expect(shown).toMatch(/requests +41 of 60 in the window, until 2026/);
  });

  test('a key is offered only if it does something', () => {
    const last = (screen: ReturnType<typeof open>, input = '') => screen.press(input).lines.at(-1);
    expect(last(open(0))).not.toMatch(/x close|e send/);
    expect(last(open())).toMatch(/x close.*e send/);
    expect(last(open())).not.toContain('follow');
    expect(last(open(), 'k')).toContain('end follow');
    expect(last(open(), '\t')).not.toMatch(/filter|pause/);
    expect(last(open(), '?')).toMatch(/^ ?↑ ↓ scroll +esc close$/);
  });

  test('prompts say what to type and which key confirms', () => {
    const last = (input: string) => open().press(input).lines.at(-1);
    expect(last('/')).toContain('enter keeps it, esc clears it: words kind:NAME from:device|service');
    expect(last('e')).toContain('enter sends, esc cancels: speaking, listening, error CODE words, or JSON');
    expect(last('f\u001b[B\r')).toContain('fault: close  enter adds it, esc cancels');
  });

  test('letters filter the faults', () => {
    const screen = open();
    const shown = screen.press('flost').lines;
    expect(text(shown)).toContain('1 of 1 with lost');
    expect(shown.at(-1)).toContain('filter: lost');
    expect(text(screen.press('xx').lines)).toContain('none of 3 with lostxx');
    expect(screen.press('\r').actions).toEqual([]);
    expect(text(screen.press('\u007f\u007f').lines)).toMatch(/› ?drop +the message is lost/);
    expect(screen.press('\r').lines.at(-1)).toContain('fault: drop');
  });

  test('pasted text does nothing unless something is being typed', () => {
    const screen = open();
    expect(screen.press(pasted('quit now\n+xy')).actions).toEqual([]);
    expect(screen.press('').lines.at(-1)).toContain('? keys');
    screen.press('x');
    expect(screen.press(pasted('y\n')).actions).toEqual([]);
    expect(screen.press('y').actions).toEqual([{ type: 'close', stream: 1 }]);
  });

  test('pasted text is added to a prompt, and confirms nothing', () => {
    const screen = open();
    expect(screen.press(`/kind:${pasted('token\nquit')}`).lines.at(-1)).toContain('filter: kind:token quit');
    expect(screen.press('s\r').actions).toEqual([]);
    expect(text(screen.press('').lines)).toContain('kind:token quits');
    expect(text(open().press(`f${pasted('lost')}`).lines)).toContain('1 of 1 with lost');
  });

  test('x and e say so if no stream is open', () => {
    const screen = open(0);
    expect(screen.press('x')).toMatchObject({ actions: [] });
    expect(screen.press('').lines.at(-1)).toContain('No stream is open');
    expect(screen.press('e').lines.at(-1)).toContain('No stream is open');
  });

  test('e sends what is typed', () => {
    const screen = open();
    expect(screen.press('e{"a": 1}').lines.at(-1)).toContain('send: {"a": 1}');
    expect(screen.press('\r').actions).toEqual([{ type: 'send', stream: 1, text: '{"a": 1}' }]);
  });

  test('what is typed for one stream is never sent to another', () => {
    const screen = open();
    screen.press('\t\u001b[B\u001b[Behi');
    const [state] = serveNews(1).filter(({ type }) => type === 'state-seen');
    screen.show([state]);
    expect(screen.press('\r')).toMatchObject({ actions: [] });
    expect(screen.press('').lines.at(-1)).toContain('Stream 3 has ended');
  });

  test('f offers the active faults to end, and the others to add, with parameters', () => {
    const screen = open();
    expect(text(screen.press('f').lines)).toMatch(/› ?end drop .*struck 4 times/);
    expect(screen.press('\r').actions).toEqual([{ type: 'clearFault', id: 1 }]);
    screen.press('f\u001b[B\r');
    expect(screen.press(':code=1012').lines.at(-1)).toContain('fault: close:code=1012');
    expect(screen.press('\r').actions).toEqual([{ type: 'fault', text: 'close:code=1012' }]);
  });
});

test('a notice that has to stay is in the journal after it has left the last line', () => {
  const screen = open();
  screen.show([{ type: 'notice', text: 'the secret is 42', stays: true }]);
  const { lines } = screen.press('/secret\r');
  expect(text(lines)).toContain('the secret is 42');
});

test('memory stays bounded, whatever happens', () => {
  const screen = createScreen(serveStart);
  const burst = Array.from({ length: 2_000 }, (_, index) => ({
    t: index,
    type: 'message-sent',
    stream: 1,
    device: 'd',
    body: { type: 'status' },
  }));
  for (let index = 0; index < 5; index += 1) screen.frame({ events: burst, now: index });
  const { lines } = screen.frame({ now: 100 });
  const [, count] = /journal ─+ (\d+), following/.exec(text(lines)) ?? [];
  expect(Number(count)).toBeLessThanOrEqual(6_000);
});

describe.each([
  [20, 5],
  [40, 10],
  [60, 15],
  [80, 24],
  [132, 45],
  [300, 12],
])('at %i × %i', (columns, rows) => {
  test('the screen is as high as the terminal, and no line is wider than it, even with 20 streams', () => {
    for (const input of ['', '?', 'f', 'e']) {
      const screen = createScreen(serveStart);
      const { lines } = screen.frame({
        columns,
        rows,
        events: serveNews(20),
        now: 8_000,
        input,
        fresh: true,
      });
      expect(lines.length).toBeLessThanOrEqual(rows);
      if (columns >= 40)
        expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(columns);
    }
  });

  test('with --ascii there are only ASCII characters', () => {
    const screen = createScreen({ ...serveStart, ascii: true });
    const { lines } = screen.frame({ columns, rows, events: serveNews(), now: 8_000, fresh: true });
    expect(text(lines)).toMatch(/^[\u0020-\u007e\n]*$/);
  });
});

test('long names of devices stay distinct in all panels at 60 columns', () => {
  const state = emulatorState(2);
  const names = ['kitchen-lamp-0017', 'kitchen-lamp-0023'];
  const renamed = {
    ...state,
    devices: state.devices.slice(0, 2).map((one, index) => ({ ...one, device: names[index] })),
    streams: state.streams.map((one, index) => ({ ...one, device: names[index] })),
  };
  const events = [{ type: 'state-seen', state: renamed }];
  const { lines } = createScreen(serveStart).frame({ columns: 60, rows: 34, events, fresh: true });
  for (const end of ['17', '23'])
    expect(lines.filter((line) => new RegExp(`kitc\\S*…\\S*${end} `).test(line))).toHaveLength(2);
});
