import { describe, expect, test } from 'vitest';
import { type DialectInput, parseDialect } from '../../src/protocol/dialect.ts';
import {
  createMessageReader,
  isInterruption,
  isOfKind,
  readServiceMessage,
  writeConnected,
  writeDialectMessage,
  writeError,
  writeMessage,
  writeStatus,
} from '../../src/protocol/messages.ts';
import {
  readSentMessage,
  readServiceBody,
  unusualKind,
  wordOfMessage,
} from '../../src/protocol/read-message.ts';

function dialectOf(stream: DialectInput['stream']) {
  const parsed = parseDialect({ stream });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.dialect;
}

describe('writing', () => {
  test('the defaults', () => {
    const dialect = dialectOf({});
    expect(writeConnected(dialect)).toBe('{"type":"service_voice_connected"}');
    expect(writeStatus(dialect, 'speaking')).toBe('{"type":"status","status":"speaking"}');
    expect(writeError(dialect, 'CODE', 'Text')).toBe(
      '{"type":"error","error":{"code":"CODE","message":"Text"}}',
    );
  });

  test('every choice of the dialect takes effect', () => {
    const dialect = dialectOf({
      kindField: 'event',
      connected: { fields: { sessionId: 's1' } },
      status: { kind: 'state', stateField: 'now', states: { listening: 'ears' }, fields: { more: 1 } },
      error: { kind: 'problem', shape: 'flat', fields: { retry: false } },
    });
    expect(writeConnected(dialect)).toBe('{"event":"service_voice_connected","sessionId":"s1"}');
    expect(writeStatus(dialect, 'listening')).toBe('{"event":"state","now":"ears","more":1}');
    expect(writeError(dialect, 'C', 'M')).toBe('{"event":"problem","code":"C","message":"M","retry":false}');
    expect(writeMessage(dialect, 'hello')).toBe('{"event":"hello"}');
  });

  test('a state may have a kind of its own, and no field', () => {
    const dialect = dialectOf({ status: { stateField: '', kinds: { speaking: 'ai_speaks' } } });
    expect(writeStatus(dialect, 'speaking')).toBe('{"type":"ai_speaks"}');
    expect(writeStatus(dialect, 'listening')).toBe('{"type":"status"}');
  });

  test('templates are filled in where the values are known', () => {
    const fields = { stream: { $stream: true } };
    const dialect = dialectOf({ connected: { fields }, status: { fields }, error: { fields } });
    const values = {
      ...{ uuid: () => 'u', session: 's', nowMs: () => 0, device: 'd', stream: 3 },
      nextSequence: () => 1,
    };
    const written = [
      writeConnected(dialect, values),
      writeStatus(dialect, 'speaking', values),
      writeError(dialect, 'C', 'M', values),
      writeDialectMessage(fields, values),
    ];
    expect(written.map((text) => JSON.parse(text).stream)).toEqual([3, 3, 3, 3]);
    expect(JSON.parse(writeConnected(dialect))).toMatchObject(fields);
  });
});

describe('reading', () => {
  test.each(['type', 'kind', 'event', 'name'])('the kind is found under %s', (field) => {
    const read = (kind: string) => readServiceMessage(JSON.stringify({ [field]: kind, more: 1 }));
    expect(read('service_voice_connected')).toMatchObject({
      category: 'connected',
      kind: 'service_voice_connected',
    });
    expect(read('status')).toMatchObject({ category: 'status', kind: 'status' });
    expect(read('error')).toMatchObject({ category: 'error', kind: 'error' });
    expect(read('transcript')).toMatchObject({ category: 'other', kind: 'transcript' });
  });

  test('the connected message is known by its kind under any field', () => {
    expect(readServiceMessage('{"message":"service_voice_connected"}').category).toBe('connected');
  });

  test.each([
    ['nested', '{"type":"error","error":{"code":"C","message":"M"}}', 'C', 'M'],
    ['flat', '{"type":"error","code":"C","message":"M"}', 'C', 'M'],
    ['a string', '{"type":"error","error":"M"}', undefined, 'M'],
    ['without a kind', '{"error":{"code":"C","message":"M"}}', 'C', 'M'],
    ['a string without a kind', '{"error":"M"}', undefined, 'M'],
    ['of a kind of its own', '{"type":"service_error","message":"M"}', undefined, 'M'],
    ['empty', '{"type":"error"}', undefined, undefined],
  ])('an error that is %s is an error', (_name, text, code, message) => {
    expect(readServiceMessage(text)).toMatchObject({ category: 'error', error: { code, message } });
  });

  test.each([
    '{"type":"error","error":""}',
    '{"type":"error","error":{}}',
    '{"error":{"code":"","message":"M"}}',
    '{"error":{"code":0,"message":""}}',
    '{"error":{"code":"","message":"","details":{"field":"","expected":"text"}}}',
  ])('%s is an error, although a part of it is empty', (text) => {
    expect(readServiceMessage(text).category).toBe('error');
  });

  test('an error however deep its only content is', () => {
    const details = `${'['.repeat(5_000)}1${']'.repeat(5_000)}`;
    expect(readServiceMessage(`{"error":{"code":"","details":${details}}}`).category).toBe('error');
  });

  test.each([
    'null',
    '""',
    '{}',
    '{"code":"","message":""}',
    '{"code":null,"message":""}',
    '{"code":"","message":"","details":{}}',
    '{"code":"","message":"","details":[]}',
    '{"code":"","message":"","details":{"field":"","expected":""}}',
    '{"code":"","message":"","details":[null,{"field":[""]}]}',
  ])('a message whose error is %s reports none', (error) => {
    const status = readServiceMessage(`{"type":"status","status":"interrupted","error":${error}}`);
    expect(status).toMatchObject({ category: 'status', kind: 'status' });
    expect([status.error, isInterruption(status)]).toEqual([undefined, true]);
    expect(readServiceMessage(`{"error":${error}}`)).toMatchObject({ category: 'other', kind: undefined });
  });

  test.each([
    '42',
    '"status"',
    'true',
    'null',
    '[]',
    '["type","error"]',
    '{}',
    '{"type":42}',
    '{"type":null}',
  ])('the unknown shape %s is shown, and has no kind', (text) => {
    expect(readServiceMessage(text)).toEqual({
      category: 'other',
      kind: undefined,
      body: JSON.parse(text),
      text,
    });
  });

  test.each(['', 'hello', '{"type":', '{"type":"status"} x', '\ufeff{}'])('%j is malformed', (text) => {
    expect(readServiceMessage(text)).toEqual({ category: 'malformed', kind: undefined, body: text, text });
  });

  test.each([
    ['{"error":{"code":"C"}}', 'error', undefined],
    ['{"type":"event","event":"error"}', 'error', 'error'],
    ['{"type":"message","error":{"code":"C"}}', 'error', 'message'],
    ['{"type":"event","event":"status","state":"listening"}', 'status', 'status'],
    ['{"type":"event","name":"transcript"}', 'other', 'event'],
  ])('%s is of the category %s and of the kind %s', (text, category, kind) => {
    expect(readServiceMessage(text)).toMatchObject({ category, kind });
  });

  test('an error is of the kind `error`, whatever it calls itself', () => {
    const isError = (text: string) => isOfKind(readServiceMessage(text), 'error');
    expect(isError('{"error":{"code":"C"}}')).toBe(true);
    expect(isError('{"type":"message","error":{"code":"C"}}')).toBe(true);
    expect(isError('{"type":"failure_error"}')).toBe(true);
    expect(isError('{"type":"status"}')).toBe(false);
    expect(isOfKind(readServiceMessage('{"type":"status"}'), 'status')).toBe(true);
  });

  test('the first field that holds a string names the kind', () => {
    expect(readServiceMessage('{"name":"b","type":"a"}').kind).toBe('a');
    expect(readServiceMessage('{"name":"b","type":1}').kind).toBe('b');
  });

  test('no depth of nesting makes reading fail', () => {
    const text = `{"type":"status","deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(readServiceMessage(text).category).toBe('status');
  });
});

test.each(['session_state', 'STATUS', 'statusUpdate'])('a message of kind %s is a status message', (type) => {
  expect(readServiceMessage(JSON.stringify({ type })).category).toBe('status');
});

describe('audio that was not heard yet is void', () => {
  test.each([
    { type: 'interrupted' },
    { type: 'Interruption' },
    { event: 'bargein' },
    { event: 'barge-in' },
    { type: 'clearaudio' },
    { type: 'flush_the_buffer' },
    { type: 'clear_buffer' },
    { type: 'flush_audio' },
    { type: 'audio.clear' },
    { type: 'output_audio_buffer.flush' },
    { type: 'buffer_clear' },
    { type: 'playback_flush' },
    { type: 'status', status: 'interrupted' },
    { type: 'status', state: 'interrupted' },
    { type: 'x', action: 'interrupt' },
    { type: 'x', reason: 'barge_in' },
  ])('after %j', (message) => {
    expect(isInterruption(readServiceMessage(JSON.stringify(message)))).toBe(true);
  });

  test.each([
    { type: 'clear' },
    { type: 'audio' },
    { type: 'playback_started' },
    { type: 'barging in' },
    { type: 'x', text: 'interrupted' },
    { type: 'status', status: 7 },
    { type: 'error', reason: 'interrupted' },
    { type: 'service_voice_connected', reason: 'interrupted' },
    ['interrupted'],
    'interrupted',
    {},
  ])('but not after %j', (message) => {
    expect(isInterruption(readServiceMessage(JSON.stringify(message)))).toBe(false);
  });
});

test.each(['type', 'kind', 'event', 'name'])(
  'what is written with the kind under %s is read',
  (kindField) => {
    for (const shape of ['nested', 'flat'] as const) {
      const dialect = dialectOf({ kindField, error: { shape } });
      expect(readServiceMessage(writeConnected(dialect)).category).toBe('connected');
      expect(readServiceMessage(writeStatus(dialect, 'listening')).category).toBe('status');
      expect(readServiceMessage(writeError(dialect, 'C', 'M'))).toMatchObject({
        category: 'error',
        error: { code: 'C', message: 'M' },
      });
    }
  },
);

test('further fields of the dialect never replace the own fields of a message', () => {
  const taken = { type: 'other', status: 'other', error: 'other', extra: 1 };
  const dialect = dialectOf({
    connected: { fields: taken },
    status: { fields: taken },
    error: { fields: taken },
  });
  expect(JSON.parse(writeConnected(dialect))).toMatchObject({ type: 'service_voice_connected', extra: 1 });
  expect(JSON.parse(writeStatus(dialect, 'speaking'))).toMatchObject({
    type: 'status',
    status: 'speaking',
    extra: 1,
  });
  expect(JSON.parse(writeError(dialect, 'C', 'm'))).toMatchObject({
    type: 'error',
    error: { code: 'C' },
    extra: 1,
  });
});

test.each([
  [{ type: 'status', status: 'speaking' }, 'speaking'],
  [{ type: 'order', status: 'shipped' }, 'order'],
  [{ type: 'status' }, 'status'],
  [{ a: 1 }, 'other'],
])('%j is labelled with one word', (body, word) => {
  expect(wordOfMessage(readServiceBody(body))).toBe(word);
});

test('the confirmation shows which field names the kind of the messages after it', () => {
  const read = createMessageReader();
  const kinds = [
    '{"op":"alarm"}',
    '{"op":"service_voice_connected"}',
    '{"op":"alarm","type":"x"}',
    '{"type":"y"}',
  ];
  expect(kinds.map((text) => read(text).kind)).toEqual([undefined, 'service_voice_connected', 'alarm', 'y']);
  expect(read('{"op":"error","code":"QUOTA","message":"out"}')).toMatchObject({
    category: 'error',
    kind: 'error',
  });
  expect(isInterruption(read('{"op":"interrupted"}'))).toBe(true);
});

test.each([
  '{"type":"status","status":"service_voice_connected"}',
  '{"message":"service_voice_connected","kind":"x"}',
])('a confirmation with one of the usual fields, %s, shows no other', (confirmation) => {
  const read = createMessageReader();
  expect(read(confirmation).category).toBe('connected');
  expect(isInterruption(read('{"type":"interruption","status":"listening"}'))).toBe(true);
  expect(read('{"type":"info","message":"no errors so far"}')).toMatchObject({
    category: 'other',
    kind: 'info',
  });
});

test('the kind that a stream showed stays with a message, if its usual fields do not name it', () => {
  const readText = createMessageReader();
  const sentOf = (message: object) => {
    const read = readText(JSON.stringify(message));
    return { body: read.body, ...unusualKind(read) };
  };
  sentOf({ msg: 'service_voice_connected' });
  const sent = sentOf({ msg: 'transcript', text: 'good morning' });
  expect(sent.kind).toBe('transcript');
  expect(readSentMessage(sent).kind).toBe('transcript');
  expect(sentOf({ type: 'status' })).toEqual({ body: { type: 'status' } });
});
