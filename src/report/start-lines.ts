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
  const { tokenUrl, streamUrl, curl } = serviceFacts({ baseUrl, wsUrl }, { anyKey });
  return [
    `${style.strong(`voicectl ${version}`)} emulates the service, replying with ${reply}`,
    `  token   ${tokenUrl}`,
    `  stream  ${streamUrl}`,
    `  try     ${curl}`,
  ];
}

/** Where an emulator is reached, and a command that asks it for a token. */
export function serviceFacts(
  { baseUrl, wsUrl }: { baseUrl: string; wsUrl: string },
  { anyKey }: { anyKey: boolean },
): { tokenUrl: string; streamUrl: string; curl: string } {
  const tokenUrl = serviceUrl(baseUrl, tokenPath());
  const key = anyKey ? { publicKey: exampleKey } : {};
  return {
    tokenUrl,
    streamUrl: serviceUrl(wsUrl, streamPath),
    curl: curlCommand({ url: tokenUrl, device: 'device-1', ...key }),
  };
}
