import { connectionsPerDevice } from '../../protocol/rate-limit.ts';
import { type Asker, signOfLife } from '../asker.ts';
import type { DeviceRole } from '../devices.ts';
import type { ServiceLine } from '../service-line.ts';
import type { Step } from './step.ts';
import { presentToken } from './stream-steps.ts';

/** How long the service may take to close an older stream, or to give a slot back. */
const noticeMs = 1_000;

/** Streams that are closed now were open before: their ends are later than the last token. */
const apartMs = 10;

/** The stream beyond a device's limit, and the one that is opened when a slot is free again. */
export const streamTooMany = `C${connectionsPerDevice + 1}`;
const streamInFreedSlot = `C${connectionsPerDevice + 2}`;

/** Ten streams, one more, one of another device, and one when a slot is free again. */
export const connectionSteps: readonly Step[] = [
  {
    id: 'C',
    title: `${connectionsPerDevice} streams of one device, one more, and one when a slot is free`,
    level: 'standard',
    cost: { tokens: connectionsPerDevice + 3, plain: 0, connections: connectionsPerDevice + 3 },
    device: 'many',
    exchanges: [
      ...Array.from({ length: connectionsPerDevice }, (_, index) => `C${index + 1}`),
      ...[streamTooMany, streamInFreedSlot, 'C-other'],
    ].flatMap((name) => [name, `${name}-token`]),
    takesMs: 3_000,
    run: fillUp,
  },
];

async function openOne(ask: Asker, name: string, device: DeviceRole, provoked = false): Promise<ServiceLine> {
  await ask.token(`${name}-token`, { device });
  const token = ask.tokenOf(`${name}-token`);
  const line = await ask.open(name, { provoked });
  await presentToken(ask, line, token);
  return line;
}

async function fillUp(ask: Asker): Promise<void> {
  const lines: ServiceLine[] = [];
  const keepAlive = () => {
    for (const line of lines) if (line.isConfirmed) line.sendAudio(signOfLife);
  };
  try {
    for (let count = 1; count <= connectionsPerDevice; count += 1) {
      keepAlive();
      const line = await openOne(ask, `C${count}`, 'many');
      lines.push(line);
      if (!line.isConfirmed) break;
    }
    keepAlive();
    if (lines.every(({ isConfirmed }) => isConfirmed)) {
      lines.push(await openOne(ask, streamTooMany, 'many', true));
      await Promise.all(lines.map((line) => line.settle()));
      // Only a second device shows whether the limit also hits others. Before the token a service only knows the address.
      if (ask.deviceOf('many') !== ask.deviceOf('own'))
        lines.push(await openOne(ask, 'C-other', 'own', true));
    }
    const [oldest, other] = lines.filter(({ isOpen, isConfirmed }) => isOpen && isConfirmed);
    await oldest?.close();
    // A wait ends with its line: this one is for one that goes on.
    if (other !== undefined) await ask.wait(other, () => false, noticeMs);
    lines.push(await openOne(ask, streamInFreedSlot, 'many'));
    const open = lines.find(({ isOpen }) => isOpen);
    if (open !== undefined) await ask.wait(open, () => false, apartMs);
  } finally {
    await Promise.all(lines.map((line) => line.close()));
  }
}
