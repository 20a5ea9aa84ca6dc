import type { EmulatorOptions } from '../emulator/emulator.ts';
import type { EmulatorEvent } from '../emulator/events.ts';
import { serviceUrl, streamPath, tokenPath } from '../protocol/paths.ts';
import { curlCommand } from './curl.ts';
import type { Style } from './style.ts';

/** Sent in examples; an emulator that no keys were given to accepts it like any other. */
const exampleKey = 'any-key';

/** What `serve` says first: the URLs, and a curl line that works. */
export function startLines(
  { version, baseUrl, wsUrl }: EmulatorEvent & { type: 'listening' },
  { reply = 'parrot', acceptKeys = [] }: EmulatorOptions,
  style: Style,
): string[] {
  const tokenUrl = serviceUrl(baseUrl, tokenPath());
  const key = acceptKeys.length === 0 ? { publicKey: exampleKey } : {};
  return [
    `${style.strong(`voicectl ${version}`)} emulates the service, replying with ${reply}\n`,
    `  token   ${tokenUrl}\n`,
    `  stream  ${serviceUrl(wsUrl, streamPath)}\n`,
    `  try     ${curlCommand({ url: tokenUrl, device: 'device-1', ...key })}\n`,
  ];
}
