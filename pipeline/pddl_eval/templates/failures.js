// Sorts the table of failures by the column that is clicked, and filters it by the values of columns and by text.
// Texts from the data are read from the page and written as text, never as markup.
for (const table of document.querySelectorAll("table.browsed")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const names = heads.map((head) => head.textContent);
  const rows = [...body.rows].map((row) => ({
    row, values: [...row.cells].map((cell) => cell.textContent.trim()), text: row.textContent.toLowerCase(),
  }));
  const state = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  const controls = document.createElement("form");
  controls.className = "controls";
  const count = document.createElement("output");

  const labelled = (words, control) => {
    const label = document.createElement("label");
    label.append(words, " ", control);
    controls.append(label);
    return control;
  };
  const selects = table.dataset.filters.split("\n").map((name) => {
    const column = names.indexOf(name);
    const select = labelled(name, document.createElement("select"));
    const values = [...new Set(rows.map((each) => each.values[column]))].sort(compare);
    select.append(new Option("all", ""), ...values.map((value) => new Option(value, value)));
    select.value = state.get(name) ?? "";
    if (select.selectedIndex < 0) select.value = "";
    return { column, name, select };
  });
  const search = labelled("text", Object.assign(document.createElement("input"), { type: "search" }));
  search.value = state.get("text") ?? "";
  controls.append(count);
  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.addEventListener("input", show);

  function compare(one, other) {
    return one.localeCompare(other, "en", { numeric: true });
  }

  function show() {
    const wanted = search.value.toLowerCase();
    let shown = 0;
    for (const each of rows) {
      const kept = selects.every(({ column, select }) => !select.value || each.values[column] === select.value);
      each.row.hidden = !(kept && each.text.includes(wanted));
      shown += !each.row.hidden;
    }
    count.value = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
    // Kept in the address, so that the way back from a row finds the same rows.
    const kept = new URLSearchParams(selects.filter(({ select }) => select.value).map(({ name, select }) => [name, select.value]));
    if (search.value) kept.set("text", search.value);
    if (String(kept) || location.hash.includes("=")) history.replaceState(null, "", `#${kept}`);
  }

  function sort(column) {
    const upwards = heads[column].getAttribute("aria-sort") !== "ascending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", upwards ? "ascending" : "descending");
    // Row numbers are written with commas.
    const key = (each) => column ? each.values[column] : each.values[column].replaceAll(",", "");
    rows.sort((one, other) => compare(key(one), key(other)) * (upwards ? 1 : -1));
    body.append(...rows.map(({ row }) => row));
  }

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(column));
    head.append(button);
  });
  table.closest(".tables").before(controls);
  show();
}
