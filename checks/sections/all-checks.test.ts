/** The guard: spec/requirements.yaml and the checks say the same, row by row. */
import t from 'tap';
import { gaps, requirements } from '../../spec/contract.ts';
import { PERMISSIONS } from '../run/verdict.ts';
import { allChecks, allGapObservers } from './all-checks.ts';

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);
const sorted = (ids: readonly string[]) => [...ids].sort();

t.test('every requirement that is not excluded has exactly one check, and every check a requirement', (t) => {
  t.strictSame(
    sorted(idsOf(allChecks)),
    sorted(idsOf(requirements.filter(({ excluded }) => excluded === undefined))),
  );
  t.end();
});

t.test('every observable gap has exactly one observer, and every observer a gap', (t) => {
  t.strictSame(
    sorted(idsOf(allGapObservers)),
    sorted(idsOf(gaps.filter(({ unobservable }) => unobservable === undefined))),
  );
  t.end();
});

t.test('every check judges and every observer answers in some way', (t) => {
  for (const { id, observe, run, afterwards, conclude } of allChecks) {
    t.ok(
      [observe, run, afterwards, conclude].some((way) => way !== undefined),
      id,
    );
  }
  for (const { id, run, conclude } of allGapObservers) t.ok(run !== undefined || conclude !== undefined, id);
  t.end();
});

t.test('permissions are those that a user can give', (t) => {
  for (const { id, permit } of [...allChecks, ...allGapObservers]) {
    t.ok(permit === undefined || PERMISSIONS.includes(permit), `${id}: ${permit}`);
  }
  t.end();
});

/** What a row's name says of the harm that provoking it does. */
const HARM: readonly [name: RegExp, permit: string][] = [
  [/^add-|^list-shows-added$|^auth-refused-adds-nothing$|^pet-id-/, 'writes'],
  [
    /^rate-(minute|concurrent|refused|next|reset-true|remaining-exhausted)|^retry-after-(readable|honest)$|^ban-spares/,
    'exhaust',
  ],
  [/^ban-(?!spares)/, 'ban'],
  [/^rate-day-/, 'day'],
];

t.test('a check that does harm needs the permission for it', (t) => {
  for (const { id, permit, run } of allChecks) {
    if (run === undefined) continue;
    const needed = HARM.filter(([name]) => name.test(id)).map(([, harm]) => harm);
    t.ok(needed.length <= 1, `${id} is named once above`);
    if (needed[0] !== undefined) t.equal(permit, needed[0], id);
  }
  t.end();
});

t.test('a check plays no scene that needs a permission that it does not have itself', (t) => {
  for (const { id, permit, scenes = [] } of [...allChecks, ...allGapObservers]) {
    for (const scene of scenes)
      t.ok(scene.permit === undefined || scene.permit === permit, `${id} plays ${scene.id}`);
  }
  t.end();
});

t.test('only a check with the permission for it adds animals', (t) => {
  for (const { id, permit, spends } of [...allChecks, ...allGapObservers]) {
    if ((spends?.animals ?? 0) > 0) t.not(permit, undefined, id);
  }
  t.end();
});

t.test('scenes of one id are one scene', (t) => {
  const seen = new Map<string, unknown>();
  for (const { id, scenes = [] } of [...allChecks, ...allGapObservers]) {
    for (const scene of scenes) {
      t.equal(seen.get(scene.id) ?? scene, scene, `${scene.id}, played by ${id}`);
      seen.set(scene.id, scene);
    }
  }
  t.end();
});
