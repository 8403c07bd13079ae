/** The guard: spec/requirements.yaml and the checks say the same, row by row. */
import t from 'tap';
import { gaps, requirements } from '../../spec/contract.ts';
import { PERMISSIONS, type Permission } from '../profile/permissions.ts';
import type { Check, GapObserver } from '../run/check.ts';
import { type KeyScene, type Needs, permitOf, type Scene } from '../run/scene.ts';
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

const rows: readonly (Check | GapObserver)[] = [...allChecks, ...allGapObservers];

/** Everything that a row needs, each with the needs of its own. */
function needed({ needs }: { readonly needs: Needs }): (Scene<unknown> | KeyScene<unknown>)[] {
  return Object.values(needs).flatMap((need) => {
    const scene = need.kind === 'optional' ? need.scene : need;
    return [scene, ...needed(scene)];
  });
}

t.test('every check judges in some way', (t) => {
  for (const { id, observe, decide, conclude } of allChecks) {
    t.ok(
      [observe, decide, conclude].some((way) => way !== undefined),
      id,
    );
  }
  t.end();
});

/** What a row's name says of the harm that provoking it does. */
const HARM: readonly [name: RegExp, permit: Permission][] = [
  [/^add-|^list-shows-added$|^auth-refused-adds-nothing$|^pet-id-/, 'writes'],
  [
    /^rate-(minute|concurrent|refused|next|reset-true|remaining-exhausted)|^retry-after-(readable|honest)$|^ban-spares/,
    'exhaust',
  ],
  [/^ban-(?!spares)/, 'ban'],
  [/^rate-day-/, 'day'],
];

t.test('a check that does harm needs the permission for it', (t) => {
  for (const check of allChecks) {
    const harms = HARM.filter(([name]) => name.test(check.id)).map(([, harm]) => harm);
    t.ok(harms.length <= 1, `${check.id} is named once above`);
    const [harm] = harms;
    const others = PERMISSIONS.filter((permission) => permission !== harm);
    if (harm !== undefined) t.equal(permitOf(check, new Set(others)), harm, check.id);
  }
  t.end();
});

t.test('whatever adds animals has the permission for it', (t) => {
  for (const scene of rows.flatMap(needed)) {
    if (scene.kind === 'scene' && (scene.animals ?? 0) > 0) t.equal(scene.permit, 'writes', scene.id);
  }
  t.end();
});

t.test('scenes of one id are one scene', (t) => {
  const seen = new Map<string, unknown>();
  for (const row of rows) {
    for (const scene of needed(row)) {
      // A row may need a scene on some of its keys only.
      if (scene.kind === 'key-scene') continue;
      t.equal(seen.get(scene.id) ?? scene, scene, `${scene.id}, needed by ${row.id}`);
      seen.set(scene.id, scene);
    }
  }
  t.end();
});
