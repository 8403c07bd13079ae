import t from 'tap';
import { LoadNotes } from './load-notes.ts';

t.test('what k6 says of every request is shown three times, and counted', (t) => {
  const shown: string[] = [];
  const notes = new LoadNotes((line) => shown.push(line));
  for (let port = 1; port <= 1200; port += 1)
    notes.add(
      `k6 warning: Request Failed Get "http://x/v1/pets?limit=${port}": read tcp 127.0.0.1:${port}: reset`,
    );
  notes.add('k6 warning: Insufficient VUs, reached 34 active VUs');
  notes.add('\x1b[31mred\nand a line');
  notes.end();
  t.equal(shown.length, 6);
  t.match(shown[3], /Insufficient VUs/);
  t.equal(shown[4], '⟨U+001B⟩[31mred and a line', 'nothing in it acts on the terminal');
  t.equal(shown[5], '… and 1,197 more lines like this from k6');
  t.end();
});

t.test('where nothing was left out nothing is said', (t) => {
  const shown: string[] = [];
  const notes = new LoadNotes((line) => shown.push(line));
  notes.add('k6 warning: one');
  notes.end();
  t.strictSame(shown, ['k6 warning: one']);
  t.end();
});
