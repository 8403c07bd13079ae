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
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const groups = all('[data-group]', HTMLElement);
  const filters = all('[data-filter]', HTMLButtonElement);
  const find = one('#find', HTMLInputElement);
  const matches = one('#matches', HTMLElement);
  const nothing = one('.nothing', HTMLElement);
  let kind = '';

  const apply = () => {
    const words = (find?.value ?? '').toLowerCase().split(/\s+/).filter(Boolean);
    let visible = 0;
    for (const row of rows) {
      const text = `${texts.get(row) ?? ''} ${row.closest('[data-group]')?.querySelector('h3')?.textContent.toLowerCase() ?? ''}`;
      row.hidden =
        (kind !== '' && row.dataset['kind'] !== kind) || !words.every((word) => text.includes(word));
      if (!row.hidden) visible += 1;
    }
    for (const group of groups) group.hidden = all('.req', HTMLElement, group).every((row) => row.hidden);
    for (const button of filters)
      button.setAttribute('aria-pressed', String(button.dataset['filter'] === kind));
    if (nothing) nothing.hidden = visible > 0;
    if (matches) matches.textContent = visible === rows.length ? '' : `${visible} of ${rows.length} shown`;
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
      for (const row of rows) if (!row.hidden) row.open = button.dataset['fold'] === 'open';
    });
  }

  const exchanges = all('#exchanges .x', HTMLDetailsElement);
  const findExchange = one('#find-x', HTMLInputElement);
  findExchange?.addEventListener('input', () => {
    const words = findExchange.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const exchange of exchanges) {
      const text = exchange.querySelector('summary')?.textContent.toLowerCase() ?? '';
      exchange.hidden = !words.every((word) => text.includes(word));
    }
  });

  // ---- Evidence of what passed: a copy of the exchange, made when the row is opened -----------------------------
  for (const row of rows) {
    const fill = () => {
      const slot = all('[data-exchange]', HTMLElement, row)[0];
      if (!row.open || !slot || slot.hasChildNodes()) return;
      const shown = document.getElementById(slot.dataset['exchange'] ?? '')?.querySelector('.exchange');
      if (shown) slot.append(shown.cloneNode(true));
    };
    row.addEventListener('toggle', fill);
    fill();
  }

  // ---- A link leads to an open, visible target ------------------------------------------------------------------
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    if (target.closest('[hidden]')) {
      reset();
      for (const exchange of exchanges) exchange.hidden = false;
      if (findExchange) findExchange.value = '';
    }
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
    for (const fold of all('.numbers, .rest', HTMLDetailsElement)) fold.open = true;
  });

  // ---- The rate picture --------------------------------------------------------------------------------------------------
  const inner = one('.rates-inner', HTMLElement);
  const scroller = one('.rates', HTMLElement);
  const range = one('#rate-at', HTMLInputElement);
  const readout = one('#rate-readout', HTMLElement);
  const crosshair = one('.crosshair', HTMLElement);
  const zooms = all('[data-zoom]', HTMLButtonElement);
  const data = one('#rate-data', HTMLElement);
  if (!inner || !scroller || !range || !readout || !crosshair || !data) return;

  interface Rates {
    length: number;
    keys: { name: string; answered: string; columns: number[][] }[];
  }
  const rates: Rates = JSON.parse(data.textContent);
  const columns = Number(range.max) + 1;
  const byColumn = rates.keys.map(({ name, answered, columns: list }) => ({
    name,
    words: [answered, 'refused', 'while banned', 'unanswered'],
    at: new Map(list.map((column) => [column[0] ?? 0, column])),
  }));

  const clock = (seconds: number) => {
    const minutes = Math.floor(seconds / 60);
    const rest = (seconds % 60).toFixed(rates.length < 600 ? 1 : 0);
    return minutes > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
  };
  const look = (column: number) => {
    range.value = String(column);
    const lines = byColumn.flatMap(({ name, words, at }) => {
      const found = at.get(column);
      if (!found) return [];
      const parts = words.flatMap((word, index) =>
        (found[index + 1] ?? 0) > 0 ? [`${found[index + 1]} ${word}`] : [],
      );
      const left = found[5] ?? -1;
      return [`${name}: ${parts.join(', ')}${left >= 0 ? `, ${left} remaining` : ''}`];
    });
    const text = `${clock((column / columns) * rates.length)} · ${lines.join(' · ') || 'no request'}`;
    readout.textContent = text;
    readout.classList.remove('quiet');
    range.setAttribute('aria-valuetext', text);
    crosshair.hidden = false;
    crosshair.style.left = `${((column + 0.5) / columns) * 100}%`;
  };
  range.addEventListener('input', () => {
    look(Number(range.value));
    const at = (Number(range.value) / columns) * inner.clientWidth;
    if (at < scroller.scrollLeft || at > scroller.scrollLeft + scroller.clientWidth) {
      scroller.scrollLeft = at - scroller.clientWidth / 2;
    }
  });
  inner.addEventListener('pointermove', (event) => {
    const box = inner.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * columns);
    if (column >= 0 && column < columns) look(column);
  });
  for (const button of zooms) {
    button.addEventListener('click', () => {
      const middle = (scroller.scrollLeft + scroller.clientWidth / 2) / inner.clientWidth;
      inner.style.width = `${Number(button.dataset['zoom']) * 100}%`;
      scroller.scrollLeft = middle * inner.clientWidth - scroller.clientWidth / 2;
      for (const other of zooms) other.setAttribute('aria-pressed', String(other === button));
    });
  }
})();
