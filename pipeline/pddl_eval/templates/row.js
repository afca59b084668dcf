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
