// The keys j and k go to the next and the previous of the rows that the table showed; all links back keep its filters.
const links = [...document.querySelectorAll(".pddl-eval > nav a")];
try {
  const { hash, listed } = JSON.parse(sessionStorage.getItem("pddl-eval-rows")) ?? {};
  const place = hash === location.hash ? listed.indexOf(location.href.split("#")[0]) : -1;
  for (const [key, step] of [["j", 1], ["k", -1]]) {
    const link = links.find((each) => each.textContent.endsWith(`(${key})`));
    const other = listed[(place + step + listed.length) % listed.length];
    if (link && place >= 0 && /^(https?|file):.*\/rows\/[0-9]+\.html$/.test(other)) link.href = other;
  }
} catch { /* without it, the order of the table is that of the file */ }
for (const link of links) if (location.hash.includes("=") && !link.hash) link.hash = location.hash;
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  links.find((each) => each.textContent.endsWith(`(${event.key})`))?.click();
});
// A plan is stepped through with the keys up and down: the step, and below the table all that is true after it.
for (const table of document.querySelectorAll(".steps table")) {
  const rows = [...table.tBodies[0].rows];
  const said = Object.assign(document.createElement("p"), { className: "faint" });
  const atoms = (cell) => cell.textContent.match(/\([^()]*\)/g) ?? [];
  const last = [...table.closest("section").querySelectorAll("p")].find((each) => each.textContent.startsWith("The last state"));
  let state = new Set(atoms(last ?? said));
  const states = rows.map(() => state);
  // From the last state back: what a step added was not there before it, what it deleted was.
  for (let place = rows.length - 1; place >= 0; place -= 1) {
    states[place] = new Set(state);
    for (const atom of atoms(rows[place].cells[3])) state.delete(atom);
    for (const atom of atoms(rows[place].cells[4])) state.add(atom);
  }
  const show = (place) => {
    rows.forEach((row, number) => row.classList.toggle("current", number === place));
    said.textContent = `After step ${place + 1}: ${[...states[place]].sort().join(" ")}`;
    rows[place].focus();
  };
  rows.forEach((row, place) => {
    row.tabIndex = 0;
    row.addEventListener("click", () => show(place));
    row.addEventListener("keydown", (event) => {
      const next = { ArrowDown: place + 1, ArrowUp: place - 1, Enter: place }[event.key];
      if (!rows[next]) return;
      event.preventDefault();
      show(next);
    });
  });
  table.closest(".scroll").after(said);
}
