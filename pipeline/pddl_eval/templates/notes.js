// Notes of readers: a row is looked at, its verdict agreed with or not, and why. They are kept in the browser, by dataset
// and by what identifies the row, and saved into a file beside the report. Of several readers' files, how far they agree.
{
  const main = document.querySelector("[data-notes]");
  const store = `pddl-eval-notes:${main.dataset.notes}`;
  const make = (tag, properties, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  const read = () => { try { return JSON.parse(localStorage.getItem(store)) ?? {}; } catch { return {}; } };
  const write = (state) => { try { localStorage.setItem(store, JSON.stringify(state)); } catch { /* not allowed */ } };
  const notes = Object.assign({ reader: "", rows: {} }, read());
  const keyOf = (address) => String(new URLSearchParams(address));
  const labelled = (words, control) => make("label", {}, words, " ", control);
  const reader = make("input", { value: notes.reader, size: 10 });
  reader.addEventListener("change", () => { notes.reader = reader.value.trim(); write(notes); location.reload(); });
  const form = make("form", { className: "controls notes" }, labelled("reader", reader));
  form.addEventListener("submit", (event) => event.preventDefault());

  if (main.dataset.row) {
    const of_row = (notes.rows[keyOf(main.dataset.row)] ??= {});
    const own = (of_row[notes.reader] ??= { looked: false, verdict: "", note: "" });
    const looked = make("input", { type: "checkbox", checked: own.looked });
    const verdict = make("select", {}, ...["", "right", "wrong", "cannot say"].map((each) => new Option(each, each)));
    verdict.value = own.verdict;
    const note = make("input", { value: own.note, size: 40 });
    const others = make("output");
    const keep = () => {
      Object.assign(own, { looked: looked.checked || Boolean(verdict.value), verdict: verdict.value, note: note.value });
      looked.checked = own.looked;
      const now = Object.assign({ rows: {} }, read(), { reader: notes.reader });  // Another tab may have written.
      (now.rows[keyOf(main.dataset.row)] ??= {})[notes.reader] = own;
      write(now);
      // What others say is shown after the reader's own look.
      const said = Object.entries(of_row).filter(([name, { looked }]) => name !== notes.reader && looked);
      others.value = own.looked ? said.map(([name, each]) => `${name}: ${each.verdict || "looked at"} ${each.note}`).join("; ") : "";
    };
    for (const each of [looked, verdict, note]) each.addEventListener("change", keep);
    form.append(labelled("looked at", looked), labelled("I think it is", verdict), labelled("note", note), others);
    if (Object.values(own).some(Boolean)) keep();
  } else {
    const load = make("input", { type: "file", multiple: true, accept: ".json" });
    load.addEventListener("change", async () => {
      for (const file of load.files) {
        for (const { row, reader: name, ...own } of JSON.parse(await file.text())) (notes.rows[keyOf(row)] ??= {})[name] = own;
      }
      write(notes);
      location.reload();
    });
    const save = make("button", { type: "button", textContent: "Save notes" });
    save.addEventListener("click", () => {
      const own = Object.entries(notes.rows).flatMap(([row, of_row]) => Object.entries(of_row)
        .filter(([, { looked }]) => looked).map(([name, each]) => ({ row, reader: name, ...each })));
      const address = URL.createObjectURL(new Blob([JSON.stringify(own, null, 1)], { type: "application/json" }));
      make("a", { href: address, download: "notes.json" }).click();
    });
    const said = make("output");
    const all = Object.values(notes.rows);
    const count = {};
    for (const each of all) for (const [name, { looked }] of Object.entries(each)) if (looked) count[name] = (count[name] ?? 0) + 1;
    const names = Object.keys(count);
    const parts = names.map((name) => `${name || "no name"} looked at ${count[name]}`);
    names.forEach((one, place) => names.slice(place + 1).forEach((other) => {
      const both = all.map((each) => [each[one]?.verdict, each[other]?.verdict]).filter(([a, b]) => a && b);
      if (!both.length) return;
      const share = (test) => both.filter(test).length / both.length;
      const agree = share(([a, b]) => a === b);
      // Cohen's kappa: agreement beyond what the readers' own shares would give by chance.
      const chance = ["right", "wrong", "cannot say"].reduce((sum, each) => sum + share(([a]) => a === each) * share(([, b]) => b === each), 0);
      const kappa = chance < 1 ? `, κ ${((agree - chance) / (1 - chance)).toFixed(2)}` : "";
      parts.push(`${one} and ${other} agree on ${both.filter(([a, b]) => a === b).length} of ${both.length}${kappa}`);
    }));
    said.value = parts.join("; ");
    form.append(save, labelled("load notes", load), said);
    const names_of = main.dataset.notesColumns.split("\n");
    for (const table of document.querySelectorAll("table.browsed")) {
      const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent.replace(/ [↕↑↓]$/, ""));
      for (const row of table.tBodies[0].rows) {
        const key = String(new URLSearchParams(names_of.map((name) => [name, row.cells[heads.indexOf(name)].textContent.trim().replaceAll(",", name === "row" ? "" : ",")])));
        if (notes.rows[key]?.[notes.reader]?.looked) row.cells[0].append(make("span", { textContent: " ✓", title: "looked at" }));
      }
    }
  }
  (document.querySelector(".pddl-eval > .body") ?? main).before(form);
}
