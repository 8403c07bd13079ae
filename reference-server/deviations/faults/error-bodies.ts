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
// biome-ignore format: a table, a line or two for each fault
export const ERROR_BODY_FAULTS: FaultTable = {
  'error-status-matches': {
    'error-status-zero': ['status in an Error is 0.',
      rewriting((answer) => answer.status >= 400, fieldAs('status', '0'))],
    'error-status-400-for-404': ['status in the Error of a 404 is 400.',
      rewriting(answers(404), fieldAs('status', '400'))],
    'error-status-403-for-401': ['status in the Error of a 401 is 403.',
      rewriting(answers(401), fieldAs('status', '403'))],
    'error-status-422-for-400': ['status in the Error of a 400 is 422.',
      rewriting(answers(400), fieldAs('status', '422'))],
    'error-status-503-for-429': ['status in the Error of a 429 is 503.',
      rewriting(answers(429), fieldAs('status', '503'))],
    'error-status-200-on-get': ['status in the Error of an unknown animal is 200.',
      rewriting(onUnknownAnimal, fieldAs('status', '200'))],
  },
  'error-body-400': {
    'error-400-empty': ['A 400 has no body.', answeringWith('', answers(400))],
    'error-400-without-code': ['The Error of a 400 has no code.', rewriting(answers(400), without('code'))],
    'error-400-code-number': ['code in the Error of a 400 is a number.',
      rewriting(answers(400), fieldAs('code', '1001'))],
    'error-400-nested': ['The Error of a 400 is nested in a field error.',
      rewriting(answers(400), (text) => `{"error":${text}}`)],
    'error-400-status-text': ['status in the Error of a 400 is a string.', rewriting(answers(400), statusText)],
    'error-400-array': ['A 400 has an array of one Error.', rewriting(answers(400), (text) => `[${text}]`)],
    'error-400-html-when-malformed': ['Only malformed JSON is answered with a page of HTML.',
      html(onMalformed)],
    'error-400-empty-on-list': ['Only a list that is refused with 400 has no body.',
      answeringWith('', onList400)],
  },
  'error-body-401': {
    'error-401-empty': ['A 401 has no body.', answeringWith('', answers(401))],
    'error-401-html': ['A 401 has a page of HTML.', html(answers(401))],
    'error-401-without-message': ['The Error of a 401 has no message.',
      rewriting(answers(401), without('message'))],
    'error-401-without-status': ['The Error of a 401 has no status.',
      rewriting(answers(401), without('status'))],
    'error-401-text-without-key': ['Only without any key a 401 has the text "Unauthorized".',
      answeringWith('Unauthorized', onMissingKey)],
    'error-401-empty-on-add': ['Only an addition that is refused with 401 has an empty object.',
      answeringWith('{}', answers(401, 'createPet'))],
  },
  'error-body-404': {
    'error-404-empty': ['A 404 has no body.', answeringWith('', onUnknownAnimal)],
    'error-404-null': ['A 404 has the body null.', answeringWith('null', onUnknownAnimal)],
    'error-404-message-null': ['message in the Error of a 404 is null.',
      rewriting(onUnknownAnimal, fieldAs('message', 'null'))],
    'wrong-method-not-found-html': [
      'A method that a path does not have is answered with 404 and a page of HTML.',
      answeringWith(PAGE, answers(405), 404)],
    'error-404-detail': ['The Error of a 404 has a field detail alone.',
      answeringWith('{"detail":"Not Found"}', onUnknownAnimal)],
    'error-404-status-text': ['status in the Error of a 404 is a string.',
      rewriting(onUnknownAnimal, statusText)],
    'error-404-code-number-on-pro': ['With a Pro key, code in the Error of a 404 is a number.',
      rewriting(where(onUnknownAnimal, onPlan('pro')), fieldAs('code', '404'))],
  },
  'error-body-429': {
    'error-429-empty': ['A 429 has no body.', answeringWith('', answers(429))],
    'error-429-text': ['A 429 has the text "Too Many Requests".',
      answeringWith('Too Many Requests', answers(429))],
    'error-429-without-code': ['The Error of a 429 has no code.', rewriting(answers(429), without('code'))],
    'error-429-string': ['A 429 has a JSON string.', answeringWith('"Too Many Requests"', answers(429))],
    'error-429-html-on-add': ['Only an addition that is refused with 429 has a page of HTML.',
      html(answers(429, 'createPet'))],
  },
  'error-body-other': {
    'error-other-empty': ['Statuses that the document does not name have no body.', answeringWith('', onOther)],
    'error-other-html': ['Statuses that the document does not name have a page of HTML.', html(onOther)],
    'wrong-method-html': ['A method that a path does not have is answered with a page of HTML.',
      html(answers(405))],
    'error-other-without-message': [
      'Statuses that the document does not name have an Error without a message.',
      rewriting(onOther, without('message'))],
  },
};
