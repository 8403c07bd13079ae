/** The schema of profiles: profile.schema.json, which editors read too, with the gaps of a contract put in. */
import { readFileSync } from 'node:fs';
import type { Gap } from '../../spec/contract.ts';
import { packageRoot } from '../../spec/package-root.ts';
import { answerPattern, type PinnableGap } from '../wire/answer-forms.ts';

/** Where editors find the schema. */
export const SCHEMA_ADDRESS = 'https://unpkg.com/petstore-harness/checks/profile/profile.schema.json';

/** The schema of a profile that may pin answers to these gaps. */
export function profileSchema(gaps: readonly PinnableGap[]) {
  const schema = JSON.parse(readFileSync(new URL('checks/profile/profile.schema.json', packageRoot), 'utf8'));
  schema.properties.gaps.properties = gapProperties(gaps);
  return schema;
}

/** What may be pinned, by gap; of one that no run can see, nothing. */
export function gapProperties(gaps: readonly (PinnableGap & Partial<Pick<Gap, 'question'>>)[]) {
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
