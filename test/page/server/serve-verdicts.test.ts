import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { type ServedVerdicts, serveVerdicts } from '../../../src/page/server/serve-verdicts.ts';
import type { VerdictNews } from '../../../src/ui/verdict-model.ts';
import { askByHand } from '../../helpers/ask-by-hand.ts';
import { hostileRequests, ofPage } from '../../helpers/hostile-requests.ts';

const calm = new AbortController().signal;
const pages: ServedVerdicts[] = [];
afterEach(async () => {
  for (const page of pages.splice(0)) await page.close(false, calm);
});

async function serve() {
  const page = await serveVerdicts({
    ...{ command: 'check', subject: 'https://voice.example', version: '1.2.3' },
    clock: systemClock,
  });
  pages.push(page);
  const { origin, port, hash } = new URL(page.url);
  return { page, origin, port: Number(port), token: hash.slice(1) };
}

const planned: VerdictNews = {
  type: 'planned',
  what: 'rules',
  items: [
    { id: 'R1', title: 'one' },
    { id: 'R2', title: 'two' },
  ],
};
const judged = (id: string, message: string): VerdictNews => ({
  ...{ type: 'judged', lines: [message], body: { id } },
  item: { id, title: id, verdict: 'pass', message, isFinal: true },
});

test('a tab that opens late receives once what it has to know, and the rest as it happens', async () => {
  const { page, origin, token } = await serve();
  page.show(planned);
  page.show({ type: 'doing', text: 'a' });
  page.show(judged('R1', 'first'));
  page.show(judged('R1', 'second'));
  page.show({ type: 'doing', text: 'b' });
  const answer = await fetch(`${origin}/__voicectl/page/live`, { headers: { 'X-Voicectl-Token': token } });
  page.show({ type: 'ended', ok: true, text: 'done, ok' });
  const closed = page.close(true, calm);
  const lines = (await answer.text()).trimEnd().split('\n');
  await closed;
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { type: 'verdicts', command: 'check', subject: 'https://voice.example', version: '1.2.3' },
    planned,
    judged('R1', 'second'),
    { type: 'doing', text: 'b' },
    { type: 'ended', ok: true, text: 'done, ok' },
  ]);
});

test('the end waits for a browser that was started, but for no other, and not against the user', async () => {
  const { page, origin, token } = await serve();
  const closed = page.close(true, calm);
  const answer = await fetch(`${origin}/__voicectl/page/live`, { headers: { 'X-Voicectl-Token': token } });
  expect(await answer.text()).toContain('"verdicts"');
  await closed;
  await (await serve()).page.close(false, calm);
  await (await serve()).page.close(true, AbortSignal.abort());
});

test('only its own page can follow a run', async () => {
  const { port, token } = await serve();
  const line = 'GET /__voicectl/page/live';
  const answers = [];
  for (const [who, headers] of hostileRequests(token))
    answers.push([who, (await askByHand(port, { line, headers: headers(port) })).status]);
  expect(answers).toEqual(hostileRequests(token).map(([who]) => [who, 403]));
  expect((await askByHand(port, { line, headers: { 'X-Voicectl-Token': 'x' } })).status).toBe(403);
  const own = { ...ofPage(port), 'X-Voicectl-Token': token };
  expect((await askByHand(port, { line, headers: own })).status).toBe(200);
});

test.each([
  ['GET /__voicectl/', 200],
  ['GET /__voicectl/assets/verdicts.js', 200],
  ['GET /__voicectl/assets/app.css', 200],
  ['GET /__voicectl/assets/..%2Fcli.js', 404],
  ['GET /__voicectl/assets/nothing.js', 404],
  ['GET /__voicectl', 404],
  ['GET /', 404],
  ['POST /__voicectl/', 405],
])('%s is answered with %i', async (line, expected) => {
  const { port, token } = await serve();
  const { status, head } = await askByHand(port, { line });
  expect(status).toBe(expected);
  expect(head).not.toContain(token);
  if (status === 200) expect(head).toContain("default-src 'none'");
});
