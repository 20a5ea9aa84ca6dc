import { afterEach } from 'vitest';
import type { ServiceMessage } from '../../src/protocol/messages.ts';
import {
  openVoiceStream,
  type VoiceStream,
  type VoiceStreamOptions,
} from '../../src/wire/client/voice-stream.ts';
import { type CountedClock, createCountedClock } from './counted-clock.ts';
import { createWatch } from './watch.ts';

export interface HeardStream extends VoiceStream {
  clock: CountedClock;
  messages: ServiceMessage[];
  audio: Buffer[];
  /** Resolves when `check` holds, which is asked after all that comes. */
  until(check: () => boolean): Promise<void>;
}

/** Opens streams of the program's client that remember what they hear; after each test they are closed. */
export function setUpVoiceStreams() {
  const streams: VoiceStream[] = [];
  afterEach(async () => {
    await Promise.all(streams.splice(0).map((stream) => stream.close()));
  });
  return async (wsUrl: string, options: Partial<VoiceStreamOptions> = {}): Promise<HeardStream> => {
    const messages: ServiceMessage[] = [];
    const audio: Buffer[] = [];
    const watch = createWatch();
    const clock = createCountedClock();
    const stream = await openVoiceStream({
      wsUrl,
      clock,
      signal: new AbortController().signal,
      onMessage(message) {
        messages.push(message);
        watch.changed();
      },
      onAudio(pcm) {
        audio.push(pcm);
        watch.changed();
      },
      ...options,
    });
    streams.push(stream);
    return {
      ...stream,
      clock: (options.clock as CountedClock | undefined) ?? clock,
      messages,
      audio,
      until: async (check) => {
        await watch.until(check);
      },
    };
  };
}
