/** Filter, search, folding, copying, and the look along the rate limits. */
const all = <E extends Element>(selector: string, kind: new () => E, root: ParentNode = document): E[] =>
  [...root.querySelectorAll(selector)].filter((element): element is E => element instanceof kind);
const one = <E extends Element>(
  selector: string,
  kind: new () => E,
  root: ParentNode = document,
): E | undefined => all(selector, kind, root)[0];

const rows = all('.req', HTMLDetailsElement);
const groups = all('#requirements > details', HTMLDetailsElement);

/** The text of a row that a search looks at. */
const words = (element: Element) =>
  all(':scope > summary, .reason, .facts, .x > summary', HTMLElement, element)
    .map(({ textContent }) => textContent)
    .join(' ')
    .toLowerCase();

/** Filter and search. @returns shows everything again */
function filterAndSearch(): () => void {
  const texts = [...rows, ...all('#exchanges .x', HTMLDetailsElement)].map((row) => {
    const group = row.closest('[data-group]')?.querySelector('h3')?.textContent.toLowerCase() ?? '';
    return { row, text: `${words(row)} ${group}` };
  });
  const asBefore = new Map(groups.map((group) => [group, group.open]));
  const filters = all('[data-filter]', HTMLButtonElement);
  const find = one('#find', HTMLInputElement);
  const matches = one('#matches', HTMLElement);
  const nothing = one('.nothing', HTMLElement);
  let kind = '';

  const apply = () => {
    const sought = (find?.value ?? '').toLowerCase().split(/\s+/).filter(Boolean);
    const isAll = kind === '' && sought.length === 0;
    for (const { row, text } of texts)
      row.hidden =
        (kind !== '' && row.dataset['kind'] !== kind) || !sought.every((word) => text.includes(word));
    for (const group of groups) {
      group.hidden =
        !isAll && all('.req, .x', HTMLElement, group).every((row) => row.closest('[hidden]') !== null);
      group.open = isAll ? (asBefore.get(group) ?? false) : true;
    }
    for (const button of filters)
      button.setAttribute('aria-pressed', String(button.dataset['filter'] === kind));
    const visible = rows.filter((row) => !row.hidden).length;
    if (nothing) nothing.hidden = groups.some((group) => !group.hidden);
    if (matches) matches.textContent = isAll ? '' : `${visible} of ${rows.length} shown`;
  };
  const reset = () => {
    kind = '';
    if (find) find.value = '';
    apply();
  };
  for (const button of filters) {
    button.addEventListener('click', () => {
      const chosen = button.dataset['filter'] ?? '';
      kind = chosen === kind ? '' : chosen;
      apply();
    });
  }
  find?.addEventListener('input', apply);
  one('[data-reset]', HTMLButtonElement)?.addEventListener('click', () => {
    reset();
    find?.focus();
  });
  return reset;
}

/** Expands or collapses everything that is shown. On paper, what is broken or not verified is open. */
function fold(): void {
  for (const button of all('[data-fold]', HTMLButtonElement)) {
    button.addEventListener('click', () => {
      for (const each of [...rows, ...groups])
        if (!each.hidden) each.open = button.dataset['fold'] === 'open';
    });
  }
  addEventListener('beforeprint', () => {
    for (const row of rows)
      if (row.dataset['kind'] === 'fail' || row.dataset['kind'] === 'inconclusive') row.open = true;
    for (const each of all('.group, .fold, .rest', HTMLDetailsElement)) each.open = each.id !== 'exchanges';
  });
}

/** Opens and shows the target of a link. */
function reveal(showAll: () => void): void {
  const target = document.getElementById(location.hash.slice(1));
  if (!target) return;
  if (target.closest('[hidden]')) showAll();
  for (let each = target.closest('details'); each; each = each.parentElement?.closest('details') ?? null)
    each.open = true;
  target.scrollIntoView({ block: 'start' });
  if (target instanceof HTMLDetailsElement) target.querySelector('summary')?.focus({ preventScroll: true });
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Some browsers allow no clipboard to a page from disk. The old way still works.
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

function copyCommands(): void {
  const said = one('#said', HTMLElement);
  for (const button of all('[data-copy]', HTMLButtonElement)) {
    const label = button.firstChild;
    button.addEventListener('click', async () => {
      const text = document.getElementById(button.dataset['copy'] ?? '')?.textContent ?? '';
      const done = await copyText(text);
      button.focus();
      if (label) label.textContent = done ? 'Copied' : 'Press Ctrl+C';
      if (said) said.textContent = done ? 'Command copied' : 'The command could not be copied';
      setTimeout(() => {
        if (label) label.textContent = 'Copy';
      }, 2000);
    });
  }
}

/** What the page holds of a key's requests. */
interface Rates {
  from: number;
  until: number;
  answered: string;
  columns: number[][];
}

/** `1 min 11.2 s`. */
function clock(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return `${minutes > 0 ? `${minutes} min ` : ''}${(seconds % 60).toFixed(minutes < 10 ? 1 : 0)} s`;
}

/** Says what happened at the place of the pointer or slider in a rate picture. */
function lookAlong(panel: HTMLElement, { from, until, answered, columns: data }: Rates): void {
  const range = one('input', HTMLInputElement, panel);
  const readout = one('output', HTMLElement, panel);
  const crosshair = one('.crosshair', HTMLElement, panel);
  if (!range || !readout || !crosshair) return;
  const columns = Number(range.max) + 1;
  const look = (column: number) => {
    range.value = String(column);
    const [, ...found] = data.find(([index]) => index === column) ?? [];
    const parts = [answered, 'refused', 'while banned', 'unanswered'].flatMap((word, place) =>
      (found[place] ?? 0) > 0 ? [`${found[place]} ${word}`] : [],
    );
    if ((found[4] ?? -1) >= 0) parts.push(`${found[4]} remaining`);
    const time = clock(from + (column / columns) * (until - from));
    readout.textContent = `${time}: ${parts.join(', ') || 'no request'}`;
    range.setAttribute('aria-valuetext', readout.textContent);
    crosshair.hidden = false;
    crosshair.style.left = `${((column + 0.5) / columns) * 100}%`;
  };
  range.addEventListener('input', () => look(Number(range.value)));
  panel.addEventListener('pointermove', (event) => {
    const box = panel.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * columns);
    if (event.target !== range && column >= 0 && column < columns) look(column);
  });
}

/** Widens the rate pictures around their middle. */
function zoom(): void {
  const inner = one('.rates-inner', HTMLElement);
  const scroller = one('.rates', HTMLElement);
  const zooms = all('[data-zoom]', HTMLButtonElement);
  for (const button of zooms) {
    button.addEventListener('click', () => {
      if (!inner || !scroller) return;
      const middle = (scroller.scrollLeft + scroller.clientWidth / 2) / inner.clientWidth;
      inner.style.width = `${Number(button.dataset['zoom']) * 100}%`;
      scroller.scrollLeft = middle * inner.clientWidth - scroller.clientWidth / 2;
      for (const other of zooms) other.setAttribute('aria-pressed', String(other === button));
    });
  }
}

document.documentElement.classList.add('has-script');
const showAll = filterAndSearch();
fold();
addEventListener('hashchange', () => reveal(showAll));
reveal(showAll);
copyCommands();
const rates: Rates[] = JSON.parse(one('#rate-data', HTMLElement)?.textContent ?? '[]');
for (const [index, panel] of all('.panel', HTMLElement).entries()) {
  const own = rates[index];
  if (own !== undefined) lookAlong(panel, own);
}
zoom();

export {};
