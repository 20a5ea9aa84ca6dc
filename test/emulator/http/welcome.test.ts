import { expect, test } from 'vitest';
import { setUpEmulators } from '../../helpers/emulators.ts';

const startEmulator = setUpEmulators();

test('a browser that opens the address of the emulator gets a page that says what it is', async () => {
  const { baseUrl } = await startEmulator();
  const answer = await fetch(baseUrl, { headers: { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
  expect(answer.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
  const page = await answer.text();
  expect(page).toContain('<h1>voicectl emulator</h1>');
  expect(page).not.toContain('<script');
  for (const [, path = ''] of page.matchAll(/href="([^"]+)"/g))
    expect({ path, status: (await fetch(baseUrl + path)).status }).toEqual({ path, status: 200 });
});

test('any other client gets the links as JSON, and each leads somewhere', async () => {
  const { baseUrl } = await startEmulator();
  const answer = await fetch(baseUrl);
  expect(answer.headers.get('Content-Type')).toBe('application/json');
  const { name, links } = (await answer.json()) as { name: string; links: Record<string, string> };
  expect(name).toBe('voicectl');
  expect(Object.keys(links)).toEqual(['token', 'stream', 'openapi', 'asyncapi', 'state']);
  for (const path of Object.values(links)) expect((await fetch(baseUrl + path)).status).not.toBe(404);
});

test('HEAD is answered like GET, and POST finds nothing there', async () => {
  const { baseUrl, events } = await startEmulator();
  expect((await fetch(baseUrl, { method: 'HEAD' })).status).toBe(200);
  expect(events.map(({ type }) => type)).toEqual(['listening']);
  expect((await fetch(baseUrl, { method: 'POST' })).status).toBe(404);
});

test('a page of another origin or another host name gets neither', async () => {
  const { baseUrl } = await startEmulator();
  const answer = await fetch(baseUrl, { headers: { Origin: 'https://evil.example', Accept: 'text/html' } });
  expect(answer.status).toBe(403);
});
