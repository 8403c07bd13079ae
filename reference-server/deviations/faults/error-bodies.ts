import type { Answer } from '../../behaviour.ts';
import { together } from '../personality.ts';
import { answeringWith, answers, header, onPlan, rewriting, type When, where } from '../shapes.ts';
import type { FaultTable } from './fault.ts';

const without = (field: 'code' | 'message' | 'status') => (text: string) =>
  text.replace(new RegExp(`"${field}":(?:"(?:[^"\\\\]|\\\\.)*"|\\d+),?`), '').replace(',}', '}');
const fieldAs = (field: 'code' | 'message' | 'status', value: string) => (text: string) =>
  text.replace(new RegExp(`"${field}":(?:"(?:[^"\\\\]|\\\\.)*"|\\d+)`), `"${field}":${value}`);

const PAGE = '<html><body><h1>An error has occurred</h1></body></html>';
const html = (when: When) =>
  together(
    answeringWith(PAGE, when),
    header('Content-Type', when, () => 'text/html; charset=utf-8'),
  );
const statusText = (text: string, answer: Answer) => fieldAs('status', `"${answer.status}"`)(text);

const onList400: When = (answer, call) => answer.status === 400 && call.route.operation === 'listPets';
const onMalformed: When = (answer) => answer.status === 400 && answer.text.includes('"malformed_json"');
const onMissingKey: When = (answer, call) => answer.status === 401 && call.authorization === null;
const onUnknownAnimal = answers(404, 'getPet');

// The statuses that the three operations have besides those of the table in section 7: 410, 413 and 415 here.
const onOther: When = (answer, call) =>
  answer.status >= 400 && ![400, 401, 404, 429].includes(answer.status) && call.route.operation !== 'none';

/** Sections 2 and 7: the body of every error. */
// biome-ignore format: a table, a line for most faults
export const ERROR_BODY_FAULTS: FaultTable = {
  'error-status-matches': {
    'error-status-zero': rewriting((answer) => answer.status >= 400, fieldAs('status', '0')),
    'error-status-400-for-404': rewriting(answers(404), fieldAs('status', '400')),
    'error-status-403-for-401': rewriting(answers(401), fieldAs('status', '403')),
    'error-status-422-for-400': rewriting(answers(400), fieldAs('status', '422')),
    'error-status-503-for-429': rewriting(answers(429), fieldAs('status', '503')),
    'error-status-200-on-get': rewriting(onUnknownAnimal, fieldAs('status', '200')),
  },
  'error-body-400': {
    'error-400-empty': answeringWith('', answers(400)),
    'error-400-without-code': rewriting(answers(400), without('code')),
    'error-400-code-number': rewriting(answers(400), fieldAs('code', '1001')),
    'error-400-nested': rewriting(answers(400), (text) => `{"error":${text}}`),
    'error-400-status-text': rewriting(answers(400), statusText),
    'error-400-array': rewriting(answers(400), (text) => `[${text}]`),
    'error-400-html-when-malformed': html(onMalformed),
    'error-400-empty-on-list': answeringWith('', onList400),
  },
  'error-body-401': {
    'error-401-empty': answeringWith('', answers(401)),
    'error-401-html': html(answers(401)),
    'error-401-without-message': rewriting(answers(401), without('message')),
    'error-401-without-status': rewriting(answers(401), without('status')),
    'error-401-text-without-key': answeringWith('Unauthorized', onMissingKey),
    'error-401-empty-on-add': answeringWith('{}', answers(401, 'createPet')),
  },
  'error-body-404': {
    'error-404-empty': answeringWith('', onUnknownAnimal),
    'error-404-null': answeringWith('null', onUnknownAnimal),
    'error-404-message-null': rewriting(onUnknownAnimal, fieldAs('message', 'null')),
    'wrong-method-not-found-html': answeringWith(PAGE, answers(405), 404),
    'error-404-detail': answeringWith('{"detail":"Not Found"}', onUnknownAnimal),
    'error-404-status-text': rewriting(onUnknownAnimal, statusText),
    'error-404-code-number-on-pro': rewriting(where(onUnknownAnimal, onPlan('pro')), fieldAs('code', '404')),
  },
  'error-body-429': {
    'error-429-empty': answeringWith('', answers(429)),
    'error-429-text': answeringWith('Too Many Requests', answers(429)),
    'error-429-without-code': rewriting(answers(429), without('code')),
    'error-429-string': answeringWith('"Too Many Requests"', answers(429)),
    'error-429-html-on-add': html(answers(429, 'createPet')),
  },
  'error-body-other': {
    'error-other-empty': answeringWith('', onOther),
    'error-other-html': html(onOther),
    'wrong-method-html': html(answers(405)),
    'error-other-without-message': rewriting(onOther, without('message')),
  },
};
