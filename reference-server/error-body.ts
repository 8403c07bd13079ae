/** An error before it is written: the fields of its body (section 7), and its headers. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** Flat list of header names and values. */
  readonly headers?: readonly string[];
}

/** The Error body of section 7: code, message and the HTTP status again. */
export function errorBody({ code, message, status }: Problem): string {
  return JSON.stringify({ code, message, status });
}

export function problem(status: number, code: string, message: string): Problem {
  return { status, code, message };
}

/** 400: the request cannot be read, or has a value that the document does not allow. */
export function badRequest(code: string, message: string): Problem {
  return problem(400, code, message);
}

/** 405 with the methods that the path has (RFC 9110, 15.5.6). */
export function methodNotAllowed(allow: string, message = `This path has ${allow}.`): Problem {
  return { ...problem(405, 'method_not_allowed', message), headers: ['Allow', allow] };
}

export const UNREADABLE_ESCAPE = badRequest(
  'malformed_encoding',
  'The address holds a malformed percent-encoding.',
);
export const HOST_REQUIRED = badRequest('host_required', 'An HTTP/1.1 request names exactly one host.');
export const KEY_REQUIRED: Problem = {
  ...problem(401, 'unauthorized', 'A valid API key is required: Authorization: Bearer <API_KEY>.'),
  headers: ['WWW-Authenticate', 'Bearer realm="pets"'],
};
export const NO_SUCH_PATH = problem(404, 'not_found', 'There is nothing at this path.');
export const NO_SUCH_ANIMAL = problem(404, 'not_found', 'No animal has this id.');
export const REMOVED = problem(
  410,
  'operation_removed',
  'This operation was removed on 5 December 2030. Use GET /pets with the status filter.',
);
export const TOO_LARGE = problem(413, 'payload_too_large', 'The request body is larger than 1 MiB.');
export const NOT_JSON = problem(
  415,
  'unsupported_media_type',
  'The request body must be application/json in UTF-8, without a content coding.',
);
export const UNEXPECTED = problem(500, 'internal_error', 'The server failed to answer.');
