import type { Header } from '../wire/exchange.ts';

/** Headers about one connection, not about the message (RFC 9110, section 7.6.1). */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The headers that a proxy passes on, in their order and spelling. `without` names more to drop, in lower case. */
export function passedHeaders(headers: readonly Header[], without: readonly string[] = []): Header[] {
  const named = headers
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(','))
    .map((name) => name.trim().toLowerCase());
  const dropped = new Set([...hopByHop, ...named, ...without]);
  return headers.filter(([name]) => !dropped.has(name.toLowerCase()));
}

/** The values of each header, by name. */
export function headerLists(headers: readonly Header[]): Record<string, string[]> {
  const lists = new Map<string, string[]>();
  for (const [name, value] of headers) lists.set(name, [...(lists.get(name) ?? []), value]);
  return Object.fromEntries(lists);
}
