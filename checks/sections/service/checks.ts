/** Sections 1 and 9: requirements for the service as a whole. */

import { type Check, check, type GapObserver, gap, observes } from '../../run/check.ts';
import { optional, scene } from '../../run/scene.ts';
import { jsonViolation, mediaTypesIn, mediaTypeViolation } from '../../wire/answer.ts';
import { hasVersionSegment } from '../../wire/base-address.ts';
import { headerValues } from '../../wire/exchange.ts';
import { bodyOf, described } from '../../wire/pets.ts';
import { schemaProblem } from '../../wire/schema.ts';
import { readBody } from '../answers.ts';

export const serviceChecks: readonly Check[] = [
  // 9: the version is carried in the base address as the path segment /v1.
  check('version-path-segment', {}, (_outcomes, judge, { run: { baseUrl } }) => {
    if (hasVersionSegment(baseUrl)) judge.holds();
    else
      judge.breaks({
        expected: 'a base address with the path segment /v1',
        actual: `the base address ${baseUrl} has none`,
      });
  }),
  // 1: request and response bodies use application/json. A body that is not JSON at all is for another row to judge.
  check('media-type-json', {
    observe: observes(
      (exchange) =>
        exchange.outcome.bodyBytes > 0 && bodyOf(exchange).ok
          ? headerValues(exchange.outcome.headers, 'content-type')
          : undefined,
      (contentTypes) => mediaTypeViolation(mediaTypesIn(contentTypes)),
    ),
  }),
  // 1: JSON over HTTP.
  check('json-well-formed', {
    isBasis: true,
    observe: observes(
      (exchange) => ([200, 201].includes(exchange.outcome.status) ? readBody(exchange) : undefined),
      (body, exchange) => jsonViolation(body.ok ? undefined : `${described(exchange)}: ${body.problem}`),
    ),
  }),
];

const askOther = (id: string, method: string, path: string) =>
  scene(id, { requests: 1, beside: true }, (probe) => probe.send({ operation: 'other', method, path }));
const storeOrders = askOther('store-orders', 'GET', '/store/orders');
/** A target that has no orders does not know their path; any other one is asked for a path that nobody knows. */
const unknownPath = scene(
  'unknown-path',
  { needs: { orders: optional(storeOrders) }, requests: 1, beside: true },
  async (probe, { orders }) =>
    orders?.outcome.status === 404
      ? orders
      : probe.send({ operation: 'other', method: 'GET', path: '/no-such-resource' }),
);
// Without a body a PATCH cannot change anything, whatever the target does with it.
const wrongMethod = askOther('wrong-method', 'PATCH', '/pets');

export const serviceGaps: readonly GapObserver[] = [
  gap('store-orders', { needs: { exchange: storeOrders } }, ({ exchange }) => {
    const { status } = exchange.outcome;
    const answer = status === 200 ? 'present' : status === 404 ? 'absent' : `answered-${status}`;
    return { answer, detail: `GET /store/orders: ${described(exchange)}`, evidence: [exchange] };
  }),
  gap('wrong-method', { needs: { exchange: wrongMethod } }, ({ exchange }) => ({
    answer: `answered-${exchange.outcome.status}`,
    detail: `PATCH /pets: ${described(exchange)}`,
    evidence: [exchange],
  })),
  gap('unknown-path', { needs: { exchange: unknownPath } }, ({ exchange }) => {
    const body = bodyOf(exchange);
    const isError = body.ok && schemaProblem.error(body.value) === undefined;
    const { status } = exchange.outcome;
    const kind = status === 404 ? 'not-found-404' : `answered-${status}`;
    return {
      answer: `${kind}-${isError ? 'error-body' : 'other-body'}`,
      detail: `GET ${exchange.request.path}: ${described(exchange)}`,
      evidence: [exchange],
    };
  }),
];
