/** An error before it is written: what becomes the body of section 7, and headers that belong to it. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** Flat list of header names and values. */
  readonly headers?: readonly string[];
}

/** The Error body of section 7: code, message and the HTTP status again. */
export function errorBody(problem: Problem): string {
  return JSON.stringify({ code: problem.code, message: problem.message, status: problem.status });
}

/** 400, the request cannot be read or holds a value that the document does not allow. */
export function badRequest(code: string, message: string): Problem {
  return { status: 400, code, message };
}

export const UNREADABLE_ESCAPE = badRequest(
  'malformed_encoding',
  'The address holds a malformed percent-encoding.',
);
export const HOST_REQUIRED = badRequest('host_required', 'An HTTP/1.1 request names exactly one host.');

export const KEY_REQUIRED: Problem = {
  status: 401,
  code: 'unauthorized',
  message: 'A valid API key is required: Authorization: Bearer <API_KEY>.',
  headers: ['WWW-Authenticate', 'Bearer realm="pets"'],
};

export const NO_SUCH_PATH: Problem = {
  status: 404,
  code: 'not_found',
  message: 'There is nothing at this path.',
};
export const NO_SUCH_ANIMAL: Problem = { status: 404, code: 'not_found', message: 'No animal has this id.' };
export const REMOVED: Problem = {
  status: 410,
  code: 'operation_removed',
  message: 'This operation was removed on 5 December 2030. Use GET /pets with the status filter.',
};
export const TOO_LARGE: Problem = {
  status: 413,
  code: 'payload_too_large',
  message: 'The request body is larger than 1 MiB.',
};
export const NOT_JSON: Problem = {
  status: 415,
  code: 'unsupported_media_type',
  message: 'The request body is to be application/json in UTF-8, without a content coding.',
};

/** 405 with the methods that the path has (RFC 9110, 15.5.6). */
export function methodNotAllowed(allow: string): Problem {
  return {
    status: 405,
    code: 'method_not_allowed',
    message: `This path has ${allow}.`,
    headers: ['Allow', allow],
  };
}
