import { request } from 'undici';
import { HARNESS_VERSION } from '../../checks/harness/harness-version.ts';
import { int64Of, isJsonObject, parseJson } from '../../checks/harness/lossless-json.ts';
import { LoadRefused } from './load-target.ts';

/** What one request before the load tells of the target. */
export interface Preflight {
  /** The target's clock: `at` when this machine's showed `from`, milliseconds since 1970. */
  readonly clock: { readonly from: number; readonly at: number };
  /** Ids of animals that exist, with every digit. */
  readonly ids: readonly string[];
  readonly categoryId: string;
}

const TIMEOUT_MS = 10_000;
/** Date has whole seconds: on average the target is half of one further. */
const HALF_A_SECOND_MS = 500;

/**
 * Lists animals once, on a key that pays for the load: is the target there, does it take the key, which ids exist?
 * Nothing is loaded that does not answer this.
 *
 * @throws LoadRefused when it does not answer 200 with a list
 */
export async function preflight(address: string, key: string, signal?: AbortSignal): Promise<Preflight> {
  const url = `${address}/pets?limit=100`;
  const from = Date.now();
  let status: number;
  let text: string;
  let date: number;
  try {
    const response = await request(url, {
      headers: { authorization: `Bearer ${key}`, 'user-agent': `petstore-harness/${HARNESS_VERSION}` },
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      ...(signal ? { signal } : {}),
    });
    status = response.statusCode;
    const { date: shown } = response.headers;
    date = Date.parse(String(shown));
    text = await response.body.text();
  } catch (error) {
    throw new LoadRefused(`the target does not answer GET ${url}: ${reasonOf(error)}`);
  }
  if (status !== 200)
    throw new LoadRefused(`the target answers ${status} to GET ${url}; load would measure that`);
  const parsed = parseJson(text);
  const animals = parsed.ok && Array.isArray(parsed.value) ? parsed.value.filter(isJsonObject) : undefined;
  if (animals === undefined) throw new LoadRefused(`the target answers no list of animals to GET ${url}`);
  const numbers = (field: string) =>
    animals.map((animal) => int64Of(animal[field])).filter((value) => value !== undefined);
  return {
    clock: { from, at: Number.isNaN(date) ? from : date + HALF_A_SECOND_MS },
    ids: numbers('id').map(String),
    categoryId: String(numbers('categoryId')[0] ?? 1),
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.message;
}
