/** Filter, search, and copying: what the page can do without it is there without it. */
const all = <E extends Element>(selector: string, kind: new () => E, root: ParentNode = document): E[] =>
  [...root.querySelectorAll(selector)].filter((element): element is E => element instanceof kind);

const rows = all('.req', HTMLDetailsElement);
const groups = all('.group', HTMLDetailsElement);
const filters = all('[data-filter]', HTMLButtonElement);
const [find] = all('[type=search]', HTMLInputElement);
const [matches] = all('output', HTMLOutputElement);
let kind = '';

function showMatches(): void {
  const sought = (find?.value ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const isAll = kind === '' && sought.length === 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    const isKind = kind === '' || row.dataset['kind'] === kind;
    row.hidden = !isKind || !sought.every((word) => text.includes(word));
  }
  for (const group of groups) {
    group.hidden = all('.req', HTMLElement, group).every((row) => row.hidden);
    group.open = !isAll;
  }
  for (const button of filters) button.ariaPressed = String(button.dataset['filter'] === kind);
  const shown = rows.filter((row) => !row.hidden).length;
  if (matches) matches.textContent = isAll ? '' : `${shown} of ${rows.length} shown`;
}

for (const button of filters) {
  button.addEventListener('click', () => {
    const chosen = button.dataset['filter'] ?? '';
    kind = chosen === kind ? '' : chosen;
    showMatches();
  });
}
find?.addEventListener('input', showMatches);
/** A link may lead to what the filter hides. */
addEventListener('hashchange', () => {
  const target = document.getElementById(location.hash.slice(1));
  if (!target?.closest('[hidden]')) return;
  kind = '';
  if (find) find.value = '';
  showMatches();
  for (let each = target.closest('details'); each; each = each.parentElement?.closest('details') ?? null)
    each.open = true;
  target.scrollIntoView();
});

for (const button of all('[data-copy]', HTMLButtonElement)) {
  button.hidden = false;
  button.ariaLive = 'polite';
  button.addEventListener('click', async () => {
    const text = button.previousElementSibling?.textContent ?? '';
    button.textContent = await navigator.clipboard.writeText(text).then(
      () => 'Copied',
      () => 'Not copied',
    );
  });
}
for (const toolbar of all('#toolbar', HTMLElement)) toolbar.hidden = false;

/** On paper, what is broken is open. */
addEventListener('beforeprint', () => {
  for (const each of all('.defect', HTMLDetailsElement)) each.open = true;
});

export {};
