import { createMovableClock, systemClock } from '../kernel/clock.ts';
import { VoicectlError } from '../kernel/errors.ts';
import type { StreamSelector } from '../protocol/control.ts';
import { emulatorRefusal } from '../protocol/faults.ts';
import { isLoopbackHost } from '../protocol/loopback.ts';
import { createControl } from '../service/control/control.ts';
import type { EmulatorControl } from '../service/control/emulator-control.ts';
import { createStreamActions } from '../service/control/stream-actions.ts';
import { createFaults } from '../service/faults/faults.ts';
import { createRandom } from '../service/random.ts';
import { createMemoryState } from '../service/state/memory.ts';
import { joinTaps } from '../wire/tap.ts';
import { assemble, createEvents, initialFaults } from './assemble.ts';
import type { RunningService } from './event-watch.ts';
import { createKeptAudio, type KeptAudio, type KeptStream } from './kept-audio.ts';
import type { EmulatorOptions } from './options.ts';
import { settleOptions } from './settle-options.ts';
import { createTokenAuthority } from './tokens/token-authority.ts';

/** A running emulator of the token endpoint and the voice stream. */
export interface Emulator extends RunningService {
  readonly control: EmulatorControl;
  /**
   * The newest stream that matches the selector, open or ended, with what its device sent. Throws `usage` without the
   * option `keepAudio`, or if no stream matches.
   */
  stream(selector?: Partial<StreamSelector>): KeptStream;
}

/**
 * Starts an emulator of the whole service. Throws `VoicectlError`: `bad-dialect`, `usage` (unknown reply mode, an
 * address that this machine does not have), `bad-input` (a reply file that is not a WAV, a key of another certificate),
 * `host-exposed`, `port-in-use`.
 */
export async function createEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const settled = await settleOptions(options);
  const { dialect, rateLimit, maxConnections } = settled;
  const baseClock = options.clock ?? systemClock;
  const clock = createMovableClock(baseClock);
  const state = createMemoryState({ clock, dialect, rateLimit, maxConnections });
  const events = createEvents({ options, baseClock, clock, journal: state.journal });
  const random = createRandom(options.seed);
  const authority = await createTokenAuthority({ clock, random, settings: dialect.token });
  const faults = createFaults({
    initial: initialFaults(options, settled),
    ...{ random, events, refuses: emulatorRefusal },
  });
  const kept = options.keepAudio === true ? createKeptAudio(events) : undefined;
  const service = assemble({
    ...{ options, settled, baseClock, clock, state, events, random, authority, faults },
    streamTap:
      kept === undefined ? options.tap : (stream) => joinTaps(options.tap?.(stream), kept.tap(stream)),
  });
  const control = createControl({
    ...{ events, clock, state, rateLimit, maxConnections, faults },
    acceptKeys: options.acceptKeys,
    streams: createStreamActions({ voice: service.voice, dialect }),
    flushFloods: events.flush,
    forget() {
      kept?.clear();
      service.token.forget();
    },
  });
  const running = await service.open({
    control,
    secret: options.controlSecret,
    trustsThisMachine: isLoopbackHost(settled.host),
  });
  return { ...running, control, stream: (selector = {}) => findStream(kept, selector) };
}

function findStream(kept: KeptAudio | undefined, selector: Partial<StreamSelector>): KeptStream {
  if (kept !== undefined) return kept.find(selector);
  throw new VoicectlError('usage', 'The audio of devices is not kept', {
    hint: 'Start the emulator with { keepAudio: true }.',
  });
}
