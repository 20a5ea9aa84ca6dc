import { readFile, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

/**
 * Writes a session with `voicectl mcp` into docs/MCP.md, from a real run of the built program: calls, answers, and the
 * bytes of both.
 */
const root = join(import.meta.dirname, '..');
const page = join(root, 'docs', 'MCP.md');
const shownBytes = 1_400;

const client = new Client({ name: 'docs', version: '1' });
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: [join(root, 'bin', 'voicectl.js'), 'mcp'],
    cwd: root,
    stderr: 'inherit',
  }),
);
/** @type {string[]} */
const parts = [];

/**
 * @param {string} why
 * @param {string} name
 * @param {Record<string, unknown>} args
 */
async function call(why, name, args) {
  const { content } = await client.callTool({ name, arguments: args }, undefined, { timeout: 300_000 });
  const [answer] = /** @type {[{ text: string }]} */ (content);
  // The path of the clone is of no interest.
  const text = answer.text.replaceAll(`${root}${sep}`, '');
  const asked = JSON.stringify(args);
  const isLong = text.length > shownBytes;
  parts.push(
    `**${why}** \`${name}\`, ${bytes(asked)}:`,
    fenced('json', asked),
    `The answer, ${bytes(text)}${isLong ? ' (only the beginning is shown)' : ''}:`,
    isLong ? fenced('text', `${text.slice(0, shownBytes)} …`) : fenced('json', text),
  );
  return JSON.parse(text);
}

const { tools } = await client.listTools();
parts.push(`The list of ${tools.length} tools is ${bytes(JSON.stringify(tools))}, once a session.`);
const { id } = await call('Start an emulator that closes a stream.', 'start', {
  faults: ['close:code=1012,after=1s,times=1'],
});
const smoke = { service: id, device: 'lamp-1', expect: { expectAudio: '1s' } };
await call('Stream against it.', 'stream', smoke);
await call('Find the cause.', 'journal', { service: id, type: 'fault-struck' });
await call('The fault struck once: stream again.', 'stream', smoke);
await call('Drill a device with the same close.', 'drill', {
  command: ['node', 'examples/devices/device.js'],
  situations: ['D1', 'D9-1012'],
});
await call('Stop the emulator.', 'stop', { id });
await client.close();

const [open, close] = ['<!-- session -->', '<!-- end of session -->'];
const text = await readFile(page, 'utf8');
const [start, end] = [text.indexOf(open) + open.length, text.indexOf(close)];
await writeFile(page, `${text.slice(0, start)}\n\n${parts.join('\n\n')}\n\n${text.slice(end)}`);

/** @param {string} text */
function bytes(text) {
  return `${Buffer.byteLength(text).toLocaleString('en')} bytes`;
}

/** @param {string} language @param {string} text */
function fenced(language, text) {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}
