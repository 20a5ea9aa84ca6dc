import { type BlockJoiner, createBlockJoiner } from '../audio/blocks.ts';
import { TurnGate, type TurnListener } from '../audio/turn-gate.ts';
import type { FoundInVoice } from '../audio/verdict/found-sounds.ts';
import type { ListenerBudget } from '../audio/verdict/listener-budget.ts';
import type { LostTime } from '../audio/verdict/pace-check.ts';
import { VoiceCheck } from '../audio/verdict/voice-check.ts';
import type { Clock } from '../kernel/clock.ts';
import { bytesPerSample } from '../protocol/audio-format.ts';
import type { StreamTotals } from '../service/events.ts';
import type { Side } from '../wire/exchange.ts';
import type { ProxyEvents } from './proxy-events.ts';

/** Receives what is heard and found in the audio of one side. */
interface LaneListener {
  readonly turns: TurnListener;
  finding(found: FoundInVoice): void;
  /** It is time to judge the pace. */
  pace(): void;
}

/** Counts, judges and listens to the audio of one side. A class, because every frame passes through it: see ARCHITECTURE.md. */
export class VoiceLane {
  readonly check: VoiceCheck;
  frames = 0;
  bytes = 0;
  oddMessages = 0;
  emptyMessages = 0;
  private readonly turns: TurnGate;
  private readonly listener: LaneListener;
  /** Created at the first message that ends within a sample. */
  private samples: BlockJoiner | undefined;

  constructor(
    from: Side,
    listener: LaneListener,
    { clock, listeners, own, shortestTurnMs }: Omit<LanesOptions, keyof LaneEvents>,
  ) {
    this.turns = new TurnGate(listener.turns, {
      clock,
      shortestTurnMs: from === 'device' ? shortestTurnMs : 0,
    });
    this.listener = listener;
    this.check = new VoiceCheck({ from, clock, own: own[from], budget: listeners });
  }

  /** Takes the audio of the other side as it arrives at this one: it may come back. */
  otherSaid(message: Buffer): void {
    this.check.otherSaid(message);
  }

  push(message: Buffer): void {
    for (const found of this.check.push(message)) this.listener.finding(found);
    if (this.check.isDue) this.listener.pace();
    if (message.length === 0) {
      this.emptyMessages += 1;
      return;
    }
    this.frames += 1;
    this.bytes += message.length;
    this.turns.push(this.wholeSamples(message));
  }

  private wholeSamples(message: Buffer): Buffer {
    const isOdd = message.length % bytesPerSample !== 0;
    if (isOdd) this.oddMessages += 1;
    if (!isOdd && this.samples === undefined) return message;
    this.samples ??= createBlockJoiner();
    return this.samples.push(message);
  }

  close(): void {
    this.turns.close();
    for (const found of this.check.end()) this.listener.finding(found);
    this.turns.finish();
  }
}

export interface LanesOptions extends LaneEvents {
  clock: Clock;
  /** Limits how many voices are listened to at once. */
  listeners: ListenerBudget;
  /** Time in which a side was not read. */
  own: Readonly<Record<Side, LostTime>>;
  /** A shorter sound of the user is not a turn. */
  shortestTurnMs: number;
}

interface LaneEvents {
  events: ProxyEvents;
  /** The stream and its device. */
  at(): { stream: number; device: string };
  onFinding(side: Side, found: FoundInVoice): void;
  /** The pace of a side has become known, or has changed. */
  onPace(side: Side): void;
}

/** The audio of both sides. */
export interface Lanes extends Readonly<Record<Side, VoiceLane>> {
  /** Writes the counts so far into `totals`. */
  count(totals: StreamTotals): void;
  close(): void;
}

/** Listens to both sides, and emits events of the side that speaks. */
export function createLanes(options: LanesOptions): Lanes {
  // The user may interrupt a reply anywhere.
  const device = createLane('device', options, () => service.check.stopped());
  const service: VoiceLane = createLane('service', options);
  return {
    ...{ device, service },
    count(totals) {
      totals.framesIn = device.frames;
      totals.bytesIn = device.bytes;
      totals.framesOut = service.frames;
      totals.bytesOut = service.bytes;
      totals.oddMessages = device.oddMessages + service.oddMessages;
      totals.emptyMessages = device.emptyMessages + service.emptyMessages;
    },
    close() {
      device.close();
      service.close();
    },
  };
}

function createLane(
  side: Side,
  { events, at, onFinding, onPace, ...options }: LanesOptions,
  onTurn = () => {},
): VoiceLane {
  const { device, service } = events.of;
  const turns: Record<Side, TurnListener> = {
    device: {
      started({ startMs }) {
        onTurn();
        device.emit({ type: 'turn-started', ...at(), atMs: startMs });
      },
      ended: ({ startMs, endMs, agoMs }) =>
        device.emit({
          type: 'turn-ended',
          ...at(),
          atMs: endMs,
          turnMs: endMs - startMs,
          agoMs,
        }),
    },
    service: {
      started: ({ agoMs }) => service.emit({ type: 'reply-started', ...at(), agoMs }),
      ended: () => service.emit({ type: 'reply-ended', ...at(), bargeIn: false }),
    },
  };
  const listener: LaneListener = {
    turns: turns[side],
    finding(found) {
      events.of[side].emit({ type: `${side}-finding`, ...at(), ...found });
      onFinding(side, found);
    },
    pace() {
      const verdict = lane.check.judgePace();
      if (verdict === undefined) return;
      events.of[side].emit({ type: `${side}-verdict`, ...at(), ...verdict });
      onPace(side);
    },
  };
  const lane = new VoiceLane(side, listener, options);
  return lane;
}
