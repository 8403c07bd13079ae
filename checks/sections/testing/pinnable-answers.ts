/**
 * What profile.schema.json says of the answers that a profile may pin: those that are known by name, and those that have
 * a form, such as a number of seconds.
 */
import type { Gap } from '../../../spec/contract.ts';
import { PAGE_BEGINNINGS, PAGE_WORDS } from '../list/gaps.ts';

type PinnableGap = Pick<Gap, 'id' | 'question' | 'answers' | 'forms' | 'open' | 'unobservable'>;

/** RFC 9110, 5.6.2, in lower case. */
const TOKEN = "[!#$%&'*+.^_`|~0-9a-z-]";
const PAGE_HEADER_NAME = `(?:(?=${TOKEN}*(?:${PAGE_WORDS})|${PAGE_BEGINNINGS})${TOKEN}+)`;

/** What stands in a form in angle brackets, as a regular expression of the texts that it stands for. */
const PLACES: Readonly<Record<string, string>> = {
  status: '[1-9]\\d\\d',
  // A time that was over already is told with a sign.
  number: '-?\\d+',
  text: '[\\s\\S]*',
  'page headers': `${PAGE_HEADER_NAME}(?:, ${PAGE_HEADER_NAME})*`,
};

/** Whether a run may report this text as the answer to the gap. */
export function isAnswerTo(gap: PinnableGap, text: string): boolean {
  return new RegExp(answerPattern(gap), 'u').test(text);
}

/** What may be pinned, by gap; of one that no run can see, nothing. */
export function gapProperties(gaps: readonly PinnableGap[]) {
  return Object.fromEntries(
    gaps.map((gap) => {
      const { id, question: description, answers: examples, forms, unobservable } = gap;
      if (unobservable !== undefined) {
        const message = `the answer to ${id} cannot be pinned: no run can see it`;
        return [
          id,
          { description, not: {}, 'x-otherwise': [message, `remove it (${unobservable})`, 'name'] },
        ];
      }
      const pattern = answerPattern(gap);
      // A number needs no quotes.
      const type = new RegExp(pattern, 'u').test('1') ? ['string', 'integer'] : 'string';
      return [id, { description, type, pattern, examples, 'x-forms': forms }];
    }),
  );
}

/** A regular expression of all answers that a run may report to the gap. */
function answerPattern({ answers, forms, open }: PinnableGap): string {
  if (open) return '\\S';
  // One answer within another: forms that hold answers themselves are left out.
  const inner = alternatives(
    answers,
    forms.filter((form) => !form.includes('<answer>')),
  );
  return `^${alternatives(answers, forms, inner)}$`;
}

function alternatives(answers: readonly string[], forms: readonly string[], answer = ''): string {
  return `(?:${[...answers.map(literally), ...forms.map((form) => formPattern(form, answer))].join('|')})`;
}

/** Throws for a place that there is none of, which only a mistake in spec/requirements.yaml can cause. */
function formPattern(form: string, answer: string): string {
  // Split at what is in brackets: texts at even places, names of places at odd ones.
  const parts = form.split(/<([^<>]+)>/).map((part, index) => {
    const pattern = index % 2 === 0 ? literally(part) : part === 'answer' ? answer : PLACES[part];
    if (pattern === undefined)
      throw new Error(`spec/requirements.yaml: nothing is known of <${part}> in ${form}`);
    return pattern;
  });
  return parts.join('');
}

const literally = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
