// The playground: a form, a worker that runs the library in Pyodide, and the pages that it makes.
//
// Texts are hostile. They become values of fields or text content, and the library's pages, in which all is escaped,
// stand in frames where no script runs. The worker has no network: its fetch serves the files that it was handed.
"use strict";

const playground = (() => {
  const files = {};
  let gallery = [];
  let questions = [];
  const MOST_BYTES = 2_000_000; // of the texts in a link

  const KINDS = {
    problem: ["reference_problem", "generated_problem", "domain", "is_placeholder"],
    plan: ["reference_problem", "generated_plan", "domain"],
    domain: ["reference_domain", "generated_domain"],
    answer: ["question", "reference_problem", "plan", "generated_answer", "domain"],
  };
  const NAMES = new Set(Object.values(KINDS).flat());

  // Takes the constants of a WebAssembly program out of a snapshot of its memory, where most of them stand as well, or puts
  // them back. A segment of data is: 0, the instruction i32.const with an address, its end, a size, as many bytes.
  function constants(wasm, snapshot) {
    let at = 8; // behind the magic number and the version
    const number = () => {
      let found = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = wasm[at++];
        found += (byte & 127) << shift;
        if (byte < 128) return found;
      }
    };
    while (wasm[at++] !== 11) at = number() + at; // sections before that of the data
    number();
    const header = snapshot.length % 65536;
    for (let segments = number(); segments > 0; segments--) {
      at += 2;
      const address = header + number();
      at += 1;
      const size = number();
      for (let i = 0; i < size; i++) snapshot[address + i] ^= wasm[at + i];
      at += size;
    }
  }

  // In the worker. It is started from its own source, so that pages from disk can start it too.
  async function work() {
    const files = await new Promise((resolve) => (self.onmessage = (event) => resolve(event.data)));
    const open = async ({ size, text }) => {
      const packed = new Uint8Array(size);
      for (let place = 0, byte = 0, bits = 0, held = 0; byte < size; bits -= 8) {
        if (bits < 8) {
          held = ((held & 255) << 15) | (text.charCodeAt(place++) - 256); // a character has 15 bits
          bits += 15;
        }
        packed[byte++] = held >> (bits - 8);
      }
      const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
      return new Uint8Array(await new Response(stream).arrayBuffer());
    };
    const opened = {};
    await Promise.all(Object.entries(files).map(async ([name, file]) => (opened[name] = await open(file))));
    if (opened["snapshot.bin"]) constants(opened["pyodide.asm.wasm"], opened["snapshot.bin"]);
    self.fetch = async (address) => {
      const name = new URL(address).pathname.slice(1);
      if (!(name in opened)) throw new TypeError("the playground loads nothing");
      const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
      return new Response(opened[name], { headers: { "Content-Type": type } });
    };
    for (const name of ["XMLHttpRequest", "WebSocket", "EventSource", "importScripts"]) self[name] = undefined;
    // Pages from disk may start no module and import none: the two modules become functions that return their exports.
    const module = (name, exported) => {
      const text = new TextDecoder().decode(opened[name]).replaceAll("import.meta.url", '""');
      const body = text.replace(/export\s*default\s+\w+;?|export\s*\{[^}]*\};?/g, "");
      return new Function(`${body}\nreturn ${exported(text)};`)();
    };
    const named = (text) => /export\s*\{[^}]*?([\w$]+) as loadPyodide\b/.exec(text)[1];
    const loadPyodide = module("pyodide.mjs", named);
    const createPyodideModule = module("pyodide.asm.mjs", (text) => /export\s*default\s+(\w+)/.exec(text)[1]);
    // Memory as it was after the examples: Python is not started, and nothing is imported.
    const restored = async (settings) => {
      const made = await createPyodideModule(settings);
      const { API, HEAP32, __PyRuntime, __PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET } = made;
      const place = (__PyRuntime + HEAP32[__PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET / 4]) / 4;
      const trampoline = HEAP32[place]; // of this browser; the other one's is in the snapshot
      const { restoreSnapshot } = API;
      API.restoreSnapshot = (snapshot) => {
        made.growMemory(snapshot.length);
        const found = restoreSnapshot(snapshot);
        made.HEAP32[place] = trampoline;
        return found;
      };
      return made;
    };
    const started = (how) =>
      loadPyodide({
        indexURL: "playground:/", // answered by fetch above
        lockFileContents: JSON.parse(new TextDecoder().decode(opened["pyodide-lock.json"])),
        ...how,
      });
    const pyodide = await started({ createPyodideModule: restored, _loadSnapshot: opened["snapshot.bin"] }).catch((error) => {
      console.warn(`the snapshot does not fit this browser: ${error}`);
      return started({ createPyodideModule });
    });
    pyodide.FS.writeFile("/program.zip", opened["program.zip"]); // for what is imported later
    pyodide.runPython("import sys\nif '/program.zip' not in sys.path: sys.path.append('/program.zip')");
    const { answer } = pyodide.pyimport("in_browser");
    self.onmessage = ({ data: { id, call } }) => {
      let said;
      try {
        said = JSON.parse(answer(JSON.stringify(call)));
      } catch (error) {
        said = { error: String(error.message).trim().split("\n").pop() };
      }
      self.postMessage({ id, said });
    };
    self.postMessage({ id: 0 });
  }

  let worker = null;
  let ready = null;
  let calls = 0;
  const waiting = new Map();

  function start() {
    const source = URL.createObjectURL(new Blob([`${constants}\n(${work})().catch((error) => self.postMessage({ id: 0, error: String(error) }))`], { type: "text/javascript" }));
    const started = (worker = new Worker(source));
    ready = new Promise((resolve, reject) => {
      started.onmessage = ({ data }) => {
        if (data.id === 0) return data.error ? reject(new Error(data.error)) : resolve();
        waiting.get(data.id)?.(data.said);
        waiting.delete(data.id);
      };
      started.onerror = (event) => reject(new Error(event.message || "the worker could not be started"));
    });
    ready.catch(() => {});
    started.postMessage(files);
  }

  function ask(call) {
    const id = ++calls;
    const said = new Promise((resolve) => waiting.set(id, resolve));
    // What was stopped meanwhile, also while Python was loaded, is not asked any more.
    ready.then(
      () => waiting.has(id) && worker.postMessage({ id, call }),
      (error) => waiting.get(id)?.({ error: error.message }),
    );
    return said;
  }

  function stop() {
    worker.terminate();
    for (const resolve of waiting.values()) resolve({ error: "stopped" });
    waiting.clear();
    start();
  }

  // Links: the row, deflated, in base64 without padding, behind the "#", which no browser sends to a host.
  async function packed(row) {
    const stream = new Blob([JSON.stringify(row)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    const text = btoa(Array.from(bytes, (each) => String.fromCharCode(each)).join(""));
    return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  }

  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    const parts = [];
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > MOST_BYTES) throw new Error("the link holds too much text");
      parts.push(value);
    }
    const row = JSON.parse(await new Blob(parts).text());
    return Object.fromEntries(Object.entries(row).filter(([name, value]) => NAMES.has(name) && typeof value === "string"));
  }

  function show(frame, page) {
    frame.srcdoc = page;
    frame.onload = () => {
      const inside = frame.contentDocument;
      const main = inside.querySelector("main");
      const scheme = document.body.dataset.mdColorScheme;
      if (scheme) main.style.colorScheme = scheme === "slate" ? "dark" : "light";
      main.style.minHeight = "0";
      const fit = () => (frame.style.height = `${main.scrollHeight + 4}px`);
      fit();
      new ResizeObserver(fit).observe(main);
    };
    frame.hidden = false;
  }

  function page(root) {
    const of = (name) => root.querySelector(`[data-is="${name}"]`);
    const status = of("status");
    let steps = 0;
    let step = 0;

    const kind = () => of("kind").value;
    const field = (name) => root.querySelector(`[name="${name}"]`);
    const row = () => {
      const texts = KINDS[kind()].map((name) => [name, field(name).type === "checkbox" && !field(name).checked ? "" : field(name).value]);
      return Object.fromEntries(texts.filter(([name, text]) => name.startsWith("generated") || text.trim()));
    };

    function fields() {
      for (const name of NAMES) field(name).closest("label").hidden = !KINDS[kind()].includes(name);
    }

    function fill(values) {
      const found = Object.keys(KINDS).find((each) => `generated_${each}` in values) ?? "problem";
      of("kind").value = found;
      for (const name of NAMES) {
        if (field(name).type === "checkbox") field(name).checked = name in values;
        else field(name).value = values[name] ?? (name === "question" ? questions[0] : "");
      }
      fields();
    }

    async function judge() {
      of("judge").disabled = true;
      of("stop").disabled = false;
      of("result").hidden = true;
      status.textContent = "Judging …";
      const began = performance.now();
      try {
        const said = await ask({ row: row() });
        const seconds = ((performance.now() - began) / 1000).toFixed(2);
        if (said.error) {
          status.textContent = said.error === "stopped" ? "Stopped." : `Not judged: ${said.error}`;
          return;
        }
        const verdict = (said.verdict ?? "read").replaceAll("_", " ");
        status.textContent = `${verdict}${said.detail ? `: ${said.detail}` : ""} (${seconds} s)`;
        show(of("page"), said.page);
        of("feedback").textContent = said.feedback;
        of("certificate").textContent = said.certificate ?? "none";
        of("about").textContent = said.about;
        of("result").hidden = false;
        of("through").hidden = !said.steps;
        steps = said.steps;
        root.dataset.verdict = said.verdict ?? "";
        root.dataset.detail = said.detail ?? "";
        if (steps) {
          of("line").ontoggle = ({ target }) => target.open && show(of("timeline"), said.timeline);
          of("line").open = false;
          await go(0);
        }
      } catch (error) {
        status.textContent = `Not judged: ${error.message}`;
      } finally {
        of("judge").disabled = false;
        of("stop").disabled = true;
      }
    }

    async function go(number) {
      step = Math.min(Math.max(number, 0), steps - 1);
      of("back").disabled = step === 0;
      of("on").disabled = step === steps - 1;
      const slider = of("slider");
      slider.max = steps - 1;
      slider.value = step;
      slider.setAttribute("aria-valuetext", `after ${step} of ${steps - 1} steps`);
      const said = await ask({ step });
      if (said.page) show(of("state"), said.page);
    }

    async function copy() {
      const link = `${location.href.split("#")[0]}#row=${await packed(row())}`;
      history.replaceState(null, "", link);
      try {
        await navigator.clipboard.writeText(link);
        status.textContent = "The link is copied; the texts are in it, and in the address.";
      } catch {
        status.textContent = "The texts are in the address now: copy it from there.";
      }
    }

    async function read(area, file) {
      if (file.size > MOST_BYTES) status.textContent = `${file.name} is too large.`;
      else area.value = await file.text();
    }

    async function follow() {
      const text = /^#row=([\w-]+)$/.exec(location.hash)?.[1];
      if (!text) return false;
      try {
        fill(await unpacked(text));
      } catch (error) {
        status.textContent = `The link cannot be read: ${error.message}`;
        return false;
      }
      judge();
      return true;
    }

    field("question").append(...questions.map((each) => new Option(each.replaceAll("_", " "), each)));
    of("gallery").append(...gallery.map(({ title }, number) => new Option(title, number)));
    of("gallery").onchange = ({ target }) => {
      if (target.value === "") return;
      fill(gallery[target.value].row);
      judge();
    };
    of("kind").onchange = fields;
    of("judge").onclick = judge;
    of("stop").onclick = stop;
    of("copy").onclick = copy;
    of("back").onclick = () => go(step - 1);
    of("on").onclick = () => go(step + 1);
    of("slider").oninput = ({ target }) => go(Number(target.value));
    root.onkeydown = (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || of("judge").disabled) return;
      event.preventDefault();
      judge();
    };
    for (const area of root.querySelectorAll("textarea")) {
      area.ondragover = (event) => event.preventDefault();
      area.ondrop = (event) => {
        const file = event.dataTransfer.files[0];
        if (!file) return;
        event.preventDefault();
        read(area, file);
      };
    }
    window.onhashchange = follow;

    fill(gallery[0].row);
    start();
    status.textContent = "Loading Python …";
    ready.then(
      () => {
        root.dataset.ready = "yes";
        if (status.textContent === "Loading Python …") status.textContent = "Ready.";
      },
      (error) => (status.textContent = `Python could not be started: ${error.message}`),
    );
    of("judge").disabled = false;
    follow();
  }

  document.addEventListener("DOMContentLoaded", () => {
    const root = document.getElementById("playground");
    if (!Object.keys(files).length) {
      root.querySelector('[data-is="status"]').textContent = "This site was built without the playground's files.";
      return;
    }
    page(root);
  });

  return {
    file: (name, size, text) => (files[name] = { size, text }),
    examples: (found) => (gallery = found),
    kinds: (found) => (questions = found),
    ask,
    constants,
  };
})();
