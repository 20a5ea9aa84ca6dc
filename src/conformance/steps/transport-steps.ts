import { serviceUrl, tokenPath } from '../../protocol/paths.ts';
import { onePlain } from '../cost.ts';
import type { Step } from './step.ts';

/** The plain port of a service that is asked over TLS. No key is sent. */
export const plainPortStep: Step = {
  ...{ id: 'K4', title: 'the same host over plain HTTP', level: 'base', cost: onePlain },
  async run(ask) {
    const { hostname } = new URL(ask.subject.baseUrl);
    await ask.plain('K4', {
      method: 'GET',
      url: serviceUrl(`http://${hostname}`, tokenPath()),
      provoked: true,
    });
  },
};
