import type { Socket } from 'node:net';
import type { LostTime } from '../../audio/verdict/pace-check.ts';
import { Line } from '../../wire/server/network/line.ts';

/** The time that messages of a peer lose: in this process, and in the network that it simulates. */
export function lostOnTheWay(own: LostTime, transport: Socket): LostTime {
  if (!(transport instanceof Line)) return own;
  return {
    get lostMs() {
      return own.lostMs + transport.lostMs;
    },
    get heldMs() {
      return transport.heldMs;
    },
  };
}
