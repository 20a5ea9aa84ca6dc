import { serviceUrl, tokenPath } from '../../protocol/paths.ts';
import { oneConnection } from '../cost.ts';
import type { Step } from './step.ts';
import { presentToken } from './stream-steps.ts';
import { plainStep, tokenStep } from './token-steps.ts';

/** Not a secret, and nobody's key. */
const dummyKey = 'voicectl-no-key';
const kibibyte = 1024;
const bodySizes: readonly number[] = [64 * kibibyte, 1024 * kibibyte];
const headerBytes = 64 * kibibyte;
const messageSizes: readonly number[] = [64 * kibibyte, 1024 * kibibyte + 1, 16 * 1024 * kibibyte];

/** Sizes and media types that a firewall may refuse before the service does. */
export const thoroughSteps: readonly Step[] = [
  tokenStep(
    'H1',
    'a request declared as plain text',
    { accept: true, mediaType: 'text/plain', provoked: true },
    { level: 'thorough' },
  ),
  ...bodySizes.map((bytes, index) =>
    tokenStep(
      `H${index + 2}`,
      `a body of ${bytes / kibibyte} KiB with a dummy key`,
      {
        accept: true,
        body: ({ deviceId }) => JSON.stringify({ apiKey: dummyKey, deviceId, filling: 'x'.repeat(bytes) }),
        provoked: true,
      },
      { level: 'thorough', sendsWrongKey: true },
    ),
  ),
  plainStep(
    'H4',
    `headers of ${headerBytes / kibibyte} KiB`,
    ({ baseUrl }) => ({
      url: serviceUrl(baseUrl, tokenPath()),
      headers: [['X-Filling', 'x'.repeat(headerBytes)]],
      provoked: true,
    }),
    'thorough',
  ),
  ...messageSizes.map(
    (bytes, index): Step => ({
      id: `M${index + 1}`,
      title: `a text message of ${Math.floor(bytes / kibibyte)} KiB instead of a token`,
      level: 'thorough',
      cost: oneConnection,
      async run(ask) {
        const line = await ask.open(`M${index + 1}`, { provoked: true });
        await presentToken(ask, line, 'x'.repeat(bytes));
        await line.close();
      },
    }),
  ),
];
