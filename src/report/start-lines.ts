import { escapeText } from '../kernel/escape.ts';
import { serviceUrl, streamPath, tokenPath } from '../protocol/paths.ts';
import type { EmulatorEvent } from '../service/events.ts';
import { type CurlRequest, curlCommand } from './curl.ts';
import type { Style } from './style.ts';

/** What the AI says: the steps of the scenario if there are any for the device, else the reply. */
export interface Speakers {
  reply: string;
  scenario?: string | undefined;
}

export interface StartFacts extends Speakers {
  /** The address of the page, with the secret of this start. */
  page?: string | undefined;
  /** What the curl command sends. */
  key: CurlRequest['key'];
  /** With TLS: the file with the certificate, or `anybody` if curl cannot check it. */
  trust?: CurlRequest['trust'];
  /** On loopback: whether a forwarded request needs the secret to control the emulator, or is refused. */
  forwarded?: 'secret' | 'refused' | undefined;
}

/** The first lines of `serve`: the URLs, those for other machines too, and a curl command that works. */
export function startLines(
  event: EmulatorEvent & { type: 'listening' },
  { key, trust, forwarded, page, ...speakers }: StartFacts,
  style: Style,
): string[] {
  return [
    `${style.strong(`voicectl ${event.version}`)} emulates the service, ${speakersText(speakers)}`,
    ...serviceLines(event, { key, trust, forwarded, page }),
  ];
}

/** The lines after the first one. */
export function serviceLines(
  { baseUrl, wsUrl, lan = [] }: EmulatorEvent & { type: 'listening' },
  { key, trust, forwarded, page }: Pick<StartFacts, 'key' | 'trust' | 'forwarded' | 'page'>,
): string[] {
  const { tokenUrl, streamUrl, curl } = serviceFacts({ baseUrl, wsUrl }, { key, trust });
  return [
    `  token   ${tokenUrl}`,
    `  stream  ${streamUrl}`,
    ...lan.flatMap(lanLines),
    ...(page === undefined ? [] : [`  page    ${page}`]),
    ...trustLines(trust),
    ...controlLines(forwarded),
    `  try     ${curl}`,
  ];
}

export function speakersText({ reply, scenario }: Speakers): string {
  const replying = `replying with ${reply}`;
  return scenario === undefined ? replying : `following scenario ${scenario}, otherwise ${replying}`;
}

/** The addresses of an emulator, and a command that requests a token. */
export function serviceFacts(
  { baseUrl, wsUrl }: { baseUrl: string; wsUrl: string },
  { key, trust }: Pick<StartFacts, 'key' | 'trust'>,
): { tokenUrl: string; streamUrl: string; curl: string } {
  const tokenUrl = serviceUrl(baseUrl, tokenPath());
  return {
    tokenUrl,
    streamUrl: serviceUrl(wsUrl, streamPath),
    curl: curlCommand({ url: tokenUrl, device: 'device-1', trust, key }),
  };
}

function lanLines({ baseUrl, wsUrl }: { baseUrl: string; wsUrl: string }, index: number): string[] {
  const label = index === 0 ? 'network' : '';
  return [
    `  ${label.padEnd(8)}${serviceUrl(baseUrl, tokenPath())}`,
    `          ${serviceUrl(wsUrl, streamPath)}`,
  ];
}

function trustLines(trust: CurlRequest['trust']): string[] {
  if (trust === undefined) return [];
  if (trust === 'anybody')
    return [
      '  trust   curl -k does not verify the certificate; --cert-out FILE writes it for devices that do',
    ];
  return [`  trust   ${escapeText(trust.file)}: pass it to voicectl --ca, or to Node in NODE_EXTRA_CA_CERTS`];
}

function controlLines(forwarded: StartFacts['forwarded']): string[] {
  if (forwarded === undefined) return [];
  const others =
    forwarded === 'secret'
      ? 'a request through a proxy needs the control secret'
      : 'a request through a proxy is refused unless VOICECTL_CONTROL_SECRET is set';
  return [`  control from this machine; ${others}`];
}
