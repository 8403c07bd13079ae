/** Section 4.3: GET /pets/{petId} will be removed on 5 December 2030. */
export const REMOVAL = Date.UTC(2030, 11, 5);

// The document does not say since when; this server deprecates it five years before the removal.
const DEPRECATED_SINCE = Date.UTC(2025, 11, 5);

/** Deprecation (RFC 9745), Sunset (RFC 8594) and the successor (RFC 5829), as a flat list. */
export const DEPRECATION_HEADERS: readonly string[] = [
  'Deprecation',
  `@${DEPRECATED_SINCE / 1000}`,
  'Sunset',
  new Date(REMOVAL).toUTCString(),
  'Link',
  '<../pets>; rel="successor-version"',
];
