/**
 * What scripts report in addition to samples: one JSON object a line. Schemas (RFC 8927) from which the types follow;
 * plain data, for Node and k6.
 */
import type { JTDDataType } from 'ajv/dist/jtd.js';

const text = { type: 'string' } as const;
const number = { type: 'float64' } as const;

export const SCRIPT_EVENT = {
  discriminator: 'kind',
  mapping: {
    /** A response that breaks the contract: the requirement's id, how, and the exchange with 2,000 characters of its body. */
    violation: {
      properties: {
        requirement: text,
        detail: text,
        operation: text,
        method: text,
        path: text,
        key: text,
        status: number,
        headers: { values: text },
        body: text,
      },
    },
    /** Something that the scenario asserts. */
    assertion: {
      properties: { name: text, key: text, held: { type: 'boolean' }, expected: text, actual: text },
    },
    /** An assertion that could not be judged: neither held nor broken. */
    undecided: { properties: { name: text, key: text, why: text } },
    /** Something that the scenario measured once. */
    measurement: { properties: { name: text, key: text, value: number, unit: text } },
    /** Ids of animals that were added, with every digit. */
    added: { properties: { ids: { elements: text } } },
    /** How late iterations began, in milliseconds against an even schedule. */
    lag: { properties: { milliseconds: { elements: number } } },
    /** k6's own metrics by name, at the end of the load. */
    figures: {
      properties: {
        metrics: { values: { properties: { type: text, contains: text, values: { values: number } } } },
      },
    },
  },
} as const;

export type ScriptEvent = JTDDataType<typeof SCRIPT_EVENT>;
export type EventOf<Kind extends ScriptEvent['kind']> = Extract<ScriptEvent, { kind: Kind }>;

/** What a runner reports at its end, if it leaves nothing but its log. */
export const RUN_FACTS = {
  properties: {
    scenario: text,
    runId: text,
    target: text,
    keys: {
      elements: {
        properties: {
          name: text,
          plan: { enum: ['free', 'pro', 'business', 'enterprise'] },
          env: text,
          perMinute: number,
          perDay: number,
        },
      },
    },
    streams: { elements: text },
    report: { properties: { answers: text, slo: text, blockSeconds: number } },
    clockSpeed: number,
    dropped: number,
  },
} as const;

export type RunFacts = JTDDataType<typeof RUN_FACTS>;
