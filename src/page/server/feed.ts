import type { ServerResponse } from 'node:http';
import { type ClockTimer, repeat } from '../../kernel/clock.ts';
import type { EmulatorState } from '../../protocol/control.ts';
import type { ServeCounters } from '../../report/serve-counters.ts';
import type { PageHost } from '../../service/control/page-handler.ts';
import type { EmulatorEvent } from '../../service/events.ts';
import { isUnavailable } from '../../service/state/state.ts';
import { uncachedHeaders } from '../../wire/server/http-answer.ts';
import type { AudioMessage, CountersMessage, Hello, RecordingState, StateMessage } from '../messages.ts';
import { type Hearing, startHearing } from './hearing.ts';

/** How often news is sent. */
const everyMs = 100;
/** The state is sent with one in this many of them. */
const stateEvery = 5;
/** Maximum text of events in one message; events beyond it are left out, which the page sees by their numbers. */
const maxEventsLength = 512 * 1024;
/**
 * A tab that has this much news unread does not keep up: its connection ends. It reads what it has, and opens again for what
 * came after that.
 */
const maxUnreadBytes = 1024 * 1024;
/** Maximum number of past events that a tab gets, in all and in one message, because a tab reads a message in one go. */
const maxPast = 2_000;
const pastAtOnce = 200;
/** Maximum number of messages that wait while a tab gets what came before; beyond it, the tab has to open again. */
const maxHeld = 100;

/** Sends what happens to each open tab. While none is open, nothing is computed. */
export interface Feed {
  /** Sends a tab the events after `since`, and everything from now on. Ends with its connection. */
  open(response: ServerResponse, since: number): Promise<void>;
  close(): void;
}

export interface FeedOptions {
  stage: PageHost;
  hello: () => Omit<Hello, 'aheadMs'>;
  recordings: () => RecordingState[];
  counters: () => ServeCounters;
}

interface Viewer {
  response: ServerResponse;
  /** How much the tab has not read yet of what came before, and of states, which it gets whole. */
  wholeBytes: number;
  /** News that waits until the tab has got what came before. */
  held: string[] | undefined;
  missesNews: boolean;
}

interface Looking {
  hearing: Hearing;
  unfollow: () => void;
}

export function createFeed({ stage, hello, recordings, counters }: FeedOptions): Feed {
  const { control, clock, elapsedMs } = stage;
  const viewers = new Set<Viewer>();
  let looking: Looking | undefined;
  let timer: ClockTimer | undefined;
  let waiting: string[] = [];
  let waitingLength = 0;
  let ticks = 0;
  let isAsking = false;

  const begin = (): Looking => ({
    hearing: startHearing(stage),
    unfollow: control.journal.follow({}, (entry) => {
      if (waitingLength > maxEventsLength) return;
      const text = JSON.stringify(entry);
      waiting.push(text);
      waitingLength += text.length;
    }),
  });
  const drainEvents = (): string => {
    const entries = waiting;
    waiting = [];
    waitingLength = 0;
    return entries.length === 0 ? '' : `{"type":"events","entries":[${entries.join(',')}]}\n`;
  };
  const drainAudio = (hearing: Hearing, all = false): string => {
    const streams = hearing.drain(all);
    const message: AudioMessage = { type: 'audio', at: elapsedMs(), streams };
    return streams.length === 0 ? '' : `${JSON.stringify(message)}\n`;
  };
  const countersText = (): string => {
    const message: CountersMessage = { type: 'counters', counters: counters() };
    return `${JSON.stringify(message)}\n`;
  };
  const stateText = (state: EmulatorState): string => {
    const message: StateMessage = { type: 'state', at: elapsedMs(), state, recordings: recordings() };
    return `${JSON.stringify(message)}\n${countersText()}`;
  };
  const write = (viewer: Viewer, text: string, isState: boolean) => {
    const unread = viewer.response.writableLength;
    viewer.wholeBytes = Math.min(viewer.wholeBytes, unread);
    if (unread - viewer.wholeBytes > maxUnreadBytes) dismiss(viewer);
    // Of states only the newest matters, and a newer one comes soon.
    else if (isState && viewer.wholeBytes > maxUnreadBytes) return;
    else {
      viewer.response.write(text);
      if (isState) viewer.wholeBytes += Buffer.byteLength(text);
    }
  };
  const send = (text: string, isState = false) => {
    for (const viewer of viewers) {
      if (viewer.held === undefined) write(viewer, text, isState);
      else if (viewer.held.length < maxHeld) viewer.held.push(text);
      else viewer.missesNews = true;
    }
  };
  const flush = () => {
    if (looking === undefined) return;
    const events = drainEvents();
    const text = events + (events === '' ? '' : countersText()) + drainAudio(looking.hearing);
    if (text !== '') send(text);
  };
  const tick = () => {
    flush();
    ticks += 1;
    if (ticks % stateEvery === 0 && !isAsking) {
      isAsking = true;
      // While the shared state is unavailable, the page keeps what it has.
      void unlessAway(async () => send(stateText(await control.state()), true)).finally(() => {
        isAsking = false;
      });
    }
  };
  /** The events after `since`, and how far the clock was ahead before them. */
  const readPast = async (since: number) => {
    for (;;) {
      const before = await control.time();
      const past = await control.journal.read({ since }, maxPast);
      const { aheadMs } = await control.time();
      // The clock may have been moved meanwhile.
      if (aheadMs === before.aheadMs)
        return { past, aheadMs: aheadMs - past.reduce((sum, entry) => sum + movedBy(entry), 0) };
    }
  };
  const leave = (viewer: Viewer) => {
    if (!viewers.delete(viewer) || viewers.size > 0) return;
    timer?.cancel();
    looking?.unfollow();
    looking?.hearing.stop();
    looking = undefined;
    drainEvents();
  };

  const dismiss = (viewer: Viewer) => {
    leave(viewer);
    viewer.response.end();
  };

  return {
    async open(response, since) {
      // Tabs that are already open get the news first: for the new tab it is part of the past.
      flush();
      looking ??= begin();
      const { hearing } = looking;
      const viewer: Viewer = { response, wholeBytes: 0, held: [], missesNews: false };
      response.on('close', () => leave(viewer));
      viewers.add(viewer);
      if (viewers.size === 1) timer = repeat(clock, everyMs, tick);
      try {
        const { past, aheadMs } = await readPast(since);
        const state = await control.state();
        if (!viewers.has(viewer)) return;
        response.writeHead(200, { 'Content-Type': 'application/x-ndjson', ...uncachedHeaders });
        response.write(`${JSON.stringify({ ...hello(), aheadMs })}\n`);
        for (let at = 0; at < past.length; at += pastAtOnce) {
          const entries = past.slice(at, at + pastAtOnce);
          response.write(`${JSON.stringify({ type: 'events', entries })}\n`);
        }
        response.write(drainAudio(hearing, true) + stateText(state));
        for (const text of viewer.held ?? []) response.write(text);
        viewer.held = undefined;
        viewer.wholeBytes = response.writableLength;
        if (viewer.missesNews) dismiss(viewer);
      } catch (thrown) {
        leave(viewer);
        throw thrown;
      }
    },
    close() {
      flush();
      for (const { response } of viewers) response.end();
    },
  };
}

/** How far an event moved the clock. */
function movedBy(event: EmulatorEvent): number {
  return event.type === 'control' ? (event.byMs ?? 0) : 0;
}

async function unlessAway(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (!isUnavailable(thrown)) throw thrown;
  }
}
