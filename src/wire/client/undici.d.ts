/**
 * The parts of undici that a request needs, by themselves: its index loads fetch, WebSocket, caches and mocks as
 * well, which takes longer than asking for a token. undici types its index only.
 */
declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici';
  export = Client;
}

declare module 'undici/lib/api/api-request.js' {
  import type { Client, Dispatcher } from 'undici';

  /** What the index makes a method of each client. */
  function request(this: Client, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
  export = request;
}

declare module 'undici/lib/core/errors.js' {
  import { errors } from 'undici';
  export = errors;
}
