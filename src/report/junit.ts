import { create } from 'xmlbuilder2';
import { escapeText } from '../kernel/escape.ts';
import type { RunReport, TestCase } from './run-report.ts';

/** A run as JUnit XML, as Ant and Jenkins define it. */
export function junitXml({ suites }: Pick<RunReport, 'suites'>): string {
  // Replaces characters that XML does not allow, such as U+FFFE.
  const root = create({ version: '1.0', encoding: 'UTF-8', invalidCharReplacement: '\ufffd' }).ele(
    'testsuites',
    {
      name: 'voicectl',
      ...countsOf(suites.flatMap(({ cases }) => cases)),
      time: timeAttribute(suites.reduce((sum, { seconds }) => sum + seconds, 0)),
    },
  );
  for (const { name, startedAt, seconds, properties, cases } of suites) {
    const suite = root.ele('testsuite', {
      name: safeLine(name),
      ...countsOf(cases),
      skipped: countOf(cases, 'skipped'),
      time: timeAttribute(seconds),
      timestamp: new Date(startedAt).toISOString().replace(/\.\d+Z$/, 'Z'),
    });
    const list = suite.ele('properties');
    for (const [name, value] of properties)
      list.ele('property', { name: safeLine(name), value: safeLine(value) });
    for (const { name, classname, seconds, outcome, out } of cases) {
      const testcase = suite.ele('testcase', {
        name: safeLine(name),
        classname,
        time: timeAttribute(seconds),
      });
      if (outcome !== undefined) {
        const { element, type, message } = outcome;
        const attributes = { message: safeLine(message) };
        if (element === 'skipped') testcase.ele(element, attributes);
        else testcase.ele(element, { type, ...attributes }).txt(safeLine(message));
      }
      testcase.ele('system-out').txt(out.map(safeLine).join('\n'));
    }
  }
  return `${root.end({ prettyPrint: true })}\n`;
}

type Element = NonNullable<TestCase['outcome']>['element'];

function countsOf(cases: readonly TestCase[]) {
  return {
    tests: String(cases.length),
    failures: countOf(cases, 'failure'),
    errors: countOf(cases, 'error'),
  };
}

function countOf(cases: readonly TestCase[], element: Element): string {
  return String(cases.filter(({ outcome }) => outcome?.element === element).length);
}

function timeAttribute(seconds: number): string {
  return seconds.toFixed(3);
}

/** Control characters are not allowed in XML, not even as references. */
function safeLine(text: string): string {
  return escapeText(text);
}
