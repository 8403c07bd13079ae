/** An error before it is written: the fields of its body (section 7), and its headers. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** Flat list of header names and values. */
  readonly headers: readonly string[];
}

/** The Error body of section 7: code, message and the HTTP status again. */
export function errorBody({ code, message, status }: Problem): string {
  return JSON.stringify({ code, message, status });
}

/** An error with the headers that go with it, as a flat list. */
export function problem(status: number, code: string, message: string, ...headers: string[]): Problem {
  return { status, code, message, headers };
}

/** 400: the request cannot be read, or has a value that the document does not allow. */
export const badRequest = (code: string, message: string): Problem => problem(400, code, message);

/** 405 with the methods that the path has (RFC 9110, 15.5.6). */
export const methodNotAllowed = (allow: string, message = `This path has ${allow}.`): Problem =>
  problem(405, 'method_not_allowed', message, 'Allow', allow);

export const UNREADABLE_ESCAPE = badRequest('malformed_encoding', 'The address has a malformed escape.');
export const NO_SUCH_PATH = problem(404, 'not_found', 'There is nothing at this path.');
