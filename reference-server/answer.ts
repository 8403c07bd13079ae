/** A response before its headers are put together. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  /** Additional headers of this answer, as a flat list of names and values. */
  readonly headers: readonly string[];
}

/** An answer with the Error body of section 7: code, message and the HTTP status again. Its headers are a flat list. */
export const refusal = (status: number, code: string, message: string, ...headers: string[]): Answer => ({
  status,
  text: JSON.stringify({ code, message, status }),
  headers,
});

/** 400: the request cannot be read, or has a value that the document does not allow. */
export const badRequest = (code: string, message: string): Answer => refusal(400, code, message);

/** 405 with the methods that the path has (RFC 9110, 15.5.6). */
export const methodNotAllowed = (allow: string, message = `This path has ${allow}.`): Answer =>
  refusal(405, 'method_not_allowed', message, 'Allow', allow);

export const UNREADABLE_ESCAPE = badRequest('malformed_encoding', 'The address has a malformed escape.');
export const NO_SUCH_PATH = refusal(404, 'not_found', 'There is nothing at this path.');
