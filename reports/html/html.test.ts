import fc from 'fast-check';
import t from 'tap';
import { placeIn } from '../exchange-parts.ts';
import { broken, exchange, petList, render, reportWith, row } from '../testing/sample-reports.ts';

const page = (body: string, at: readonly string[], headers: readonly (readonly [string, string])[] = []) =>
  render(reportWith([broken('one', { at })], { exchanges: [exchange('lists#1', body, headers)] }), 'html');

/** What the page marks. */
const marks = (text: string) =>
  [...text.slice(0, text.indexOf('<h2>Requirements')).matchAll(/<mark>(.*?)<\/mark>/gs)].map(([, one]) =>
    one?.replace(/&quot;/g, '"').trim(),
  );

t.test('the failing item is marked with its id and value, however long the body', async (t) => {
  for (const length of [3, 400]) {
    const index = length - 2;
    const shown = page(petList(length, { index, status: 'adopted' }), [`body/${index}/status`]);
    const id = 9007199254740991n + BigInt(index);
    t.strictSame(marks(shown), ['"adopted"'], `${length} animals`);
    t.match(shown, `&quot;id&quot;:${id},`, 'its id is beside it');
    t.ok(shown.length < 60_000, 'a window of it');
  }
});

t.test('only what is wrong is marked', async (t) => {
  const list = petList(2);
  t.strictSame(marks(page(list, [])), []);
  t.strictSame(marks(page(list, ['header:Content-Type'])), ['content-type: application/json']);
  t.strictSame(marks(page(list, ['header:X-Gone'])), ['X-Gone: (missing)']);
  t.strictSame(marks(page(list, ['status'])), ['HTTP 200 OK']);
  t.strictSame(marks(page('[cut', ['body/0'])), [], 'no place in what is not JSON');
  t.strictSame(marks(page('{"id":1}', ['body/status'])), [], 'no place that is not there');
  t.match(marks(page('{"id":1,"status":7}', ['body/status'])), ['7']);
});

t.test('a JSON Pointer is found in any JSON text', async () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ depthSize: 'small' }),
      fc.nat(3),
      fc.constantFrom(undefined, 2, '\t'),
      (value, index, indent) => {
        const list = [0, value, { id: 7, field: value }, [value]];
        const text = JSON.stringify(list, null, indent);
        const place = placeIn(text, [String(index)]);
        if (place === undefined) throw new Error(`no ${index} in ${text}`);
        const [from, to] = place;
        return JSON.stringify(JSON.parse(text.slice(from, to))) === JSON.stringify(list[index]);
      },
    ),
    { numRuns: 200 },
  );
});

t.test('a hostile text stays text', async (t) => {
  const hostile = '</script><img src=x onerror=alert(1)>';
  const shown = page(
    JSON.stringify([{ id: hostile, status: hostile }]),
    ['body/0/status'],
    [[hostile, hostile]],
  );
  t.notMatch(shown, '<img');
  t.notMatch(shown, '<script');
});

t.test('links lead somewhere, and ids are there once', async (t) => {
  const rows = [broken('one'), broken('two', { consequenceOf: 'one' }), row('three', { section: '8' })];
  const text = render(reportWith(rows), 'html');
  const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  t.equal(new Set(ids).size, ids.length);
  for (const [, target] of text.matchAll(/href="#([^"]+)"/g)) t.ok(ids.includes(target), `#${target}`);
});
