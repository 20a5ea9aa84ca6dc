import { shortText } from '../kernel/short-text.ts';
import type { RefusalCause } from '../protocol/dialect.ts';
import { readError } from '../protocol/error-body.ts';
import { parseJson } from '../protocol/parse-json.ts';
import type { EmulatorEventBody } from '../service/events.ts';

const causes: Readonly<Record<number, RefusalCause>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'notFound',
  405: 'methodNotAllowed',
  408: 'requestTimeout',
  413: 'bodyTooLarge',
  415: 'unsupportedMediaType',
  426: 'upgradeRequired',
  429: 'rateLimited',
  431: 'headersTooLarge',
  503: 'unavailable',
};

/** The event for an answer of the service that is a refusal. */
export function refusedByTarget(
  { status, body }: { status: number; body: string },
  about: { device?: string; path?: string; remote?: string },
): EmulatorEventBody {
  const { code, message } = readError(parseJson(body));
  return {
    type: 'request-refused',
    cause: causes[status] ?? 'invalidRequest',
    status,
    code: code ?? '',
    message: message ?? shortText(body),
    ...about,
  };
}
