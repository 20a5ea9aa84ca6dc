import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum number of requests that wait on one connection for earlier answers. With more, the connection is cut. */
const maxWaiting = 1_000;

/** A response that knows when all earlier answers of its connection are sent. */
export class ServiceResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  /** Called when it is this response's turn. */
  onTurn: (() => void) | undefined;

  override assignSocket(socket: Socket): void {
    super.assignSocket(socket);
    this.onTurn?.();
  }
}

const waiting = new WeakMap<Socket, number>();

/**
 * Answers a request after all earlier ones of its connection are answered and sent. A client that pipelines requests
 * and reads no answers gets only one answer prepared, and its connection is not read meanwhile.
 */
export function inTurn(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  if (response.socket !== null || !(response instanceof ServiceResponse)) {
    answer(request, response);
    return;
  }
  const { socket } = request;
  const before = waiting.get(socket) ?? 0;
  if (before >= maxWaiting) {
    socket.destroy();
    return;
  }
  waiting.set(socket, before + 1);
  socket.pause();
  response.onTurn = () => {
    const left = (waiting.get(socket) ?? 1) - 1;
    waiting.set(socket, left);
    if (left === 0) socket.resume();
    answer(request, response);
  };
}
