import { makeBadge } from 'badge-maker';
import t from 'tap';
import { FORMATS } from '../formats.ts';
import {
  conformantReport,
  inconclusiveReport,
  notConformantReport,
  partialReport,
} from '../testing/sample-reports.ts';

const renderBadge = FORMATS.badge.render;

/** The fields that the endpoint badge of shields.io accepts; any other makes it show "invalid properties". */
const FIELDS = [
  'schemaVersion',
  'label',
  'message',
  'color',
  'labelColor',
  'isError',
  'namedLogo',
  'logoSvg',
  'logoColor',
  'logoSize',
  'style',
];

t.test('shields accepts the badge and draws its message', async (t) => {
  const cases = [
    [conformantReport(), 'conformant (94 verified)', '#4b0', false],
    [partialReport(), '61 of 61, 33 skipped', '#4b0', false],
    [notConformantReport(), '5 broken, 1 drifted', '#dd4343', true],
    [inconclusiveReport(), 'inconclusive (27 not verified)', '#d8b800', true],
  ] as const;
  for (const [report, message, colour, isError] of cases) {
    const badge = JSON.parse(renderBadge(report));
    t.strictSame(
      Object.keys(badge).filter((field) => !FIELDS.includes(field)),
      [],
    );
    t.match(badge, { schemaVersion: 1, message, isError });
    const svg = makeBadge({ label: badge.label, message: badge.message, color: badge.color });
    t.match(svg, `Pet Store interface: ${message}`);
    t.match(svg, colour);
  }
});

t.test('a verdict that no requirement explains is never green', async (t) => {
  const badge = JSON.parse(renderBadge({ ...conformantReport(), verdict: 'not-conformant' }));
  t.match(badge, { message: 'not conformant', color: 'red' });
});
