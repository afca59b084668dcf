// Two of the answers to a question, with the reference between them.
for (const table of document.querySelectorAll(".beside table")) {
  const rows = [...table.rows].map((row) => ({ row, cells: [...row.cells] }));
  const names = rows[0].cells.map((cell) => cell.textContent.trim());
  const controls = Object.assign(document.createElement("form"), { className: "controls" });
  const chosen = new URLSearchParams(location.hash.slice(1));
  const selects = ["left", "right"].map((side, place) => {
    const select = document.createElement("select");
    names.slice(1).forEach((name, number) => select.append(new Option(name, String(number + 1))));
    const wanted = names.indexOf(chosen.get(side) ?? "");
    const rival = names.findIndex((name, number) => number > 1 && name.split(",")[0] !== names[1].split(",")[0]);
    select.value = String(wanted > 0 ? wanted : place ? Math.max(rival, 2) : 1);
    select.addEventListener("change", show);
    const label = document.createElement("label");
    label.append(`${side} `, select);
    controls.append(label);
    return select;
  });
  function show() {
    const [left, right] = selects.map((select) => Number(select.value));
    for (const { row, cells } of rows) row.replaceChildren(cells[left], cells[0], ...(left === right ? [] : [cells[right]]));
    history.replaceState(null, "", `#${new URLSearchParams({ left: names[left], right: names[right] })}`);
  }
  table.closest(".tables").before(controls);
  show();
}
