/** Answers to gaps: those that are known by name, and those that have a form, such as a number of seconds. */
import type { Gap } from '../../spec/contract.ts';

/** What a profile needs to know of the contract's gaps to pin an answer. */
export type PinnableGap = Pick<Gap, 'id' | 'answers' | 'forms' | 'open' | 'unobservable'>;

/** Response headers that name further pages beside Link (RFC 8288): there is no standard, and these are the usual ones. */
export const PAGE_HEADER = /page|cursor|total-count|content-range|^x-total|^x-next/;

/** RFC 9110, 5.6.2, in lower case. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

const isPageHeader = (name: string) => TOKEN.test(name) && PAGE_HEADER.test(name);

/** What stands in a form in angle brackets, and which texts it stands for. */
const PLACES: Readonly<Record<string, (text: string, gap: PinnableGap) => boolean>> = {
  status: (text) => /^[1-9]\d\d$/.test(text),
  // A time that was over already is told with a sign.
  number: (text) => /^-?\d+$/.test(text),
  text: () => true,
  'page headers': (text) => text.split(', ').every(isPageHeader),
  // One answer within another: forms that hold answers themselves are left out.
  answer: (text, gap) =>
    isAnswerTo({ ...gap, forms: gap.forms.filter((form) => !form.includes('<answer>')) }, text),
};

/** Whether a run may report this text as the answer to the gap. */
export function isAnswerTo(gap: PinnableGap, text: string): boolean {
  if (text.trim() === '') return false;
  return gap.open || gap.answers.includes(text) || gap.forms.some((form) => hasForm(gap, form, text));
}

function hasForm(gap: PinnableGap, form: string, text: string): boolean {
  // Split at what is in brackets: texts at even places, names of places at odd ones.
  const parts = form.split(/<([^<>]+)>/);
  const pattern = parts.map((part, index) => (index % 2 === 0 ? part.replace(/[^\w ]/g, '\\$&') : '([^]*?)'));
  const found = new RegExp(`^${pattern.join('')}$`).exec(text);
  if (found === null) return false;
  return found.slice(1).every((value, index) => placeOf(form, parts[2 * index + 1])(value, gap));
}

/** A place's texts; throws for one that there is none of, which only a mistake in spec/requirements.yaml can cause. */
function placeOf(form: string, name = '') {
  const place = PLACES[name];
  if (place === undefined)
    throw new Error(`spec/requirements.yaml: nothing is known of <${name}> in ${form}`);
  return place;
}
