import { isUtf8 } from 'node:buffer';
import type { Clock } from '../kernel/clock.ts';
import { closeCodes, reasonNotUtf8 } from '../protocol/close-codes.ts';
import { endTransport } from '../service/streams/open-stream.ts';
import type { Side, StreamEnd } from '../wire/exchange.ts';
import type { PeerClose } from './leg-socket.ts';
import { type Leg, otherSide, Passage, type PassageWatch, sides, type WaitingBytes } from './passage.ts';

/** `at`: when the first side closed or vanished; the other one may answer, or end its connection, later. */
export interface JoinedEnd extends Pick<StreamEnd, 'at' | 'by' | 'code' | 'reason'> {
  /** How a side violated the WebSocket protocol, if one did. */
  violation: { by: Side; message: string } | undefined;
  /** Whether the proxy ended it. */
  isOurs: boolean;
}

export interface JoinLegsOptions {
  device: Leg;
  service: Leg;
  clock: Clock;
  watch: PassageWatch;
  waiting: WaitingBytes;
  /** The close that both sides get if one of them does not read. */
  slowReader: { close: number; reason: string };
  /** Called when it begins to end, and again if a side then violates the protocol. */
  onEnding: (end: JoinedEnd) => void;
  /** Called when both connections have ended. */
  onEnd: (end: JoinedEnd) => void;
}

/** Two legs as one stream. */
export interface Joined {
  /** The passage from the device, and the one from the service. */
  readonly passages: Readonly<Record<Side, Passage>>;
  /** Closes both sides; 1005 means no code, 1006 no close frame. */
  close(code: number, reason: string): void;
  /** Closes one side only; its answer is passed to the other one. */
  closeTowards(side: Side, code: number, reason: string): void;
  /** Ends one side without a close frame, and therefore the other too. */
  cut(side: Side, how?: 'end' | 'reset'): void;
  /** Each side disappears for the other one: nothing is passed or answered until one of them ends its connection. */
  freeze(): void;
}

/**
 * Joins two legs. Each close frame is passed on, and so is the answer to it. If a side vanishes without one, the other is
 * cut off.
 */
export function joinLegs(options: JoinLegsOptions): Joined {
  const { device, service, clock, watch, waiting, slowReader, onEnding, onEnd } = options;
  const legs = { device, service };
  const hasClosed = { device: false, service: false };
  let first: JoinedEnd | undefined;
  let open = 2;
  let isFrozen = false;

  const begin = (by: Side, code: number, reason: string, isOurs = false) => {
    // Data that waits in a paused leg would hide the answer to the close.
    device.socket.resume();
    service.socket.resume();
    if (first !== undefined) return;
    first = { at: clock.now(), by, code, reason, violation: undefined, isOurs };
    onEnding(first);
  };
  const violated = (by: Side, message: string) => {
    if (first === undefined || first.violation !== undefined) return;
    first.violation = { by, message };
    onEnding(first);
  };
  const answer = (side: Side, { code, reason, isViolation }: PeerClose) => {
    hasClosed[side] = true;
    begin(side, code, reason.toString());
    // RFC 6455, section 5.5.1. The frame is passed on unchanged.
    if (!isUtf8(reason)) violated(side, reasonNotUtf8);
    const { socket } = legs[side];
    // The other side answers this frame. A bad frame gets no answer, and an answer needs none.
    if (isViolation || socket.readyState !== socket.OPEN) socket.closeNow(code, reason);
    const isServiceFault = isViolation && side === 'service';
    legs[otherSide[side]].socket.closeNow(isServiceFault ? closeCodes.internalError : code, reason);
  };

  const cut = (side: Side, how: 'end' | 'reset' = 'end') => {
    const { socket, transport } = legs[side];
    if (how === 'reset') {
      transport.resetAndDestroy();
      return;
    }
    endTransport(socket, transport, clock);
  };
  const close = (code: number, reason: string) => {
    begin('service', code, reason, true);
    for (const side of sides) {
      if (code === closeCodes.abnormal) cut(side);
      else legs[side].socket.closeNow(code, reason);
    }
  };
  const giveUp = (reader: Side, isNow: boolean) => {
    if (first === undefined) close(slowReader.close, slowReader.reason);
    if (isNow) legs[reader].socket.terminate();
  };

  for (const side of sides) {
    const { socket, transport } = legs[side];
    // This peer can send no close frame any more. ws would still wait until it has read everything.
    transport.once('end', () => {
      if (!hasClosed[side]) socket.terminate();
    });
    socket.onPeerClose = (close) => answer(side, close);
    // Without a listener a bad frame would end the process.
    socket.on('error', ({ message }) => violated(side, message));
    socket.once('close', () => {
      begin(isFrozen ? 'service' : side, closeCodes.abnormal, '', isFrozen);
      if (!hasClosed[side]) cut(otherSide[side]);
      open -= 1;
      if (open === 0 && first !== undefined) onEnd(first);
    });
  }
  const passage = (from: Side) =>
    new Passage({
      ...{ from, source: legs[from], sink: legs[otherSide[from]], watch, waiting },
      onSlowReader: (isNow) => giveUp(otherSide[from], isNow),
    });
  return {
    passages: { device: passage('device'), service: passage('service') },
    close,
    closeTowards(side, code, reason) {
      begin(otherSide[side], code, reason, true);
      if (code === closeCodes.abnormal) cut(side);
      else legs[side].socket.closeNow(code, reason);
    },
    cut(side, how) {
      begin(otherSide[side], closeCodes.abnormal, '', true);
      cut(side, how);
    },
    freeze() {
      isFrozen = true;
      // Discard what comes, so that the end of a connection is still noticed.
      for (const side of sides) {
        legs[side].socket.resume();
        legs[side].transport.removeAllListeners('data').resume();
      }
    },
  };
}
