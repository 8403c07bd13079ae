/** Sections 1 and 9: what holds for the service as a whole. */

import type { Check, GapObserver } from '../../run/check.ts';
import { hasVersionSegment } from '../../wire/base-address.ts';
import { bodyOf, described, mediaTypes } from '../../wire/pets.ts';
import { schemaProblem } from '../../wire/schema.ts';

export const serviceChecks: readonly Check[] = [
  {
    // 9: the version is carried in the base address as the path segment /v1.
    id: 'version-path-segment',
    async run(probe, judge) {
      if (hasVersionSegment(probe.baseUrl)) judge.holds();
      else
        judge.breaks({
          expected: 'a base address with the path segment /v1',
          actual: `the base address ${probe.baseUrl} has none`,
        });
    },
  },
  {
    // 1: request and response bodies use application/json. A body that is no JSON at all is another row's subject.
    id: 'media-type-json',
    observe(exchange, judge) {
      if (exchange.outcome.bodyBytes === 0 || !bodyOf(exchange).ok) return;
      // Of two fields that differ nobody can tell which one holds.
      const types = mediaTypes(exchange);
      if (types.length > 0 && types.every((type) => type === 'application/json')) judge.holds(exchange);
      else {
        judge.breaks(
          {
            expected: 'Content-Type: application/json',
            actual:
              types.length === 0
                ? 'no Content-Type'
                : types.map((type) => `Content-Type: ${type}`).join(' and '),
          },
          exchange,
        );
      }
    },
  },
  {
    // 1: JSON over HTTP; what is no JSON text has no fields to judge.
    id: 'json-well-formed',
    observe(exchange, judge) {
      const { status } = exchange.outcome;
      if (status !== 200 && status !== 201) return;
      const body = bodyOf(exchange);
      if (body.ok) judge.holds(exchange);
      else
        judge.breaks(
          { expected: 'one JSON text in UTF-8', actual: `${described(exchange)}: ${body.problem}` },
          exchange,
        );
    },
  },
];

export const serviceGaps: readonly GapObserver[] = [
  {
    id: 'store-orders',
    spends: { requests: 1 },
    async run(probe) {
      const exchange = await probe.send({ operation: 'other', method: 'GET', path: '/store/orders' });
      const { status } = exchange.outcome;
      const answer = status === 200 ? 'present' : status === 404 ? 'absent' : `answered-${status}`;
      return { answer, detail: `GET /store/orders: ${described(exchange)}`, evidence: [exchange] };
    },
  },
  {
    id: 'unknown-path',
    spends: { requests: 1 },
    async run(probe) {
      const exchange = await probe.send({ operation: 'other', method: 'GET', path: '/no-such-resource' });
      const body = bodyOf(exchange);
      const isError = body.ok && schemaProblem.error(body.value) === undefined;
      const { status } = exchange.outcome;
      const kind = status === 404 ? 'not-found-404' : `answered-${status}`;
      return {
        answer: `${kind}-${isError ? 'error-body' : 'other-body'}`,
        detail: `GET /no-such-resource: ${described(exchange)}`,
        evidence: [exchange],
      };
    },
  },
];
