/**
 * The control API of the emulator: what a test or a person does to the service from outside. Not part of
 * the specification; both the emulator and `voicectl emulator` speak it, so it is written down here once.
 */
export const controlPrefix = '/__voicectl';

/** Where a browser finds the page of the emulator. */
export const pagePath = `${controlPrefix}/`;
/** Where Prometheus finds the metrics: below the prefix, and in full. */
export const metricsOperation = '/metrics';
export const metricsPath = `${controlPrefix}${metricsOperation}`;
/** Below the prefix: the files of the page, and what it requests with the token generated at startup. */
export const pageAssets = '/assets/';
export const pageData = '/page/';
/** The header with the token generated at startup: a browser must send it with each request that changes or follows something. */
export const pageTokenHeader = 'x-voicectl-token';
