import type { EmulatorState } from '../protocol/control.ts';
import type { ControlMessage } from '../service/control/emulator-control.ts';
import type { StreamActions } from '../service/control/stream-actions.ts';
import type { Eventually } from '../service/state/eventual.ts';

type Selector = Parameters<StreamActions['send']>[0];
type Ask = (op: string, args: unknown) => Promise<unknown[]>;

/** What one emulator of a service is asked to do with its streams. */
interface Asked {
  list: null;
  send: { selector: Selector; message: ControlMessage };
  /** PCM as base64. */
  speak: { selector: Selector; pcm: string };
  event: { selector: Selector; name: string };
  close: { selector: Selector; code: number; reason: string };
}

/** Acts on the streams of all emulators of a service. */
export function streamsOfAll(ask: Ask): Eventually<StreamActions> {
  const gather = async <Item, Op extends keyof Asked>(op: Op, args: Asked[Op]): Promise<Item[]> =>
    ((await ask(op, args)) as Item[][]).flat();
  return {
    list: async () => {
      const streams = await gather<EmulatorState['streams'][number], 'list'>('list', null);
      return streams.sort((one, other) => one.stream - other.stream);
    },
    send: (selector, message) => gather('send', { selector, message }),
    speak: (selector, pcm) => gather('speak', { selector, pcm: pcm.toString('base64') }),
    event: (selector, name) => gather('event', { selector, name }),
    close: (selector, code, reason) => gather('close', { selector, code, reason }),
  };
}

/** Does on this emulator's streams what one of the service was asked. */
export function performOnStreams(own: StreamActions, op: string, args: unknown): unknown {
  switch (op) {
    case 'list':
      return own.list();
    case 'send': {
      const { selector, message } = args as Asked['send'];
      return own.send(selector, message);
    }
    case 'speak': {
      const { selector, pcm } = args as Asked['speak'];
      return own.speak(selector, Buffer.from(pcm, 'base64'));
    }
    case 'event': {
      const { selector, name } = args as Asked['event'];
      return own.event(selector, name);
    }
    case 'close': {
      const { selector, code, reason } = args as Asked['close'];
      return own.close(selector, code, reason);
    }
    default:
      return true;
  }
}
