/** What the page can do beyond showing itself: filter, search, fold, copy, and the look along the rate limits. */
(() => {
  const all = <E extends Element>(selector: string, kind: new () => E, root: ParentNode = document): E[] =>
    [...root.querySelectorAll(selector)].filter((element): element is E => element instanceof kind);
  const one = <E extends Element>(selector: string, kind: new () => E): E | undefined =>
    all(selector, kind)[0];

  document.documentElement.classList.add('has-script');

  const said = one('#said', HTMLElement);
  const say = (text: string) => {
    if (said) said.textContent = text;
  };

  // ---- Filter, search, fold -----------------------------------------------------------------------------------
  const rows = all('.req', HTMLDetailsElement);
  const exchanges = all('#exchanges .x', HTMLDetailsElement);
  const words = (element: Element) =>
    all(':scope > summary, .reason, .facts, .x > summary', HTMLElement, element)
      .map(({ textContent }) => textContent)
      .join(' ')
      .toLowerCase();
  const texts = new Map([...rows, ...exchanges].map((row) => [row, words(row)]));
  const groups = all('#requirements > details', HTMLDetailsElement);
  const asBefore = new Map(groups.map((group) => [group, group.open]));
  const filters = all('[data-filter]', HTMLButtonElement);
  const find = one('#find', HTMLInputElement);
  const matches = one('#matches', HTMLElement);
  const nothing = one('.nothing', HTMLElement);
  let kind = '';

  const apply = () => {
    const sought = (find?.value ?? '').toLowerCase().split(/\s+/).filter(Boolean);
    const isAll = kind === '' && sought.length === 0;
    for (const [row, text] of texts) {
      const group = row.closest('[data-group]')?.querySelector('h3')?.textContent.toLowerCase() ?? '';
      row.hidden =
        (kind !== '' && row.dataset['kind'] !== kind) ||
        !sought.every((word) => `${text} ${group}`.includes(word));
    }
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
  for (const button of all('[data-fold]', HTMLButtonElement)) {
    button.addEventListener('click', () => {
      for (const fold of [...rows, ...groups])
        if (!fold.hidden) fold.open = button.dataset['fold'] === 'open';
    });
  }

  // ---- A link leads to an open, visible target ------------------------------------------------------------------
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    if (target.closest('[hidden]')) reset();
    for (let fold = target.closest('details'); fold; fold = fold.parentElement?.closest('details') ?? null)
      fold.open = true;
    target.scrollIntoView({ block: 'start' });
    if (target instanceof HTMLDetailsElement) target.querySelector('summary')?.focus({ preventScroll: true });
  };
  addEventListener('hashchange', reveal);
  reveal();

  // ---- Copy ---------------------------------------------------------------------------------------------------------
  const copyText = async (text: string): Promise<boolean> => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // From disk some browsers keep the clipboard to themselves; the old way still works there.
      const area = document.createElement('textarea');
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand('copy');
      area.remove();
      return done;
    }
  };
  for (const button of all('[data-copy]', HTMLButtonElement)) {
    const label = button.firstChild;
    button.addEventListener('click', async () => {
      const text = document.getElementById(button.dataset['copy'] ?? '')?.textContent ?? '';
      const done = await copyText(text);
      button.focus();
      if (label) label.textContent = done ? 'Copied' : 'Press Ctrl+C';
      say(done ? 'Command copied' : 'The command could not be copied');
      setTimeout(() => {
        if (label) label.textContent = 'Copy';
      }, 2000);
    });
  }

  // ---- On paper what is broken or not verified stands open -------------------------------------------------------------
  addEventListener('beforeprint', () => {
    for (const row of rows)
      if (row.dataset['kind'] === 'fail' || row.dataset['kind'] === 'inconclusive') row.open = true;
    for (const fold of all('.group, .fold, .rest', HTMLDetailsElement)) fold.open = fold.id !== 'exchanges';
  });

  // ---- The rate pictures: what happened where the pointer is, or the slider ------------------------------------------
  interface Rates {
    from: number;
    until: number;
    answered: string;
    columns: number[][];
  }
  const rates: Rates[] = JSON.parse(one('#rate-data', HTMLElement)?.textContent ?? '[]');
  const inner = one('.rates-inner', HTMLElement);
  const scroller = one('.rates', HTMLElement);

  const clock = (seconds: number) => {
    const minutes = Math.floor(seconds / 60);
    return `${minutes > 0 ? `${minutes} min ` : ''}${(seconds % 60).toFixed(minutes < 10 ? 1 : 0)} s`;
  };
  for (const [index, panel] of all('.panel', HTMLElement).entries()) {
    const key = rates[index];
    const range = all('input', HTMLInputElement, panel)[0];
    const readout = all('output', HTMLElement, panel)[0];
    const crosshair = all('.crosshair', HTMLElement, panel)[0];
    if (!key || !range || !readout || !crosshair) continue;
    const columns = Number(range.max) + 1;
    const at = new Map(key.columns.map((column) => [column[0] ?? 0, column]));
    const look = (column: number) => {
      range.value = String(column);
      const found = at.get(column) ?? [];
      const parts = [key.answered, 'refused', 'while banned', 'unanswered'].flatMap((word, place) =>
        (found[place + 1] ?? 0) > 0 ? [`${found[place + 1]} ${word}`] : [],
      );
      if ((found[5] ?? -1) >= 0) parts.push(`${found[5]} remaining`);
      const time = clock(key.from + (column / columns) * (key.until - key.from));
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
})();
