import { describe, expect, test } from 'vitest';
import type { EmulatorEvent } from '../../src/service/events.ts';
import { createScreen } from './draw.ts';
import { type SceneName, sceneNames, scenes } from './golden.ts';
import { checkStart, serveNews, serveStart, streamStart } from './screens.ts';

const widths = [60, 80] as const;

function linesOf(name: SceneName, columns: number, rows = 40): string[] {
  const { start, ...scene } = scenes[name];
  return createScreen(start).frame({ columns, rows, ...scene, fresh: true }).lines;
}

/** Words of a narrow screen that end at an ellipsis, and do not end there on a wide one. */
function brokenWords(narrow: readonly string[], wide: readonly string[]): string[] {
  const whole = new Set(wide.join(' ').match(/[\p{L}\p{N}]+/gu));
  const cut = narrow.flatMap((line) => [...line.matchAll(/([\p{L}\p{N}]+)…/gu)].map(([, word = '']) => word));
  return cut.filter((word) => !whole.has(word));
}

test.each(sceneNames.flatMap((name) => widths.map((columns) => ({ name, columns }))))(
  'nothing on the screen of $name is cut in the middle of a word at $columns columns',
  ({ name, columns }) => {
    expect(brokenWords(linesOf(name, columns), linesOf(name, 400))).toEqual([]);
  },
);

/** Mistakes of a device, each with what to do about it. */
const mistakes: [remedy: string, event: object][] = [
  [
    'send the token alone',
    {
      ...{ type: 'token-problem', stream: 1, device: 'kitchen-1', cause: 'malformed', remote: '127.0.0.1' },
      ...{ why: 'the token comes after the word Bearer' },
      advice: 'send the token alone, exactly as the token endpoint returned it',
    },
  ],
  [
    'Missing required',
    {
      ...{ type: 'request-refused', status: 400, code: 'INVALID_REQUEST', cause: 'invalid' },
      ...{
        message: 'Missing required field: apiKey',
        remote: '127.0.0.1',
        path: '/api/websocket-voice/token',
      },
    },
  ],
  [
    'wait for Retry-After',
    {
      ...{ type: 'request-refused', status: 429, code: 'RATE_LIMIT_EXCEEDED', cause: 'rateLimited' },
      ...{ message: 'Too many token requests for this device', device: 'kitchen-1', remote: '127.0.0.1' },
    },
  ],
  [
    'send 16-bit mono',
    {
      ...{ type: 'device-finding', stream: 1, device: 'kitchen-1', finding: 'half-empty' },
      remark:
        'every other sample is zero, as in 32-bit samples or stereo with a silent channel: send 16-bit mono',
      advice: 'send 16-bit mono',
    },
  ],
  [
    'stop sending after a close',
    {
      ...{ type: 'stream-closed', stream: 1, device: 'kitchen-1', code: 1012, reason: '', durationMs: 2_000 },
      ...{
        framesIn: 9,
        bytesIn: 9,
        framesOut: 9,
        bytesOut: 9,
        remarks: [],
        findings: [],
        bytesAfterClose: 32_000,
      },
    },
  ],
];

describe.each(widths)('at %i columns', (columns) => {
  test.each(mistakes)('the journal shows what to do: %s', (remedy, body) => {
    const event = { t: 1, ...body } as EmulatorEvent;
    const { lines } = createScreen(serveStart).frame({ columns, rows: 24, events: [event], fresh: true });
    expect(lines.join('\n')).toContain(remedy);
  });

  test('a stream shows what to do about the first finding', () => {
    const [news, ...more] = serveNews() as { type: string; state?: { streams: object[] } }[];
    const events = [news, ...more].map((one) =>
      one?.state === undefined
        ? one
        : {
            ...one,
            state: {
              ...one.state,
              streams: one.state.streams.map((stream) => ({
                ...stream,
                findings: ['half-empty'],
                remarks: ['every other sample is zero, as in 32-bit samples: send 16-bit mono'],
                advice: 'send 16-bit mono',
              })),
            },
          },
    );
    const { lines } = createScreen(serveStart).frame({ columns, rows: 24, events, fresh: true });
    expect(lines.join('\n')).toMatch(/kitchen-1 .* ! send 16-bit mono/);
  });

  test('a warning of a session shows its hint', () => {
    const message = 'The token endpoint at 127.0.0.1 sent an answer that no specification describes';
    const hint = 'Set --ca FILE.';
    const events = [{ t: 1, type: 'warning', code: 'odd', message, hint }];
    const { lines } = createScreen(streamStart).frame({ columns, rows: 24, events, fresh: true });
    expect(lines.join('\n')).toContain(hint);
  });

  test('a rule that failed shows what was seen in place of its name', () => {
    const item = { id: 'R44', title: 'a closed stream frees its slot; other devices are unaffected' };
    const message = 'another device is refused';
    const events = [
      { type: 'planned', what: 'rules', items: [item, { id: 'R45', title: 'x' }] },
      {
        ...{ type: 'judged', lines: [], body: {} },
        item: { ...item, verdict: 'fail', message, isFinal: true },
      },
    ];
    const { lines } = createScreen(checkStart).frame({ columns, rows: 24, events, fresh: true });
    expect(lines.find((line) => /R44 +fail/.test(line))).toContain(message);
  });

  test('a situation that failed shows what to do', () => {
    const item = { id: 'D2', title: 'the token is the first message', verdict: 'fail', isFinal: true };
    const advice = 'send the token alone';
    const message = `the token comes after the word Bearer, which no service asks for: ${advice}`;
    const events = [
      { type: 'planned', what: 'situations', items: [item] },
      { type: 'judged', lines: [], body: {}, item: { ...item, message, advice } },
    ];
    const { lines } = createScreen(checkStart).frame({ columns, rows: 24, events, fresh: true });
    expect(lines.find((line) => /D2 +fail/.test(line))).toContain(advice);
  });
});
