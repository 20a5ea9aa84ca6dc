import { escapeText, jsonText } from '../kernel/escape.ts';
import { version } from '../kernel/version.ts';

/** The answer to a token request, as a report shows it. */
export interface TokenReport {
  token: string;
  status: number;
  headers: Record<string, string>;
  rateLimit: { limit: number | undefined; remaining: number | undefined; resetAtMs: number | undefined };
  timing: { attempts: number; firstByteMs: number; totalMs: number };
}

interface Decoded {
  header: object;
  claims: object;
}

/** The one JSON object of `token --json`. `reset` is in seconds since the epoch. */
export function tokenObject(
  { token, status, headers, rateLimit, timing }: TokenReport,
  decoded: Decoded | undefined,
) {
  const { limit = null, remaining = null, resetAtMs } = rateLimit;
  return {
    version,
    token,
    header: decoded?.header ?? null,
    claims: decoded?.claims ?? null,
    rateLimit: { limit, remaining, reset: resetAtMs === undefined ? null : Math.ceil(resetAtMs / 1000) },
    status,
    headers,
    timing,
  };
}

/** Claims, limit and timing as lines. */
export function tokenLines(
  { status, rateLimit, timing }: TokenReport,
  decoded: Decoded | undefined,
): string[] {
  const claims = decoded === undefined ? 'not a JWT' : jsonText(decoded.claims);
  const reset =
    rateLimit.resetAtMs === undefined ? '?' : escapeText(new Date(rateLimit.resetAtMs).toISOString());
  return [
    `claims  ${claims}`,
    `limit   ${rateLimit.remaining ?? '?'} of ${rateLimit.limit ?? '?'} left, resets ${reset}`,
    `status  ${status}, first byte ${timing.firstByteMs.toFixed(1)} ms, all ${timing.totalMs.toFixed(1)} ms, ${timing.attempts} attempts`,
  ];
}
