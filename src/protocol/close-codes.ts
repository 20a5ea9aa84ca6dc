/** Close codes that both ends know by name: those of RFC 6455 and its registry, and one that services use. */
export const closeCodes = {
  normal: 1000,
  goingAway: 1001,
  protocolError: 1002,
  unsupportedData: 1003,
  noStatus: 1005,
  abnormal: 1006,
  invalidData: 1007,
  policyViolation: 1008,
  messageTooBig: 1009,
  extensionRequired: 1010,
  internalError: 1011,
  serviceRestart: 1012,
  tryAgainLater: 1013,
  /** The emulator's default; the number is derived from HTTP 429. */
  tooManyConnections: 4429,
} as const;

const names: Record<number, string> = {
  1000: 'normal',
  1001: 'going away',
  1002: 'protocol error',
  1003: 'unsupported data',
  1005: 'no status',
  1006: 'abnormal',
  1007: 'invalid data',
  1008: 'policy violation',
  1009: 'message too big',
  1010: 'extension required',
  1011: 'internal error',
  1012: 'service restart',
  1013: 'try again later',
  1014: 'bad gateway',
  1015: 'TLS failure',
};

/** The mistake of a side that closes with such a reason (RFC 6455, section 5.5.1). */
export const reasonNotUtf8 = 'Its close reason is not UTF-8';

/** The registered name of a close code, or the range that it belongs to. */
export function closeCodeName(code: number): string {
  const name = names[code];
  if (name !== undefined) return name;
  if (code >= 4000) return 'application';
  return code >= 3000 ? 'registered' : 'unassigned';
}

/** `4001 application: bye`: a close for people, without its reason if it is empty. */
export function closeText({ code, reason }: { code: number; reason: string }): string {
  return `${code} ${closeCodeName(code)}${reason === '' ? '' : `: ${reason}`}`;
}

/** Whether an endpoint may send this code in a close frame (RFC 6455, section 7.4). */
export function isSendableCloseCode(code: number): boolean {
  const reserved: number[] = [1004, closeCodes.noStatus, closeCodes.abnormal, 1015];
  return (code >= 1000 && code <= 1014 && !reserved.includes(code)) || (code >= 3000 && code <= 4999);
}

/** Maximum length of a close reason in bytes (RFC 6455, section 5.5). */
export const maxCloseReasonBytes = 123;

/** How long either side waits for the other's close frame before it cuts the connection. Our choice. */
export const streamCloseMs = 2_000;
