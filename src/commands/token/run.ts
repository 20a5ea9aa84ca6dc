import { VoicectlError } from '../../kernel/errors.ts';
import { escapeText, jsonLine, jsonLines, jsonText } from '../../kernel/escape.ts';
import { createRedactor } from '../../kernel/redact.ts';
import { version } from '../../kernel/version.ts';
import { countText } from '../../protocol/count-text.ts';
import { secondsText } from '../../protocol/time-text.ts';
import { requestToken, type TokenGrant } from '../../wire/client/token.ts';
import type { DecodedToken } from '../../wire/token-facts.ts';
import type { ContextOf } from '../command.ts';
import { openTarget } from '../service/target.ts';
import { tokenCurl } from '../service/token-curl.ts';

export async function run(context: ContextOf<'token'>): Promise<number> {
  const { settings, io, json, verbose, quiet, signal, note } = context;
  const { apiVersion, retries, curl, decode } = settings;
  if (curl) {
    await io.stdout.write(`${tokenCurl(settings, settings.device)}\n`);
    return 0;
  }

  const target = await openTarget(context);
  // It learns key and token, because a service may repeat the key in the claims.
  const redactor = createRedactor();
  try {
    context.awaits(`a token from ${target.baseUrl}`);
    const grant = await requestToken({
      baseUrl: target.baseUrl,
      apiKey: target.apiKey,
      deviceId: target.device,
      ca: target.ca,
      apiVersion,
      retries,
      clock: io.clock,
      signal,
      redactor,
      onRetry: ({ delayMs, error }) => void note(`${error.message}; retrying in ${secondsText(delayMs, 1)}`),
    });
    const isExplained = !json && !quiet && (verbose || io.stdout.isTTY);
    // Loaded only when a token has to be read.
    const decoded =
      json || decode || isExplained
        ? redactor.value((await import('../../wire/token-facts.ts')).readToken(grant.token))
        : undefined;
    if (decode && decoded === undefined)
      throw new VoicectlError('protocol-violation', 'The token is not a JWT, so it cannot be decoded', {
        hint: 'Without --decode it is printed as it is.',
      });
    if (json) await io.stdout.write(jsonLine(tokenObject(grant, decoded, { isShown: !decode })));
    else if (decode) await io.stdout.write(jsonLines(decoded));
    // A real token needs no escaping, but a hostile service may send something else.
    else await io.stdout.write(`${escapeText(grant.token)}\n`);
    if (isExplained) {
      for (const line of tokenLines(grant, decoded)) await note(line);
    }
    return 0;
  } finally {
    await target.close();
  }
}

/** The one JSON object of `token --json`, with `--decode` without the token. `reset` is in seconds since the epoch. */
function tokenObject(
  { token, status, headers, rateLimit, timing }: TokenGrant,
  decoded: DecodedToken | undefined,
  { isShown }: { isShown: boolean },
) {
  const { limit = null, remaining = null, resetAtMs } = rateLimit;
  return {
    version,
    ...(isShown ? { token } : {}),
    header: decoded?.header ?? null,
    claims: decoded?.claims ?? null,
    rateLimit: { limit, remaining, reset: resetAtMs === undefined ? null : Math.ceil(resetAtMs / 1000) },
    status,
    headers,
    timing,
  };
}

/** Claims, limit and timing as lines. */
function tokenLines({ status, rateLimit, timing }: TokenGrant, decoded: DecodedToken | undefined): string[] {
  const claims = decoded === undefined ? 'not a JWT' : jsonText(decoded.claims);
  const reset =
    rateLimit.resetAtMs === undefined ? '?' : escapeText(new Date(rateLimit.resetAtMs).toISOString());
  return [
    `claims  ${claims}`,
    `limit   ${rateLimit.remaining ?? '?'} of ${rateLimit.limit ?? '?'} left, resets ${reset}`,
    `status  ${status}, first byte ${timing.firstByteMs.toFixed(1)} ms, total ${timing.totalMs.toFixed(1)} ms, ${countText(timing.attempts, 'attempt')}`,
  ];
}
