import { abortable } from '../../kernel/promises.ts';
import type { ServiceMessage } from '../../protocol/messages.ts';
import type { ClientLeg } from './http.ts';
import { requestToken, type TokenGrant, type TokenOptions } from './token.ts';
import { openVoiceStream, type VoiceStream, type VoiceStreamOptions } from './voice-stream.ts';

/** The two calls to a service. */
export interface ServiceClient {
  requestToken(options: TokenOptions): Promise<TokenGrant>;
  openVoiceStream(options: VoiceStreamOptions): Promise<VoiceStream>;
}

/** The calls over the network. */
const networkClient: ServiceClient = { requestToken, openVoiceStream };

/** How to get a token: request it with a key, or use the given one. */
export type ServiceAuth = Pick<TokenOptions, 'apiKey' | 'apiVersion' | 'retries'> | { token: string };

/** The steps to a confirmed stream. */
export type JoinStep = 'token' | 'connecting' | 'authorising';

export interface JoinOptions extends ClientLeg {
  /** Default: over the network. */
  client?: ServiceClient;
  baseUrl: string;
  wsUrl: string;
  device: string;
  auth: ServiceAuth;
  onRetry?: TokenOptions['onRetry'];
  onStep?: (step: JoinStep) => void;
  /** The stream is open but not confirmed yet. Reading from it may already have to pause. */
  onOpen?: (stream: VoiceStream) => void;
  onAudio: (pcm: Buffer) => void;
  onMessage: (message: ServiceMessage) => void;
}

/**
 * Gets a token, connects and sends the token: the only way to a confirmed stream. Specification: "What the
 * service does", steps 1 to 5. Closes a refused stream. Throws what `requestToken`, `openVoiceStream` and
 * `present` throw, or the signal's reason.
 */
export async function joinService(options: JoinOptions): Promise<VoiceStream> {
  const { client = networkClient, wsUrl, ca, clock, signal, redactor, tap } = options;
  const { onStep, onOpen, onAudio, onMessage } = options;
  onStep?.('token');
  const token = await obtainToken(client, options);
  onStep?.('connecting');
  const leg = { wsUrl, ca, clock, signal, redactor, tap };
  const stream = await client.openVoiceStream({ ...leg, onAudio, onMessage });
  onOpen?.(stream);
  onStep?.('authorising');
  try {
    await abortable(stream.present(token), signal);
    return stream;
  } catch (thrown) {
    await stream.close(signal);
    throw thrown;
  }
}

async function obtainToken(client: ServiceClient, options: JoinOptions): Promise<string> {
  const { auth, baseUrl, device, ca, clock, signal, redactor, tap, onRetry } = options;
  if ('token' in auth) {
    redactor.conceal(auth.token);
    return auth.token;
  }
  const leg = { baseUrl, ca, clock, signal, redactor, tap };
  const grant = await client.requestToken({ ...auth, ...leg, deviceId: device, ...(onRetry && { onRetry }) });
  return grant.token;
}
