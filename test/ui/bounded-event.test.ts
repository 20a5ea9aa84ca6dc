import { describe, expect, test } from 'vitest';
import { boundEvent } from '../../src/ui/bounded-event.ts';

const nested = (depth: number): unknown => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);

describe('data from the network, before it is sent to a screen', () => {
  test('is unchanged if it is small', () => {
    const event = { type: 'message', body: { type: 'status', list: [1, { a: '你' }] } };
    expect(boundEvent(event)).toBe(event);
  });

  test('is cut if it is long, and says so', () => {
    const { body } = boundEvent({ type: 'message', body: { text: 'x'.repeat(1_000_000) } as unknown });
    expect(String(body).length).toBeLessThan(33_000);
    expect(body).toMatch(/x … \(1000011 characters\)$/);
  });

  test.each([50, 150, 5_000, 100_000])('nested %i levels deep can be passed on', (depth) => {
    expect(() => JSON.stringify(boundEvent({ type: 'message', body: nested(depth) }))).not.toThrow();
  });

  test('is limited in the claims of a token too', () => {
    const { claims } = boundEvent({ type: 'token', claims: { sub: 'y'.repeat(100_000) } as unknown });
    expect(String(claims).length).toBeLessThan(33_000);
  });

  test('is limited where it names the kind of a message, also in the summary', () => {
    const kind = '好'.repeat(1_000_000);
    const message = boundEvent({ type: 'message', kind, body: {} });
    expect(message.kind).toMatch(/^好{256}…$/);
    const summary = boundEvent({ type: 'summary', events: { status: 2, [kind]: 1 }, verdicts: [] });
    expect(summary.events).toEqual({ status: 2, [message.kind]: 1 });
  });

  test('is limited in the failure of a session', () => {
    const { failure } = boundEvent({
      type: 'summary',
      failure: { kind: 'service-error', message: 'z'.repeat(1_000_000) },
    });
    expect(failure.message.length).toBeLessThan(33_000);
    expect(failure.kind).toBe('service-error');
  });
});
