/** All that a token request needs, in one piece: each module that loads by itself costs the start half a millisecond. */

export { defaultDevice, developmentKey, isLoopback } from '../../config/target.ts';
export { systemClock } from '../../kernel/clock.ts';
export { escapeText, jsonLines } from '../../kernel/escape.ts';
export { createRedactor } from '../../kernel/redact.ts';
export { serviceUrl, tokenPath } from '../../protocol/paths.ts';
export { curlCommand } from '../../report/curl.ts';
export { tokenLines, tokenObject } from '../../report/token-report.ts';
export { requestToken } from '../../wire/client/token.ts';
export { openTarget } from '../service/target.ts';
