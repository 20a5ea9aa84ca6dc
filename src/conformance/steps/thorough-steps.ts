import { serviceUrl, tokenPath } from '../../protocol/paths.ts';
import { oneConnection, onePlain, oneToken } from '../cost.ts';
import type { Step } from './step.ts';
import { present } from './stream-steps.ts';

/** No secret, and no key of anybody. */
const dummyKey = 'voicectl-no-key';
const kibibyte = 1024;
const bodySizes: readonly number[] = [64 * kibibyte, 1024 * kibibyte];
const headerBytes = 64 * kibibyte;
const messageSizes: readonly number[] = [64 * kibibyte, 1024 * kibibyte + 1, 16 * 1024 * kibibyte];

/** Sizes and media types that a firewall may refuse in the place of the service. */
export const thoroughSteps: readonly Step[] = [
  {
    ...{ id: 'H1', title: 'a request that says it is plain text', level: 'thorough', cost: oneToken },
    run: async (ask) =>
      void (await ask.token('H1', { accept: true, mediaType: 'text/plain', provoked: true })),
  },
  ...bodySizes.map(
    (bytes, index): Step => ({
      id: `H${index + 2}`,
      title: `a body of ${bytes / kibibyte} KiB with a dummy key`,
      level: 'thorough',
      cost: oneToken,
      sendsWrongKey: true,
      async run(ask) {
        const body = ({ deviceId }: { deviceId: string }) =>
          JSON.stringify({ apiKey: dummyKey, deviceId, filling: 'x'.repeat(bytes) });
        await ask.token(`H${index + 2}`, { accept: true, body, provoked: true });
      },
    }),
  ),
  {
    ...{ id: 'H4', title: `headers of ${headerBytes / kibibyte} KiB`, level: 'thorough', cost: onePlain },
    async run(ask) {
      const url = serviceUrl(ask.subject.baseUrl, tokenPath());
      const headers = [['X-Filling', 'x'.repeat(headerBytes)]] as const;
      await ask.plain('H4', { method: 'GET', url, headers, provoked: true });
    },
  },
  ...messageSizes.map(
    (bytes, index): Step => ({
      id: `M${index + 1}`,
      title: `a text message of ${Math.floor(bytes / kibibyte)} KiB instead of a token`,
      level: 'thorough',
      cost: oneConnection,
      async run(ask) {
        const line = await ask.open(`M${index + 1}`, { provoked: true });
        await present(ask, line, 'x'.repeat(bytes));
        await line.close();
      },
    }),
  ),
];
