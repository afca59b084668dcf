// Makes a chart of each figure that holds a specification; until then, and without scripts, it is a drawing.
for (const figure of document.querySelectorAll(".pddl-eval figure:has(> .chart)")) {
  const box = figure.querySelector(".chart");
  const source = figure.querySelector("script");
  if (!source) continue;
  const specification = JSON.parse(source.textContent);
  source.remove();  // In a notebook, the script of the next report finds it done.
  const rows = specification.spec;  // A chart of several rows has the width of one of them.
  const inner = () => Math.max(240, Math.floor(box.clientWidth) - (rows ? 12 : 0));
  (rows || specification).width = inner();
  const dark = parseInt(getComputedStyle(figure).color.slice(4)) > 128;
  const options = { mode: "vega-lite", renderer: "svg", actions: false, ast: true, tooltip: { theme: dark ? "dark" : "light" } };
  let drawn = box.clientWidth;
  const chart = document.createElement("div");
  window.vegaEmbed(chart, specification, options).then(({ view }) => {
    const label = box.querySelector("svg").getAttribute("aria-label");
    chart.setAttribute("role", "img");
    chart.setAttribute("aria-label", label);
    box.replaceChildren(chart);
    new ResizeObserver(() => {
      if (!box.clientWidth || box.clientWidth === drawn) return;
      drawn = box.clientWidth;
      view.signal(rows ? "child_width" : "width", inner()).runAsync();
    }).observe(box);
  });
}
for (const hint of document.querySelectorAll(".pddl-eval [data-hint]")) hint.hidden = false;
