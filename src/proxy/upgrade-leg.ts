import type { ClientRequest, IncomingMessage } from 'node:http';
import type { createConnection, Socket } from 'node:net';
import { VoicectlError } from '../kernel/errors.ts';
import { streamCloseMs } from '../protocol/close-codes.ts';
import { maxMessageBytes } from '../wire/client/frames.ts';
import { handshakeError } from '../wire/client/handshake.ts';
import type { Header } from '../wire/exchange.ts';
import { headerPairs } from '../wire/headers.ts';
import { connectTls } from '../wire/tls-socket.ts';
import { headerLists, passedHeaders } from './headers.ts';
import { LegSocket } from './leg-socket.ts';
import type { Leg } from './passage.ts';
import { type Deadlines, limitRequest, writtenPath } from './reach-target.ts';

/** Settings of both legs: nothing is changed on the way, and nothing is answered on behalf of a peer. */
export const legSettings = {
  perMessageDeflate: false,
  maxPayload: maxMessageBytes,
  skipUTF8Validation: true,
  autoPong: false,
  // From the first close frame that is sent. Not in the types of ws.
  closeTimeout: streamCloseMs,
} as const;

/** How the target answered an upgrade. */
export type UpgradeOutcome =
  | { opened: Leg; headers: readonly Header[]; protocol: string | undefined }
  | { refused: IncomingMessage }
  | { failure: VoicectlError };

export interface UpgradeLegOptions extends Deadlines {
  url: string;
  ca: string | undefined;
  /** Headers of the device's request. */
  headers: readonly Header[];
  /** The socket of the device. If it closes first, nothing is opened. */
  device: Socket;
}

const ownHeaders = ['host', 'sec-websocket-key', 'sec-websocket-version', 'sec-websocket-extensions'];
const protocolHeader = 'sec-websocket-protocol';

/**
 * Opens the leg to the target with the headers of the device. Calls `tell` once, in the same step as the socket opens, unless
 * the device closes first.
 */
export function openUpgradeLeg(
  options: UpgradeLegOptions,
  onOutcome: (outcome: UpgradeOutcome) => void,
): void {
  const { url, ca, headers, device } = options;
  let outcome: UpgradeOutcome | undefined;
  const settle = (made: UpgradeOutcome) => {
    if (outcome !== undefined) return;
    outcome = made;
    onOutcome(made);
  };
  let response: IncomingMessage | undefined;
  let protocol: string | undefined;
  const socket = new LegSocket(url, [], {
    ...legSettings,
    ca,
    ...(new URL(url).protocol === 'wss:' ? { createConnection: connectTls as typeof createConnection } : {}),
    followRedirects: false,
    headers: headerLists(passedHeaders(headers, ownHeaders)) as unknown as Record<string, string>,
    finishRequest(request: ClientRequest) {
      const answered = limitRequest(request, new URL(url).host, options);
      request.prependListener('upgrade', (answer: IncomingMessage) => {
        answered();
        response = answer;
        // ws would refuse an answer with a protocol that was not offered. Here the device decides.
        protocol = answer.headers[protocolHeader] as string | undefined;
        delete answer.headers[protocolHeader];
      });
      request.once('response', answered);
      request.path = writtenPath(url);
      device.once('close', () => {
        if (outcome === undefined) request.destroy();
      });
      request.end();
    },
  });
  socket.once('open', () => {
    const { socket: transport } = response as IncomingMessage;
    const given = headerPairs(response?.rawHeaders ?? []);
    settle({ opened: { socket, transport }, headers: passedHeaders(given, answerHeaders), protocol });
  });
  socket.once('unexpected-response', (_request: ClientRequest, refused: IncomingMessage) =>
    settle({ refused }),
  );
  socket.on('error', (thrown) => {
    // It was given up with its device: nobody's fault, and nobody to tell.
    if (device.destroyed) return;
    const { host } = new URL(url);
    settle({ failure: thrown instanceof VoicectlError ? thrown : handshakeError(thrown, host) });
  });
}

/** Headers of the target's answer that the device's leg sets itself. */
const answerHeaders = ['sec-websocket-accept', 'sec-websocket-extensions', protocolHeader];
