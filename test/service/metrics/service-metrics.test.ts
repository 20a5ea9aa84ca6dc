import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createEmulatorEvents, type EmulatorEventBody } from '../../../src/service/events.ts';
import { createMetricsEndpoint } from '../../../src/service/metrics/service-metrics.ts';
import { createServiceTally } from '../../../src/service/metrics/service-tally.ts';
import { writeMetrics } from '../../../src/service/metrics/write-metrics.ts';
import { createCountedClock } from '../../helpers/counted-clock.ts';
import { everyEmulatorEvent } from '../../helpers/every-event.ts';
import { hasPrometheus, promtool } from '../../helpers/prometheus.ts';

/** The metrics after these events, as text: each sample by its name and labels. */
async function metricsOf(bodies: readonly EmulatorEventBody[], { byDevice = false, accept = '' } = {}) {
  let now = 0;
  // The clock of the service was moved: that of the machine counts.
  const events = createEmulatorEvents(() => 10 * now);
  const tally = createServiceTally(events, { byDevice, clock: { now: () => now } });
  for (const body of bodies) {
    now += 100;
    events.emit(body);
  }
  const open = { framesIn: 1, bytesIn: 640, framesOut: 2, bytesOut: 1_280 };
  const { text, contentType } = await writeMetrics(tally.families([open]), accept);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const samples = new Map(lines.map((line) => line.split(/ (?=\S+$)/) as [string, string]));
  return { text, contentType, samples, value: (name: string) => Number(samples.get(name)) };
}

const issued = (device: string): EmulatorEventBody => ({
  ...{ type: 'token-issued', device, jti: 'j', exp: 1, remaining: 1, resetAtMs: 1, ms: 4 },
});

describe('the metrics of a service', () => {
  test('count what its events say', async () => {
    const at = { stream: 1, device: 'lamp-1' };
    const { value } = await metricsOf([
      issued('lamp-1'),
      {
        type: 'request-refused',
        cause: 'rateLimited',
        status: 429,
        code: 'C',
        message: 'm',
        device: 'lamp-1',
        count: 41,
      },
      { type: 'stream-opened', stream: 1, remote: '' },
      { type: 'stream-opened', stream: 2, remote: '' },
      { type: 'stream-authorised', ...at, jti: 'j', connections: 1 },
      { type: 'turn-ended', ...at, atMs: 1, turnMs: 1, agoMs: 700 },
      { type: 'reply-started', ...at, agoMs: 80 },
      { type: 'device-finding', ...at, finding: 'stereo', remark: '' },
      // A finding about the pace is only in the verdict.
      { type: 'device-verdict', ...at, findings: ['stereo', 'too-fast'], remarks: [], pace: {} as never },
      { type: 'device-verdict', ...at, findings: ['too-fast'], remarks: [], pace: {} as never },
      { type: 'fault-struck', fault: 'drop', id: 1 },
      { type: 'fault-struck', fault: 'drop', id: 1 },
      {
        ...{
          type: 'stream-closed',
          findings: ['too-fast', 'bursts'],
          remarks: [],
          ...at,
          jti: 'j',
          code: 1000,
          reason: '',
          durationMs: 5,
        },
        ...{
          framesIn: 10,
          bytesIn: 6_400,
          framesOut: 20,
          bytesOut: 12_800,
          oddMessages: 0,
          emptyMessages: 0,
        },
      },
    ]);
    expect(value('voicectl_requests_total{outcome="token"}')).toBe(1);
    expect(value('voicectl_requests_total{outcome="refused"}')).toBe(41);
    expect(value('voicectl_refusals_total{cause="rateLimited"}')).toBe(41);
    expect(value('voicectl_streams_open')).toBe(1);
    expect(value('voicectl_turns_total')).toBe(1);
    expect(value('voicectl_replies_total')).toBe(1);
    expect(value('voicectl_findings_total{side="device",kind="too-fast"}')).toBe(1);
    expect(value('voicectl_findings_total{side="device",kind="stereo"}')).toBe(1);
    // Found only when the stream ended.
    expect(value('voicectl_findings_total{side="device",kind="bursts"}')).toBe(1);
    expect(value('voicectl_faults_struck_total{fault="drop"}')).toBe(2);
    expect(value('voicectl_first_audio_seconds_bucket{le="0.5"}')).toBe(0);
    expect(value('voicectl_first_audio_seconds_bucket{le="1"}')).toBe(1);
    // 100 ms between the two events: the turn ended 700 ms before the one, and the reply began 80 ms before the other.
    expect(value('voicectl_first_audio_seconds_sum')).toBeCloseTo(0.72);
    expect(value('voicectl_token_duration_seconds_sum')).toBeCloseTo(0.004);
    // Streams that have ended, and those that are open.
    expect(value('voicectl_stream_bytes_total{direction="from_device"}')).toBe(6_400 + 640);
    expect(value('voicectl_stream_messages_total{direction="to_device"}')).toBe(22);
  });

  test('measure a reply that is known before the end of its turn, and the next turn by its own reply', async () => {
    const at = { stream: 1, device: 'lamp-1' };
    const turnEnded = (agoMs: number): EmulatorEventBody => ({
      ...{ type: 'turn-ended', ...at, atMs: 1, turnMs: 1, agoMs },
    });
    const { value } = await metricsOf([
      { type: 'reply-started', ...at, agoMs: 20 },
      { type: 'stream-opened', stream: 2, remote: '' },
      turnEnded(520),
      // A reply that began before the turn ended is not its reply.
      { type: 'reply-started', ...at, agoMs: 0 },
      turnEnded(50),
      { type: 'reply-started', ...at, agoMs: 0 },
    ]);
    // 200 ms between the first two: the turn ended 320 ms before the first event, and the reply began 20 ms before it.
    expect(value('voicectl_first_audio_seconds_count')).toBe(2);
    expect(value('voicectl_first_audio_seconds_sum')).toBeCloseTo(0.3 + 0.15);
  });

  test('measure a reply from its own turn, after one that got none', async () => {
    const at = { stream: 1, device: 'lamp-1' };
    const turn = (agoMs: number): EmulatorEventBody[] => [
      { type: 'turn-started', ...at, atMs: 1 },
      { type: 'reply-started', ...at, agoMs: 0 },
      { type: 'turn-ended', ...at, atMs: 1, turnMs: 1, agoMs },
    ];
    const { value } = await metricsOf([
      { type: 'turn-ended', ...at, atMs: 1, turnMs: 1, agoMs: 0 },
      ...turn(300),
      ...turn(300),
    ]);
    // 100 ms between two events: each turn ended 200 ms before its reply began.
    expect(value('voicectl_first_audio_seconds_count')).toBe(2);
    expect(value('voicectl_first_audio_seconds_sum')).toBeCloseTo(0.4);
  });

  test('count findings against the side whose audio has them', async () => {
    const at = { stream: 1, device: 'lamp-1' };
    const { samples } = await metricsOf([
      { type: 'service-finding', ...at, finding: 'stereo', remark: '' },
      { type: 'device-finding', ...at, finding: 'too-quiet', remark: '' },
    ] as EmulatorEventBody[]);
    const found = [...samples].filter(([name]) => name.startsWith('voicectl_findings_total'));
    expect(found).toEqual([
      ['voicectl_findings_total{side="service",kind="stereo"}', '1'],
      ['voicectl_findings_total{side="device",kind="too-quiet"}', '1'],
    ]);
  });

  test('of 10,000 devices have as many series as of one, and name none', async () => {
    const devices = Array.from({ length: 10_000 }, (_, index) => issued(`lamp-${index}`));
    const [one, many] = [await metricsOf(devices.slice(0, 1)), await metricsOf(devices)];
    expect([...many.samples.keys()]).toEqual([...one.samples.keys()]);
    expect(many.value('voicectl_requests_total{outcome="token"}')).toBe(10_000);
    expect(many.text).not.toContain('lamp-');
  });

  test('name devices if requested: the first 1,000, and the others together', async () => {
    const devices = Array.from({ length: 10_000 }, (_, index) => issued(`lamp-${index}`));
    const { samples, value } = await metricsOf(devices, { byDevice: true });
    expect([...samples.keys()].filter((name) => name.startsWith('voicectl_device_tokens'))).toHaveLength(
      1_001,
    );
    expect(value('voicectl_device_tokens_total{device="lamp-7"}')).toBe(1);
    expect(value('voicectl_device_tokens_total{device="other devices"}')).toBe(9_000);
  });

  test('escape what a device calls itself', async () => {
    const { text } = await metricsOf([issued('a"b\\c\n# TYPE evil\u001b')], { byDevice: true });
    expect(text).toContain('voicectl_device_tokens_total{device="a\\"b\\\\c\\\\n# TYPE evil\\\\u001b"} 1');
  });

  test.each([
    ['', 'text/plain; version=0.0.4'],
    ['*/*', 'text/plain; version=0.0.4'],
    ['text/plain;version=0.0.4', 'text/plain; version=0.0.4'],
    ['application/openmetrics-text', 'application/openmetrics-text; version=1.0.0'],
    [
      'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      'application/openmetrics-text; version=1.0.0',
    ],
    ['application/openmetrics-text;version=0.0.1', 'text/plain; version=0.0.4'],
    ['application/openmetrics-text;q=0.2, text/plain;q=0.9', 'text/plain; version=0.0.4'],
  ])('are written as Accept asks for: %s', async (accept, type) => {
    const { text, contentType } = await metricsOf([], { accept });
    expect(contentType).toBe(`${type}; charset=utf-8`);
    const isOpen = type.startsWith('application');
    expect(text).toMatch(
      isOpen
        ? /# TYPE voicectl_turns counter\nvoicectl_turns_total 0/
        : /# TYPE voicectl_turns_total counter/,
    );
    expect(text.endsWith('# EOF\n')).toBe(isOpen);
  });

  test.skipIf(!hasPrometheus)('are accepted by promtool, after every kind of event', async () => {
    const { text } = await metricsOf(
      everyEmulatorEvent.map(({ event }) => event),
      { byDevice: true },
    );
    expect(promtool(text)).toBe('');
  });
});

test.each([
  ['during the first scrape', false],
  ['after it', true],
])('metrics that are closed %s leave no timer', async (_name, isLate) => {
  const clock = createCountedClock();
  const metrics = createMetricsEndpoint({ allow: [], clock, command: 'serve', families: () => [] });
  await using server = createServer((request, response) => {
    const answered = metrics.answer(request, response);
    if (isLate) void answered.then(metrics.close);
    else metrics.close();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect(await response.text()).toContain('voicectl_build_info');
  await expect.poll(() => clock.pending).toEqual([]);
});
