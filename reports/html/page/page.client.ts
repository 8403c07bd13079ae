/** Filter, search, links into what is folded, and copying. */
const all = <E extends Element>(selector: string, kind: new () => E, root: ParentNode = document): E[] =>
  [...root.querySelectorAll(selector)].filter((element): element is E => element instanceof kind);

const rows = all('.req', HTMLDetailsElement);
const groups = all('.group', HTMLDetailsElement);

/** Filter and search. @returns shows everything again */
function filterAndSearch(): () => void {
  const filters = all('[data-filter]', HTMLButtonElement);
  const [find] = all('#find', HTMLInputElement);
  const [matches] = all('#matches', HTMLElement);
  const [nothing] = all('.nothing', HTMLElement);
  let kind = '';
  const apply = () => {
    const sought = (find?.value ?? '').toLowerCase().split(/\s+/).filter(Boolean);
    const isAll = kind === '' && sought.length === 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden =
        (kind !== '' && row.dataset['kind'] !== kind) || !sought.every((word) => text.includes(word));
    }
    for (const group of groups) {
      group.hidden = all('.req', HTMLElement, group).every((row) => row.hidden);
      group.open = !isAll;
    }
    for (const button of filters)
      button.setAttribute('aria-pressed', String(button.dataset['filter'] === kind));
    if (nothing) nothing.hidden = rows.some((row) => !row.hidden);
    if (matches)
      matches.textContent = isAll
        ? ''
        : `${rows.filter((row) => !row.hidden).length} of ${rows.length} shown`;
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
  for (const button of all('[data-reset]', HTMLButtonElement)) button.addEventListener('click', reset);
  return reset;
}

/** Opens and shows the target of a link. */
function reveal(showAll: () => void): void {
  const target = document.getElementById(location.hash.slice(1));
  if (!target) return;
  if (target.closest('[hidden]')) showAll();
  for (let each = target.closest('details'); each; each = each.parentElement?.closest('details') ?? null)
    each.open = true;
  target.scrollIntoView({ block: 'start' });
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
  const [said] = all('#said', HTMLElement);
  for (const button of all('[data-copy]', HTMLButtonElement)) {
    button.addEventListener('click', async () => {
      const source = document.getElementById(button.dataset['copy'] ?? '');
      const done = await copyText(source?.textContent ?? '');
      button.textContent = done ? 'Copied' : 'Not copied';
      if (said) said.textContent = done ? 'The command was copied' : 'The command could not be copied';
    });
  }
}

/** On paper, what is broken is open. */
addEventListener('beforeprint', () => {
  for (const each of all('.defect', HTMLDetailsElement)) each.open = true;
});
document.documentElement.classList.add('has-script');
const showAll = filterAndSearch();
addEventListener('hashchange', () => reveal(showAll));
reveal(showAll);
copyCommands();

export {};
