// Filters the table of rows by the values of columns and by text, sorts it, and shows more columns. What was chosen is
// kept in the address. Texts from the data are read from the page and written as text, never as markup.
for (const table of document.querySelectorAll("table.browsed")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const names = heads.map((head) => head.textContent);
  const rows = [...body.rows].map((row) => ({
    row, values: [...row.cells].map((cell) => cell.textContent.trim()), text: row.textContent.toLowerCase(),
  }));
  const state = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const controls = make("form", { className: "controls" });
  const count = make("output");
  const compare = (one, other) => one.localeCompare(other, "en", { numeric: true });
  const labelled = (words, control) => {
    const label = make("label");
    label.append(words, " ", control);
    controls.append(label);
    return control;
  };
  // Every column can be asked for in the address, by its name; what is no column begins with a colon. Those of
  // data-filters have a control.
  const filters = names.map((name, column) => ({ name, column, wanted: state.getAll(name) }));
  for (const filter of filters.filter(({ name, wanted }) => wanted.length || table.dataset.filters.split("\n").includes(name))) {
    filter.select = labelled(filter.name, make("select"));
    filter.select.addEventListener("change", () => {
      filter.wanted = filter.select.value ? JSON.parse(filter.select.value) : [];
      show();
    });
  }
  const search = labelled("text", make("input", { type: "search", value: state.get(":text") ?? "" }));
  const boxes = new Map();
  heads.forEach((head, column) => {
    if (!head.hidden) return;
    const checked = state.getAll(":show").includes(names[column]);
    boxes.set(column, labelled(names[column], make("input", { type: "checkbox", checked })));
    boxes.get(column).addEventListener("change", show);
  });
  controls.append(count);
  controls.addEventListener("submit", (event) => event.preventDefault());
  search.addEventListener("input", show);

  // A row counts in several measures.
  const valuesOf = (each, { name, column }) => name === "counted in" ? each.values[column].split(", ") : [each.values[column]];
  const kept = (each, without) => each.text.includes(search.value.toLowerCase()) && filters.every((filter) =>
    filter === without || !filter.wanted.length || valuesOf(each, filter).some((value) => filter.wanted.includes(value)));

  function show() {
    let shown = 0;
    for (const each of rows) shown += !(each.row.hidden = !kept(each));
    for (const filter of filters.filter(({ select }) => select)) {
      const counts = new Map();
      for (const each of rows) {
        if (kept(each, filter)) for (const value of valuesOf(each, filter)) counts.set(value, (counts.get(value) ?? 0) + 1);
      }
      const choices = [...counts].sort(([one], [other]) => compare(one, other)).map(([value, number]) => [[value], number]);
      const chosen = JSON.stringify(filter.wanted);
      if (filter.wanted.length && !choices.some(([values]) => JSON.stringify(values) === chosen)) {
        choices.push([filter.wanted, filter.wanted.reduce((sum, value) => sum + (counts.get(value) ?? 0), 0)]);
      }
      const option = ([values, number]) => new Option(`${values.join(" or ") || "(none)"} (${number})`, JSON.stringify(values));
      filter.select.replaceChildren(new Option("all", ""), ...choices.map(option));
      filter.select.value = filter.wanted.length ? chosen : "";
    }
    count.value = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
    const address = new URLSearchParams(filters.flatMap(({ name, wanted }) => wanted.map((value) => [name, value])));
    if (search.value) address.set(":text", search.value);
    if (state.get(":sort")) address.set(":sort", state.get(":sort"));
    for (const [column, { checked: visible }] of boxes) {
      if (visible) address.append(":show", names[column]);
      if (heads[column].hidden === visible) {
        heads[column].hidden = !visible;
        for (const { row } of rows) row.cells[column].hidden = !visible;
      }
    }
    if (String(address) || location.hash.includes("=")) history.replaceState(null, "", `#${address}`);
    return remember();
  }

  function sort() {
    const [, down, name] = /^(-?)(.*)$/s.exec(state.get(":sort") ?? "");
    const column = names.indexOf(name);
    if (column < 0) return;
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
    // Row numbers are written with commas.
    const key = (each) => (column ? each.values[column] : each.values[column].replaceAll(",", ""));
    rows.sort((one, other) => compare(key(one), key(other)) * (down ? -1 : 1));
    body.append(...rows.map(({ row }) => row));
  }

  heads.forEach((head, column) => {
    const button = make("button");
    button.append(...head.childNodes);
    head.append(button);
    head.addEventListener("click", () => {
      state.set(":sort", head.getAttribute("aria-sort") === "ascending" ? `-${names[column]}` : names[column]);
      sort();
      show();
    });
  });
  // A row's page goes back to this choice of rows, and on to the next of them.
  function remember() {
    const linked = rows.map(({ row }) => ({ row, link: row.querySelector("a") })).filter(({ link }) => link);
    for (const { link } of linked) link.hash = location.hash;
    const listed = linked.filter(({ row }) => !row.hidden).map(({ link }) => link.href.split("#")[0]);
    try { sessionStorage.setItem("pddl-eval-rows", JSON.stringify({ hash: location.hash, listed })); } catch { /* not allowed */ }
    return listed;
  }
  addEventListener("pageshow", remember);
  table.closest(".tables").before(controls);
  sort();
  // A permanent link opens the page of the only row that it names.
  const isPermanent = state.has(":open");
  const found = show();
  if (isPermanent && found.length === 1) location.replace(found[0]);
}
