import type { Clock } from '../../kernel/clock.ts';
import type { TemplateValues } from '../../protocol/dialect/templates.ts';
import type { StreamTotals } from '../events.ts';
import type { Random } from '../random.ts';

export interface MessageValuesOptions {
  stream: number;
  totals: Pick<StreamTotals, 'device'>;
  random: Pick<Random, 'id'>;
  clock: Pick<Clock, 'wall'>;
}

/** Values for the templates of one stream's messages. A random value is drawn only if a template uses it. */
export function createMessageValues({ stream, totals, random, clock }: MessageValuesOptions): TemplateValues {
  let session: string | undefined;
  let sequence = 0;
  return {
    stream,
    uuid: random.id,
    get session() {
      session ??= random.id();
      return session;
    },
    nowMs: () => clock.wall(),
    get device() {
      return totals.device;
    },
    nextSequence() {
      sequence += 1;
      return sequence;
    },
  };
}
