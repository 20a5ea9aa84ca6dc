import type { EmulatorEvent } from '../service/events.ts';
import { type StartFacts, serviceLines } from './start-lines.ts';
import type { Style } from './style.ts';

export interface ProxyFacts extends Pick<StartFacts, 'key' | 'trust' | 'forwarded' | 'page'> {
  /** The address of the service. */
  target: string;
}

/** `to https://service.example` */
export function proxySubject(target: string): string {
  return `to ${target}`;
}

/** The first lines of `proxy`: where devices connect, and a curl command that works. */
export function proxyStartLines(
  event: EmulatorEvent & { type: 'listening' },
  { target, ...facts }: ProxyFacts,
  style: Style,
): string[] {
  return [
    `${style.strong(`voicectl ${event.version}`)} passes everything on to ${target}, and judges both sides`,
    ...serviceLines(event, facts),
  ];
}
