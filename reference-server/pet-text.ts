import type { Pet } from './pet-store.ts';

/** An animal as JSON. Digits are written as they were sent; `JSON.stringify` escapes what UTF-8 cannot encode. */
export function petText(pet: Pet): string {
  const status = pet.status === null ? '' : `,"status":"${pet.status}"`;
  return `{"id":${pet.id},"name":${JSON.stringify(pet.name)},"categoryId":${pet.categoryId}${status}}`;
}

/** A body, as text and as it is sent. */
export interface Body {
  readonly text: string;
  /**
   * The body in UTF-8, with one character per byte. node:http writes such a string in one piece with the headers, and
   * its length is the Content-Length.
   */
  readonly wire: string;
}

/** Encodes a body. */
export function bodyOf(text: string): Body {
  const isAscii = Buffer.byteLength(text) === text.length;
  return { text, wire: isAscii ? text : Buffer.from(text).toString('latin1') };
}
