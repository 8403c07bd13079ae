/** What a NewPet is, read from section 2 by itself, and a target that refuses what is none but for one thing. */
import { parse } from 'lossless-json';
import { judged } from '../../testing/judged.ts';
import { invalidAnimalChecks } from '../invalid-bodies.ts';
import { addingRun, additionsOf } from './adding.ts';

export const STATUSES = ['available', 'pending', 'sold'];

const wholeNumbers = (digits: string) => (/^-?\d+$/.test(digits) ? BigInt(digits) : Number(digits));

/** The fields of a body, whole numbers as bigint; undefined where it is no JSON object. */
export function fieldsOf(body: string): ReadonlyMap<string, unknown> | undefined {
  try {
    const value = parse(body, undefined, wholeNumbers);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? new Map(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}

function nameFault(fields: ReadonlyMap<string, unknown>): string[] {
  if (!fields.has('name')) return ['name: missing'];
  return typeof fields.get('name') === 'string' ? [] : ['name: type'];
}

function categoryFault(fields: ReadonlyMap<string, unknown>): string[] {
  if (!fields.has('categoryId')) return ['categoryId: missing'];
  const category = fields.get('categoryId');
  if (Number.isInteger(category)) return ['categoryId: range'];
  if (typeof category !== 'bigint') return ['categoryId: type'];
  return BigInt.asIntN(64, category) === category ? [] : ['categoryId: range'];
}

function statusFault(fields: ReadonlyMap<string, unknown>): string[] {
  if (!fields.has('status')) return [];
  const status = fields.get('status');
  if (typeof status !== 'string') return ['status: type'];
  return STATUSES.includes(status) ? [] : ['status: value'];
}

/** What is wrong with a body, field by field. */
export function faultsOf(body: string): readonly string[] {
  const fields = fieldsOf(body);
  if (fields === undefined) return ['no object'];
  return [...nameFault(fields), ...categoryFault(fields), ...statusFault(fields)];
}

/** Whether a target takes a body that it should refuse. */
export type Takes = (field: (name: string) => unknown, body: string) => boolean;

/** What a check says of a target that refuses whatever is wrong, but for what it takes; and what it sent for that. */
export async function saidOf(id: string, takes: Takes = () => false) {
  const { run, sent } = addingRun([[1]], (request) => {
    if (request.operation !== 'createPet') return undefined;
    const { body = '' } = request;
    const fields = fieldsOf(body);
    const isTaken = faultsOf(body).length === 0 || takes((name) => fields?.get(name), body);
    return { status: isTaken ? 201 : 400, body: '{}' };
  });
  const { verdict, expected } = await judged(run, invalidAnimalChecks, id);
  return { verdict, expected, sent, bodies: additionsOf(sent).map(({ body = '' }) => body) };
}

/** The checks that send what is to be refused. */
export const provoking = invalidAnimalChecks.filter(({ needs }) => Object.keys(needs).length > 0);
