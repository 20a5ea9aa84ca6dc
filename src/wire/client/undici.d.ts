/**
 * Only the parts of undici that a request needs: its index also loads fetch, WebSocket, caches and
 * mocks, which takes longer than a token request. undici has types only for its index.
 */
declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici';
  export = Client;
}

declare module 'undici/lib/api/api-request.js' {
  import type { Client, Dispatcher } from 'undici';

  /** The function behind the `request` method of each client. */
  function request(this: Client, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
  export = request;
}

declare module 'undici/lib/core/errors.js' {
  import { errors } from 'undici';
  export = errors;
}
