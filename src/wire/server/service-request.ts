import { IncomingMessage } from 'node:http';

const offered = Symbol('offered');

/**
 * A request that only WebSocket upgrades. If there is an `upgrade` listener, Node 20 passes it every
 * request that offers any other protocol, with the body unread. Java's HttpClient offers h2c with plain
 * requests, as `curl --http2` does, and an offer may be ignored (RFC 9110, section 7.8).
 */
export class ServiceRequest extends IncomingMessage {
  declare private [offered]: boolean | null;

  get upgrade(): boolean {
    const isWebSocket = this.headers.upgrade?.toLowerCase() === 'websocket';
    return Boolean(this[offered]) && (isWebSocket || this.method === 'CONNECT');
  }

  /** Set by Node's parser. */
  set upgrade(value: boolean | null) {
    this[offered] = value;
  }
}
