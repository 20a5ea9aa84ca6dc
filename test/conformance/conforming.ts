import { repliesToTurns, spoken } from '../helpers/mini-replies.ts';
import { lawful, type MiniBehaviour } from '../helpers/mini-service.ts';

const onlyExpires: MiniBehaviour['refusal'] = (token, nowMs) => {
  if (token === undefined) return 'unknown';
  return nowMs < token.expiresAt ? undefined : 'expired';
};

/** Services that keep the specification, each in its own way. Their time cannot be moved. */
export const conforming: Readonly<Record<string, Partial<MiniBehaviour>>> = {
  'repeats what it hears': {},
  'ends a turn after 0.6 s of quiet audio, and says its states': repliesToTurns({
    pcm: spoken(2_000),
    states: (state) => ({ type: 'status', status: state }),
  }),
  'sends replies of 5 s at once': repliesToTurns({
    pcm: Buffer.concat([spoken(3_000), spoken(2_000)]),
    everyMs: 0,
  }),
  'compresses answers and messages': { compresses: true, ...repliesToTurns({ pcm: spoken(1_000) }) },
  'is slow': { delayMs: 1_000, ...repliesToTurns({ pcm: spoken(1_500), afterMs: 4_000 }) },
  'lets tokens be used again, and has no jti': {
    claims: ({ jti: _jti, ...claims }) => claims,
    refusal: onlyExpires,
    ...repliesToTurns({ pcm: spoken(1_200), messageMs: 40 }),
  },
  'ends messages within a sample, and replies in a short one': {
    connected: ({ say, device }) =>
      say({ type: 'service_voice_connected', session: { device, at: new Date().toISOString() } }),
    ...repliesToTurns({ pcm: spoken(1_501), messageMs: 60 }),
    onOpen: (socket) => socket.ping(),
  },
  'has other words for everything that is left open': {
    errorStatus: 422,
    connected: ({ say, device }) => say({ event: 'service_voice_connected', device, version: [2, 1] }),
    reset: (atMs) => new Date(atMs).toISOString(),
    onText: () => {},
    refusal: (token, nowMs) => (lawful.refusal(token, nowMs) === undefined ? undefined : ''),
    ...repliesToTurns({
      pcm: spoken(1_500),
      messageMs: 100,
      afterMs: 1_000,
      states: (state) => ({ event: `agent.${state}`, turn: 1 }),
    }),
  },
};
