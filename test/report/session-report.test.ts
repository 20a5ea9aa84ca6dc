import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VoicectlError } from '../../src/kernel/errors.ts';
import { describeFailure } from '../../src/kernel/failure-kind.ts';
import { junitXml } from '../../src/report/junit.ts';
import { sessionReport } from '../../src/report/session-report.ts';
import type { RunResult } from '../../src/runs/repeat.ts';
import { findPython } from '../helpers/python.ts';
import { lateAudio, makeRun, makeSummary, makeTotal } from '../helpers/summaries.ts';

const python = findPython('xml.etree.ElementTree');
if (python === undefined) console.warn('No Python: JUnit is not read by a foreign parser (python3)');

interface Element {
  tag: string;
  attributes: Record<string, string>;
  text: string;
  children: Element[];
}

let read: (xml: string) => Promise<Element>;
let close: () => void;

/** Starts a parser that is not of the library that wrote it, and that takes nothing but well-formed XML. */
function startParser(python: string): void {
  const script = `
import json, sys, xml.etree.ElementTree as tree
def plain(e):
    return {"tag": e.tag, "attributes": e.attrib, "text": e.text or "", "children": [plain(c) for c in e]}
for line in sys.stdin:
    try: answer = plain(tree.fromstring(json.loads(line)))
    except tree.ParseError as error: answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)`;
  const parser = spawn(python, ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface(parser.stdout)[Symbol.asyncIterator]();
  read = async (xml) => {
    parser.stdin.write(`${JSON.stringify(xml)}\n`);
    const answer = JSON.parse((await answers.next()).value) as Element & { error?: string };
    if (answer.error !== undefined) throw new Error(`${answer.error}\n${xml}`);
    return answer;
  };
  close = () => parser.stdin.end();
}

const report = (...runs: RunResult[]) => read(junitXml(sessionReport({ name: 'stream a.wav', runs })));
const reportRepeat = (...runs: RunResult[]) =>
  read(junitXml(sessionReport({ name: 'stream a.wav', runs, total: makeTotal(runs) })));
const all = (element: Element, tag: string): Element[] =>
  element.children.flatMap((child) => [...(child.tag === tag ? [child] : []), ...all(child, tag)]);

const pass = { name: 'expect-audio', ok: true, expected: 'any AI audio', measured: '1000 ms' };
const fail = {
  name: 'max-first-audio',
  ok: false,
  expected: 'at most 500 ms',
  measured: '690.4 ms',
  kind: 'late-audio' as const,
};
const late = makeRun({ summary: makeSummary({ ok: false, verdicts: [pass, fail] }), failure: lateAudio() });

describe.runIf(python)('JUnit of', () => {
  beforeAll(() => startParser(python ?? ''));
  afterAll(() => close());

  test('a run without a session skips what could not be measured', async () => {
    const skipped = { ...pass, name: 'forbid-event', skipped: true as const };
    const root = await report(makeRun({ summary: makeSummary({ verdicts: [skipped] }) }));
    expect(root.children[0]?.attributes).toMatchObject({ failures: '0', skipped: '1' });
    expect(all(root, 'skipped')).toHaveLength(1);
  });

  test('a run that passed has a case for the session and for each expectation', async () => {
    const root = await report(makeRun({ summary: makeSummary({ verdicts: [pass] }) }));
    expect(root).toMatchObject({
      tag: 'testsuites',
      attributes: { name: 'voicectl', tests: '2', failures: '0', errors: '0', time: '4.000' },
    });
    const [suite] = root.children;
    expect(suite).toMatchObject({
      tag: 'testsuite',
      attributes: {
        name: 'stream a.wav',
        tests: '2',
        failures: '0',
        errors: '0',
        skipped: '0',
        time: '4.000',
        timestamp: '2026-01-02T03:04:05Z',
      },
    });
    expect(all(root, 'testcase').map(({ attributes }) => attributes)).toEqual([
      { name: 'session', classname: 'voicectl.stream', time: '4.000' },
      { name: 'expect-audio: any AI audio', classname: 'voicectl.stream', time: '0.000' },
    ]);
    expect(all(root, 'system-out').map(({ text }) => text)).toEqual([
      expect.stringMatching(/first audio +690\.4 ms[\s\S]*result +ok/),
      'expected any AI audio, measured 1000 ms',
    ]);
    expect([...all(root, 'failure'), ...all(root, 'error')]).toEqual([]);
  });

  test('a run has the measured values as properties', async () => {
    const properties = Object.fromEntries(
      all(await report(makeRun()), 'property').map(({ attributes: { name, value } }) => [name, value]),
    );
    expect(properties).toMatchObject({
      device: 'device-1',
      exitCode: '0',
      firstAudioMs: '690.4',
      jitterP95Ms: '2.5',
      audioInMs: '1000',
      closeCode: '1000',
      'event.service_voice_connected': '1',
    });
  });

  test('an expectation that failed is a failure of its kind, not an error of the session', async () => {
    const root = await report(late);
    expect(root.attributes).toMatchObject({ tests: '3', failures: '1', errors: '0' });
    expect(all(root, 'testcase')[2]?.children[0]).toEqual({
      tag: 'failure',
      attributes: { type: 'late-audio', message: 'expected at most 500 ms, measured 690.4 ms' },
      text: 'expected at most 500 ms, measured 690.4 ms',
      children: [],
    });
  });

  test('a session that failed is an error of its kind', async () => {
    const error = new VoicectlError('stream-broken', 'The stream broke: close 1006');
    const root = await report(makeRun({ failure: describeFailure(error) }));
    expect(root.attributes).toMatchObject({ tests: '1', failures: '0', errors: '1' });
    expect(all(root, 'error')[0]?.attributes).toEqual({
      type: 'stream-broken',
      message: 'The stream broke: close 1006',
    });
  });

  test('a session that could not start is an error too', async () => {
    const failure = describeFailure(new VoicectlError('bad-input', 'Cannot read a.wav'));
    const root = await report(makeRun({ summary: undefined, failure }));
    expect(all(root, 'error')[0]?.attributes.type).toBe('usage');
  });

  test('several runs has a suite for each, and their cases have different names', async () => {
    const root = await reportRepeat(makeRun(), { ...late, run: 2 });
    expect(root.attributes).toMatchObject({ tests: '4', failures: '1', time: '8.000' });
    expect(root.children.map(({ attributes: { name } }) => name)).toEqual([
      'stream a.wav, run 1',
      'stream a.wav, run 2',
    ]);
    const names = all(root, 'testcase').map(({ attributes }) => `${attributes.classname} ${attributes.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  test('several runs of which only one began names that run', async () => {
    const root = await reportRepeat(makeRun());
    expect(root.children.map(({ attributes: { name } }) => name)).toEqual(['stream a.wav, run 1']);
  });

  test('anything that a service may send is well-formed and does not control a terminal', async () => {
    const evil =
      '::a::\u0000\u0001\u001b]0;x\u0007\u009b\u202e\r\n\t<&>"\'\ud800\udfff\ud800 ]]> \ufffe\uffff ##[c] ##vso[d]';
    const summary = makeSummary({
      device: evil,
      events: { [evil]: 1 },
      close: { code: 4000, reason: evil, name: 'application' },
      verdicts: [{ ...fail, name: evil, expected: evil, measured: evil }],
    });
    const failure = { ...lateAudio(), code: 'service-error' as const, message: evil };
    const xml = junitXml(sessionReport({ name: evil, runs: [makeRun({ summary, failure })] }));
    expect(xml).not.toMatch(/[\u0000-\u0008\u001b\u007f-\u009f\u202e\ufffe\uffff\r]/);
    expect(xml).not.toMatch(/##(?:vso)?\[|^\s*::/m);
    const root = await read(xml);
    expect(all(root, 'failure')[0]?.attributes.message).toContain('<&>"\'');
    expect(all(root, 'failure')[0]?.attributes.message).toContain('\\u001b]0;x\\u0007');
  });
});
