import { type Answer, badRequest } from './answer.ts';
import { int64FromJson } from './int64.ts';
import { readJson } from './json.ts';
import { isStatus, type NewPet } from './pet-store.ts';

const invalid = (message: string): Answer => badRequest('invalid_animal', message);

/**
 * Reads the body of section 4.2; the empty text stands for none. Values are taken as they are: nothing is trimmed,
 * converted or filled in. Any string is a name. Unknown fields are ignored.
 */
export function readNewPet(body: string): NewPet | Answer {
  if (body === '') return badRequest('body_required', 'A request body is required.');
  let json: ReturnType<typeof readJson>;
  try {
    json = readJson(body);
  } catch {
    return badRequest('malformed_json', 'The request body is not JSON.');
  }
  const { value, numbers } = json;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return invalid('The request body must be a JSON object.');
  const { name, categoryId, status }: { name?: unknown; categoryId?: unknown; status?: unknown } = value;
  if (typeof name !== 'string') return invalid('name is required, and is a string.');
  const category = typeof categoryId === 'number' ? int64FromJson(numbers[categoryId] ?? '') : null;
  if (category === null) return invalid('categoryId is required, and is an integer of 64 bits.');
  if (status === undefined) return { name, categoryId: category, status: null };
  if (typeof status !== 'string' || !isStatus(status))
    return invalid('status must be available, pending or sold.');
  return { name, categoryId: category, status };
}
