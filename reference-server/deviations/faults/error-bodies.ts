import type { Answer } from '../../behaviour.ts';
import { together } from '../personality.ts';
import { answering, answers, header, type When, withBody } from '../shapes.ts';
import { type Fault, fault } from './fault.ts';

/** Replaces the body of an error by text. */
const body = (when: When, change: (text: string, answer: Answer) => string) =>
  answering(when, (answer) => withBody(answer, change(answer.text, answer)));
const without = (field: 'code' | 'message' | 'status') => (text: string) =>
  text.replace(new RegExp(`"${field}":(?:"(?:[^"\\\\]|\\\\.)*"|\\d+),?`), '').replace(',}', '}');
const fieldAs = (field: 'code' | 'message' | 'status', value: string) => (text: string) =>
  text.replace(new RegExp(`"${field}":(?:"(?:[^"\\\\]|\\\\.)*"|\\d+)`), `"${field}":${value}`);

const PAGE = '<html><body><h1>An error has occurred</h1></body></html>';
const html = (when: When) =>
  together(
    body(when, () => PAGE),
    header('Content-Type', when, () => 'text/html; charset=utf-8'),
  );
const statusText = (text: string, answer: Answer) => fieldAs('status', `"${answer.status}"`)(text);

const onList400: When = (answer, call) => answer.status === 400 && call.route.operation === 'listPets';
const onMalformed: When = (answer) => answer.status === 400 && answer.text.includes('"malformed_json"');
const onMissingKey: When = (answer, call) => answer.status === 401 && call.authorization === null;
const onUnknownAnimal = answers(404, 'getPet');
const MATCHES = 'error-status-matches';

// The statuses that the three operations have besides those of the table in section 7: 410, 413 and 415 here.
const onOther: When = (answer, call) =>
  answer.status >= 400 && ![400, 401, 404, 429].includes(answer.status) && call.route.operation !== 'none';

/** Sections 2 and 7: the body of every error. */
export const ERROR_BODY_FAULTS: readonly Fault[] = [
  fault(
    'error-status-zero',
    MATCHES,
    'status in an Error is 0.',
    body((answer) => answer.status >= 400, fieldAs('status', '0')),
  ),
  fault(
    'error-status-400-for-404',
    MATCHES,
    'status in the Error of a 404 is 400.',
    body(answers(404), fieldAs('status', '400')),
  ),
  fault(
    'error-status-403-for-401',
    MATCHES,
    'status in the Error of a 401 is 403.',
    body(answers(401), fieldAs('status', '403')),
  ),
  fault(
    'error-status-422-for-400',
    MATCHES,
    'status in the Error of a 400 is 422.',
    body(answers(400), fieldAs('status', '422')),
  ),
  fault(
    'error-status-503-for-429',
    MATCHES,
    'status in the Error of a 429 is 503.',
    body(answers(429), fieldAs('status', '503')),
  ),
  fault(
    'error-status-200-on-get',
    MATCHES,
    'status in the Error of an unknown animal is 200.',
    body(onUnknownAnimal, fieldAs('status', '200')),
  ),

  fault(
    'error-400-empty',
    'error-body-400',
    'A 400 has no body.',
    body(answers(400), () => ''),
  ),
  fault(
    'error-400-without-code',
    'error-body-400',
    'The Error of a 400 has no code.',
    body(answers(400), without('code')),
  ),
  fault(
    'error-400-code-number',
    'error-body-400',
    'code in the Error of a 400 is a number.',
    body(answers(400), fieldAs('code', '1001')),
  ),
  fault(
    'error-400-nested',
    'error-body-400',
    'The Error of a 400 is nested in a field error.',
    body(answers(400), (text) => `{"error":${text}}`),
  ),
  fault(
    'error-400-status-text',
    'error-body-400',
    'status in the Error of a 400 is a string.',
    body(answers(400), statusText),
  ),
  fault(
    'error-400-array',
    'error-body-400',
    'A 400 has an array of one Error.',
    body(answers(400), (text) => `[${text}]`),
  ),
  fault(
    'error-400-html-when-malformed',
    'error-body-400',
    'Only malformed JSON is answered with a page of HTML.',
    html(onMalformed),
  ),
  fault(
    'error-400-empty-on-list',
    'error-body-400',
    'Only a list that is refused with 400 has no body.',
    body(onList400, () => ''),
  ),

  fault(
    'error-401-empty',
    'error-body-401',
    'A 401 has no body.',
    body(answers(401), () => ''),
  ),
  fault('error-401-html', 'error-body-401', 'A 401 has a page of HTML.', html(answers(401))),
  fault(
    'error-401-without-message',
    'error-body-401',
    'The Error of a 401 has no message.',
    body(answers(401), without('message')),
  ),
  fault(
    'error-401-without-status',
    'error-body-401',
    'The Error of a 401 has no status.',
    body(answers(401), without('status')),
  ),
  fault(
    'error-401-text-without-key',
    'error-body-401',
    'Only without any key a 401 has the text "Unauthorized".',
    body(onMissingKey, () => 'Unauthorized'),
  ),
  fault(
    'error-401-empty-on-add',
    'error-body-401',
    'Only an addition that is refused with 401 has an empty object.',
    body(answers(401, 'createPet'), () => '{}'),
  ),

  fault(
    'error-404-code-number-on-pro',
    'error-body-404',
    'With a Pro key, code in the Error of a 404 is a number.',
    body((answer, call) => onUnknownAnimal(answer, call) && call.key?.plan === 'pro', fieldAs('code', '404')),
  ),
  fault(
    'error-404-empty',
    'error-body-404',
    'A 404 has no body.',
    body(onUnknownAnimal, () => ''),
  ),
  fault(
    'error-404-null',
    'error-body-404',
    'A 404 has the body null.',
    body(onUnknownAnimal, () => 'null'),
  ),
  fault(
    'error-404-message-null',
    'error-body-404',
    'message in the Error of a 404 is null.',
    body(onUnknownAnimal, fieldAs('message', 'null')),
  ),
  fault(
    'error-404-detail',
    'error-body-404',
    'The Error of a 404 has a field detail alone.',
    body(onUnknownAnimal, () => '{"detail":"Not Found"}'),
  ),
  fault(
    'error-404-status-text',
    'error-body-404',
    'status in the Error of a 404 is a string.',
    body(onUnknownAnimal, statusText),
  ),

  fault(
    'error-429-empty',
    'error-body-429',
    'A 429 has no body.',
    body(answers(429), () => ''),
  ),
  fault(
    'error-429-text',
    'error-body-429',
    'A 429 has the text "Too Many Requests".',
    body(answers(429), () => 'Too Many Requests'),
  ),
  fault(
    'error-429-without-code',
    'error-body-429',
    'The Error of a 429 has no code.',
    body(answers(429), without('code')),
  ),
  fault(
    'error-429-string',
    'error-body-429',
    'A 429 has a JSON string.',
    body(answers(429), () => '"Too Many Requests"'),
  ),
  fault(
    'error-429-html-on-add',
    'error-body-429',
    'Only an addition that is refused with 429 has a page of HTML.',
    html(answers(429, 'createPet')),
  ),

  fault(
    'error-other-empty',
    'error-body-other',
    'Statuses that the document does not name have no body.',
    body(onOther, () => ''),
  ),
  fault(
    'error-other-html',
    'error-body-other',
    'Statuses that the document does not name have a page of HTML.',
    html(onOther),
  ),
  fault(
    'error-other-without-message',
    'error-body-other',
    'Statuses that the document does not name have an Error without a message.',
    body(onOther, without('message')),
  ),
];
