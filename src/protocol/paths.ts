/** Where the service listens. Specification: "Endpoints" and "Versioning". */

/** The API versions that have a versioned token path. */
export const apiVersions = ['v1'] as const;
export type ApiVersion = (typeof apiVersions)[number];

export const streamPath = '/voice-stream';

/** The token path: versioned where a version is given, else the unversioned one that the specification also shows. */
export function tokenPath(version?: ApiVersion): string {
  return version === undefined ? '/api/websocket-voice/token' : `/api/${version}/websocket-voice/token`;
}

/** Every path on which the token endpoint answers. */
export const tokenPaths: readonly string[] = [
  tokenPath(),
  ...apiVersions.map((version) => tokenPath(version)),
];

/** The WebSocket base of a service of which only the HTTP base is known: the same host, `ws` for `http`. */
export function wsUrlFor(baseUrl: string): string {
  return baseUrl.replace(/^http/i, 'ws');
}

/** Joins a base address and a path of the service, whether or not the base ends in a slash. */
export function serviceUrl(base: string, path: string): string {
  return base.replace(/(?<!\/)\/+$/, '') + path;
}
