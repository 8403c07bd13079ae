import { TypeCompiler } from '@sinclair/typebox/compiler';
import type { Key } from '../profile/key.ts';
import type { Exchange } from '../wire/exchange.ts';
import type { RateReading } from '../wire/rate-headers.ts';
import { Inconclusive, ReasonShape } from './reason.ts';

/**
 * Outcomes as JSON, in which exchanges, readings and keys stand by their names: what was exchanged is on disk once, and
 * no key's value ever is. An outcome, or a part of one, may be the reason why it could not be had.
 */

type Named = Readonly<Record<'exchange' | 'reading' | 'key', (name: string) => unknown>>;

/** A stored outcome cannot be read: what it names is in a damaged line, or the profile is another one. */
export class NotStored extends Error {
  override readonly name = 'NotStored';
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isReason = TypeCompiler.Compile(ReasonShape);
const isExchange = (value: unknown): value is Exchange =>
  isRecord(value) && 'sentBy' in value && 'request' in value && 'outcome' in value;
const isKey = (value: object): value is Key => 'limits' in value && 'roles' in value && 'value' in value;
const isReading = (value: object): value is RateReading =>
  'id' in value && 'operation' in value && 'receivedAt' in value && 'path' in value;

/**
 * An outcome as a JSON value.
 *
 * @param keep called with every exchange that it holds: a reader of the outcome will ask for it
 */
export function encodeOutcome(value: unknown, keep: (exchange: Exchange) => void): unknown {
  const text = JSON.stringify(value, (_, part: unknown) => {
    if (part === undefined) return { $: 'none' };
    if (typeof part === 'bigint') return { $: 'integer', value: String(part) };
    if (typeof part !== 'object' || part === null) return part;
    if (part instanceof Map) return { $: 'map', entries: [...part] };
    if (part instanceof Inconclusive)
      return { $: 'inconclusive', reason: part.reason, evidence: part.evidence };
    if (isKey(part)) return { $: 'key', name: part.name };
    if (isReading(part)) return { $: 'reading', name: part.id };
    if (!isExchange(part)) return part;
    keep(part);
    return { $: 'exchange', name: part.id };
  });
  return JSON.parse(text);
}

/**
 * The outcome that was encoded so.
 *
 * @throws NotStored where something that stands by its name is not there
 */
export function decodeOutcome(value: unknown, named: Named): unknown {
  const found = (kind: keyof Named, name: string): unknown => {
    const thing = named[kind](name);
    if (thing === undefined) throw new NotStored(`${kind} ${name} is not on record`);
    return thing;
  };
  return JSON.parse(JSON.stringify(value), (_, part: unknown) => {
    // Undefined leaves a hole in a list.
    if (Array.isArray(part)) return Array.from(part);
    if (!isRecord(part)) return part;
    switch (part['$']) {
      case 'none':
        return undefined;
      case 'integer':
        return BigInt(String(part['value']));
      case 'map':
        return new Map(Array.isArray(part['entries']) ? part['entries'] : []);
      case 'inconclusive': {
        const { reason, evidence } = part;
        if (!isReason.Check(reason)) throw new NotStored('not a reason');
        return new Inconclusive(reason, Array.isArray(evidence) ? evidence.filter(isExchange) : []);
      }
      case 'key':
      case 'exchange':
      case 'reading':
        return found(part['$'], String(part['name']));
      default:
        return part;
    }
  });
}
