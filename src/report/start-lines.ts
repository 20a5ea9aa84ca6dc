import type { EmulatorEvent } from '../emulator/events.ts';
import { serviceUrl, streamPath, tokenPath } from '../protocol/paths.ts';
import { curlCommand } from './curl.ts';
import type { Style } from './style.ts';

/** Sent in examples; an emulator that no keys were given to accepts it like any other. */
const exampleKey = 'any-key';

/** What `serve` says first: the URLs, and a curl line that works. */
export function startLines(
  { version, baseUrl, wsUrl }: EmulatorEvent & { type: 'listening' },
  { reply, anyKey }: { reply: string; anyKey: boolean },
  style: Style,
): string[] {
  const tokenUrl = serviceUrl(baseUrl, tokenPath());
  const key = anyKey ? { publicKey: exampleKey } : {};
  return [
    `${style.strong(`voicectl ${version}`)} emulates the service, replying with ${reply}`,
    `  token   ${tokenUrl}`,
    `  stream  ${serviceUrl(wsUrl, streamPath)}`,
    `  try     ${curlCommand({ url: tokenUrl, device: 'device-1', ...key })}`,
  ];
}
