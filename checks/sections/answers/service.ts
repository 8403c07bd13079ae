/** Sections 1 and 9: requirements for the service as a whole. */

import { type Check, check, type GapObserver, gap, observes } from '../../run/check.ts';
import { scene } from '../../run/scene.ts';
import { jsonViolation, mediaTypesIn, mediaTypeViolation } from '../../wire/answer.ts';
import { hasVersionSegment } from '../../wire/base-address.ts';
import { headerValues } from '../../wire/exchange.ts';
import { bodyOf, described } from '../../wire/pets.ts';
import { answered, readBody } from '../answers.ts';

export const serviceChecks: readonly Check[] = [
  // 9: the version is carried in the base address as the path segment /v1.
  check('version-path-segment', {}, (judge, { trace }) => {
    const { baseUrl } = trace.run;
    if (hasVersionSegment(baseUrl)) judge.holds();
    else {
      const expected = 'a base address with the path segment /v1';
      judge.breaks({ expected, actual: `the base address ${baseUrl} has none` });
    }
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

const storeOrders = scene('store-orders', {}, (run) =>
  run.send({ operation: 'other', method: 'GET', path: '/store/orders' }),
);

export const serviceGaps: readonly GapObserver[] = [
  gap('store-orders', [storeOrders], (seen) => {
    const exchange = seen.of(storeOrders);
    const { status } = exchange.outcome;
    const answer = status === 200 ? 'present' : status === 404 ? 'absent' : `answered-${status}`;
    return answered(exchange, 'GET /store/orders', answer);
  }),
];
