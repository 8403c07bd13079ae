import t from 'tap';
import { contract, gaps, keepsPinned, requirement, requirements, schemas } from './contract.ts';

/**
 * Ids stand in other people's baselines, profiles and dashboards: one that is renamed or removed breaks them. New ones
 * are added here by hand.
 */
const REQUIREMENT_IDS = `
  version-path-segment media-type-json json-well-formed interface-version list-pet-schema add-pet-schema
  get-pet-schema pet-id-unique pet-id-assigned-by-service error-status-matches list-answers-200
  list-limit-range list-limit-maximum list-limit-fills list-limit-default list-status-filter
  list-status-complete list-filter-before-limit list-unfiltered list-each-once list-shows-added
  add-answers-201 add-status-optional add-status-values add-echoes-name add-echoes-category-id
  add-echoes-status add-rejects-missing-name add-rejects-missing-category-id add-rejects-name-type
  add-rejects-category-id-type add-rejects-category-id-range add-rejects-status-value
  add-rejects-status-type add-rejects-non-object add-rejects-malformed-json add-rejects-empty-body
  add-rejected-stores-nothing get-answers-200 get-returns-requested-id get-same-animal get-unknown-404
  get-malformed-id-refused get-until-removal get-removed deprecation-header-agrees sunset-header-agrees
  deprecation-successor client-uses-successor auth-valid-key auth-missing-key auth-empty-key
  auth-unknown-key auth-near-miss-key auth-other-scheme auth-refused-adds-nothing auth-client-sends-key
  error-body-400 error-body-401 error-body-404 error-body-429 error-body-other rate-headers-on-200
  rate-headers-on-201 rate-headers-on-400 rate-headers-on-401 rate-headers-on-404 rate-headers-on-429
  rate-headers-on-other rate-limit-value rate-remaining-value rate-remaining-exhausted
  rate-remaining-falls rate-reset-value rate-reset-true rate-minute-free rate-minute-pro
  rate-minute-business rate-minute-enterprise rate-concurrent rate-next-window rate-keys-apart
  rate-invalid-key-free rate-refused-429 rate-refused-adds-nothing retry-after-present
  retry-after-readable retry-after-honest client-backs-off rate-day-free rate-day-pro rate-day-business
  rate-day-enterprise rate-day-refusal ban-provoked ban-spares-polite ban-error-body ban-rate-headers
  ban-ends ban-ends-as-told ban-other-keys
`;
const GAP_IDS = `
  category-records category-existence name-character-set name-length name-empty status-when-omitted
  status-transitions pagination-mechanism store-orders update-and-delete key-issuance key-scopes events
  error-codes limit-out-of-range limit-not-a-number unknown-status-filter ban-answer ban-threshold
  ban-duration retry-after-format body-size compatibility-policy unknown-fields null-status id-assignment
  extra-response-fields list-order unsupported-media-type added-visibility malformed-id
  deprecation-announcement authentication-challenge wrong-method unknown-path rate-headers-window rate-window-kind
`;
const words = (text: string) => text.trim().split(/\s+/);

t.test("the ids of requirements are frozen, and in the document's order", (t) => {
  t.strictSame(
    requirements.map(({ id }) => id),
    words(REQUIREMENT_IDS),
  );
  t.end();
});

t.test('the ids of gaps are frozen', (t) => {
  t.strictSame(
    gaps.map(({ id }) => id),
    words(GAP_IDS),
  );
  t.end();
});

t.test('an id names one row only, requirement or gap', (t) => {
  const ids = [...requirements, ...gaps].map(({ id }) => id);
  t.strictSame(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
  );
  t.end();
});

t.test('every row names a section of the document', (t) => {
  const sections = ['1', '2', '3', '4', '4.1', '4.2', '4.3', '5', '6', '7', '8', '9'];
  for (const { id, section } of [...requirements, ...gaps])
    t.ok(sections.includes(section), `${id} in ${section}`);
  t.end();
});

t.test('MAY is what the document says "may" of, and only that', (t) => {
  t.strictSame(
    requirements.filter(({ level }) => level === 'MAY').map(({ id }) => id),
    ['ban-provoked'],
  );
  t.end();
});

t.test('a gap that a run observes has answers that a profile can pin, or is open', (t) => {
  for (const { id, answers, forms, open, unobservable } of gaps) {
    if (unobservable !== undefined)
      t.notOk(open || answers.length + forms.length > 0, `${id} is unobservable and has no answers`);
    else t.ok(open || forms.length > 0 || answers.length >= 2, `${id} has answers`);
    t.equal(new Set(answers).size, answers.length, `${id} names each answer once`);
  }
  t.end();
});

t.test('an answer is held to a pinned one by all it says, by its parts, or by its form', (t) => {
  for (const [heldTo, pinned, answer, isKept] of [
    [undefined, 'rejected-400', 'rejected-400', true],
    [undefined, 'rejected-400', 'rejected-422', false],
    ['subset', '400 a, 404 b', '404 b', true],
    ['subset', '400 a, 404 b', '400 a, 429 c', false],
    ['subset', 'none', 'tags', false],
    ['subset', 'tags', 'none', true],
    ['form', '20-seconds', '31-seconds', true],
    ['form', '20-seconds', 'not-told', false],
  ] as const)
    t.equal(
      keepsPinned(heldTo === undefined ? {} : { heldTo }, pinned, answer),
      isKept,
      `${pinned}: ${answer}`,
    );
  t.end();
});

t.test('the numbers of sections 2, 4.1, 4.3 and 8', (t) => {
  t.match(contract.limit, { minimum: 1, maximum: 100, default: 20 });
  t.strictSame(contract.statuses, ['available', 'pending', 'sold']);
  t.match(contract.plans, {
    free: { perMinute: 60, perDay: 1_000 },
    pro: { perMinute: 300, perDay: 10_000 },
    business: { perMinute: 1_000, perDay: 100_000 },
  });
  t.equal(contract.removalDate, '2030-12-05');
  t.end();
});

t.test('the schemas of section 2', (t) => {
  for (const name of ['Pet', 'NewPet', 'PetStatus', 'Pets', 'Error']) t.type(schemas[name], 'object', name);
  t.end();
});

t.test('a requirement by its id', (t) => {
  t.equal(requirement('auth-missing-key').section, '5');
  t.throws(() => requirement('auth-missing'), { message: /no requirement auth-missing/ });
  t.end();
});
