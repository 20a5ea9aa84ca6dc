import type { DrillOptions, DrillResult } from '../../conformance/drill/drill.ts';
import type { Situation } from '../../conformance/drill/situation.ts';
import type { ServiceAccess } from '../../conformance/drill/stage.ts';
import { jsonLine } from '../../kernel/escape.ts';
import { drilledObject, drillSummaryObject } from '../../report/drill-json.ts';
import { drilledLines, drillSummaryLines } from '../../report/drill-lines.ts';
import type { DrillContext } from './context.ts';

/** What a view needs to know about a drill before it starts. */
export interface DrillFacts {
  /** The device, for people. */
  name: string;
  situations: readonly Situation[];
  /** Whether the drill starts the device. */
  isCommand: boolean;
  access: ServiceAccess;
}

/** Shows a drill to the user: on a screen, as lines, or as JSON. */
export interface DrillView {
  /** What the drill tells, and the signal that ends it. */
  readonly follow: Pick<DrillOptions, 'signal' | 'onBegin' | 'onDrilled' | 'onListening' | 'onStopNeeded'>;
  /** Shows the result. Resolves when the user has seen it. */
  finish(result: DrillResult): Promise<void>;
  /** Called in any case, also where there is no result. */
  close(): Promise<void>;
}

/** A line for each situation as soon as it is judged; with `--json` an object. */
export function createDrillLines(context: DrillContext, facts: DrillFacts): DrillView {
  const { args, io, json, style, note, signal } = context;
  const told: Promise<void>[] = [];
  const write = (text: string) => void told.push(io.stdout.write(text));
  let isListening = false;
  let next = '';
  return {
    follow: {
      signal,
      onListening({ baseUrl, wsUrl }) {
        if (facts.isCommand) return;
        if (!isListening) for (const line of welcomeLines(facts, { baseUrl, wsUrl })) void note(line);
        isListening = true;
        void note(next);
      },
      onStopNeeded: () => void note('Stop the device now: switch it off, or end its conversation.'),
      onBegin({ id, title }) {
        next = `${id}: ${title}…`;
      },
      onDrilled(drilled) {
        const lines = drilledLines(drilled, args, style).map((line) => `${line}\n`);
        write(json ? jsonLine(drilledObject(drilled, args)) : lines.join(''));
      },
    },
    async finish(result) {
      await Promise.all(told);
      await io.stdout.write(
        json
          ? jsonLine(drillSummaryObject(result))
          : drillSummaryLines(result, style)
              .map((line) => `${line}\n`)
              .join(''),
      );
    },
    async close() {
      await Promise.all(told);
    },
  };
}

/** What to type into a device that connects by itself. */
export function welcomeLines(
  { access: { acceptKeys = [], tls } }: DrillFacts,
  { baseUrl, wsUrl }: { baseUrl: string; wsUrl: string },
): string[] {
  return [
    `Base URL  ${baseUrl}`,
    `Stream    ${wsUrl}`,
    acceptKeys.length === 0 ? 'API key   any' : 'API key   one of those that are accepted',
    ...(tls === undefined ? [] : ['The device has to trust the certificate: --cert-out FILE writes it.']),
    'Waiting for the device. It may have to be started again now and then.',
  ];
}
