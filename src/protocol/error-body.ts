/** The error body that every endpoint answers with. Specification: "Error body". */
export interface ErrorBody {
  error: {
    code: string;
    message: string;
    details?: ErrorDetails;
  };
}

/** Present for request validation errors. */
export interface ErrorDetails {
  /** Name of the offending field. */
  field: string;
  /** The expected type. */
  expected: string;
}

/** The one error code that the specification names. */
export const invalidRequestCode = 'INVALID_REQUEST';

export function errorBody(code: string, message: string, details?: ErrorDetails): ErrorBody {
  return { error: details === undefined ? { code, message } : { code, message, details } };
}

/** How an error message of the stream may hold its error. The specification shows no such message. */
export const errorShapes = {
  nested: (code: string, message: string) => errorBody(code, message),
  flat: (code: string, message: string) => ({ code, message }),
};

/** What a client knows of an error, whatever its shape. */
export interface ReadError {
  code: string | undefined;
  message: string | undefined;
}

/**
 * Reads an error out of any JSON: the specified `{error: {code, message}}`, a flat `{code, message}`,
 * or a bare string under `error` or `message`. A client "reads error.code and error.message from the
 * body"; it does not depend on finding them.
 */
export function readError(body: unknown): ReadError {
  if (!isRecord(body)) return { code: undefined, message: undefined };
  const inner = isRecord(body.error) ? body.error : body;
  const bare = typeof body.error === 'string' ? body.error : undefined;
  return {
    code: textOf(inner.code),
    message: textOf(inner.message) ?? textOf(inner.detail) ?? bare,
  };
}

/**
 * Whether the field `error` of a message reports an error. A service may always send the field, and leave it empty as long as
 * nothing is wrong.
 */
export function reportsError(error: unknown): boolean {
  if (typeof error === 'string') return error !== '';
  return isRecord(error) && saysAnything(error);
}

/** Whether a value from JSON has anything but empty texts, lists and objects at any level. Walks without recursion. */
function saysAnything(value: object): boolean {
  const waiting: object[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const inner of Object.values(next)) {
      if (typeof inner === 'object' && inner !== null) waiting.push(inner);
      else if (inner !== '' && (inner ?? null) !== null) return true;
    }
  }
  return false;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value;
  return typeof value === 'number' ? String(value) : undefined;
}

/** Whether a value is a JSON object: neither null, nor an array, nor a scalar. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
