/** All that a token request needs, in one piece: each module that loads by itself costs the start half a millisecond. */
export { requestToken } from '../client/token.ts';
export { systemClock } from '../clock.ts';
export { defaultDevice, developmentKey, isLoopback } from '../config/target.ts';
export { escapeText, jsonLines } from '../escape.ts';
export { serviceUrl, tokenPath } from '../protocol/paths.ts';
export { createRedactor } from '../redact.ts';
export { curlCommand } from '../report/curl.ts';
export { tokenLines, tokenObject } from '../report/token-report.ts';
export { openTarget } from './local-emulator.ts';
