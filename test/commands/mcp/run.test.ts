import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { describeTools } from '../../../src/commands/mcp/run.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'MCP.md'), 'utf8');
const tools = describeTools();

test('the session of docs/MCP.md has calls that the tools accept (npm run mcp:session writes it again)', () => {
  const ajv = new Ajv2020({ strict: false });
  const calls = [...page.matchAll(/^\*\*.+\*\* `(\w+)`, ([\d,]+) bytes:\n\n```json\n(.+)\n```$/gm)];
  expect(calls.map(([, name]) => name)).toEqual(['start', 'stream', 'journal', 'stream', 'drill', 'stop']);
  for (const [, name, bytes = '', args = ''] of calls) {
    const validate = ajv.compile(tools.find((tool) => tool.name === name)?.inputSchema ?? false);
    validate(JSON.parse(args));
    expect({ name, errors: validate.errors }).toEqual({ name, errors: null });
    expect(Buffer.byteLength(args)).toBe(Number(bytes.replace(',', '')));
  }
});

test('the size of the list of tools is as docs/MCP.md says', () => {
  const size = Buffer.byteLength(JSON.stringify(tools)).toLocaleString('en');
  expect(page).toContain(`The list of ${tools.length} tools is ${size} bytes, once a session.`);
});
