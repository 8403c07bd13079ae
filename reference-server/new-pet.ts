import { badRequest, type Problem } from './error-body.ts';
import { int64FromJson } from './int64.ts';
import { readJsonObject } from './json-members.ts';
import { isStatus, type NewPet } from './pet-store.ts';

function invalid(message: string): { problem: Problem } {
  return { problem: badRequest('invalid_animal', message) };
}

/**
 * Reads the body of section 4.2; the empty text stands for none. Values are taken as they are: nothing is trimmed,
 * converted or filled in. Any string is a name. Unknown fields are ignored.
 */
export function readNewPet(body: string): { animal: NewPet } | { problem: Problem } {
  if (body === '') return { problem: badRequest('body_required', 'A request body is required.') };
  const json = readJsonObject(body);
  if (json.kind === 'malformed')
    return { problem: badRequest('malformed_json', 'The request body is not JSON.') };
  if (json.kind === 'other') return invalid('The request body must be a JSON object.');

  const nameText = json.members.get('name');
  if (nameText === undefined) return invalid('name is required.');
  const name: unknown = JSON.parse(nameText);
  if (typeof name !== 'string') return invalid('name must be a string.');

  const categoryText = json.members.get('categoryId');
  if (categoryText === undefined) return invalid('categoryId is required.');
  if (!/^[-\d]/.test(categoryText)) return invalid('categoryId must be an integer.');
  const categoryId = int64FromJson(categoryText);
  if ('not' in categoryId) return invalid('categoryId must be an integer of 64 bits.');

  const statusText = json.members.get('status');
  if (statusText === undefined) return { animal: { name, categoryId: categoryId.digits, status: null } };
  const status: unknown = JSON.parse(statusText);
  if (typeof status !== 'string' || !isStatus(status)) {
    return invalid('status must be available, pending or sold.');
  }
  return { animal: { name, categoryId: categoryId.digits, status } };
}
