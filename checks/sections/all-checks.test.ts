/** The guard: spec/requirements.yaml and the checks say the same, row by row. */
import t from 'tap';
import { gaps, requirements } from '../../spec/contract.ts';
import { PERMISSIONS, type Permission } from '../../spec/permissions.ts';
import { type Check, whyNotAsked } from '../run/check.ts';
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

/** The permission without which a row's own scenes are not played. */
const permitOf = ({ permit, scenes }: Check): Permission | undefined =>
  permit ?? scenes.find((scene) => scene.permit !== undefined)?.permit;

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
    if (harm !== undefined) t.equal(permitOf(check), harm, check.id);
  }
  t.end();
});

t.test('scenes of one id are one scene', (t) => {
  const seen = new Map<string, unknown>();
  for (const { id, scenes } of [...allChecks, ...allGapObservers]) {
    for (const scene of scenes) {
      if (scene.kind === 'on-keys') continue;
      t.equal(seen.get(scene.id) ?? scene, scene, `${scene.id}, named by ${id}`);
      seen.set(scene.id, scene);
    }
  }
  t.end();
});

t.test('a key that is lacking is told by its role alone where none has that', (t) => {
  const limits = { perMinute: 60, perDay: 1000 };
  const keys = [
    {
      name: 'free-1',
      plan: 'free',
      roles: ['functional'],
      env: 'KEY',
      unusedToday: false,
      value: 'x',
      limits,
    },
  ] as const;
  const facts = { keys, permissions: new Set(PERMISSIONS) };
  const wanted = allChecks.flatMap((check) => {
    const reason = whyNotAsked(check, facts);
    return reason?.kind === 'no-key' ? JSON.stringify(reason.wanted) : [];
  });
  t.strictSame(sorted([...new Set(wanted)]), ['{"count":2}', '{"role":"ban"}', '{"role":"exhaust"}']);
  t.end();
});
