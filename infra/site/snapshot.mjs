// node snapshot.mjs FOLDER: starts the Pyodide in FOLDER, judges the rows of examples.json with program.zip, and writes the
// memory that Python has then to snapshot.bin. A browser that begins with it starts no Python and imports nothing.
//
// Constants of pyodide.asm.wasm are left out of it (playground.js puts them back). modules.json names the files of the standard
// library that are ever imported.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

// Node would print the line of code, which has a million characters.
process.on("uncaughtException", (error) => {
  console.error(String(error.message).slice(-2000));
  process.exitCode = 1;
});

const folder = resolve(process.argv[2]);
const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide.mjs")));
const python = await loadPyodide({ _makeSnapshot: true, env: { HOME: "/home/pyodide", PYTHONOPTIMIZE: "2", PYTHONNODEBUGRANGES: "1" } });
python.FS.writeFile("/program.zip", new Uint8Array(readFileSync(join(folder, "program.zip"))));
python.globals.set("rows", readFileSync(join(folder, "examples.json"), "utf8"));
python.runPython(`
import gc, json, sys
sys.path.append("/program.zip")
import in_browser
in_browser.warm(json.loads(rows))
del rows
gc.collect()
`);
const snapshot = Buffer.from(python.makeMemorySnapshot());

const script = readFileSync(join(import.meta.dirname, "static/assets/playground/playground.js"), "utf8");
const { constants } = new Function("document", `${script}\nreturn playground;`)({ addEventListener() {} });
constants(readFileSync(join(folder, "pyodide.asm.wasm")), snapshot);
writeFileSync(join(folder, "snapshot.bin"), snapshot);

const modules = python.runPython(`
from contextlib import suppress
from importlib import import_module
from zipfile import ZipFile
for name in ZipFile("/program.zip").namelist():
    if name.endswith(".py"):
        with suppress(Exception):
            import_module(name.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
library = next(path for path in sys.path if path.endswith(".zip")) + "/"
files = [getattr(module, "__file__", None) or "" for module in sys.modules.values()]
json.dumps(sorted({file.removeprefix(library) for file in files if file.startswith(library)}))
`);
writeFileSync(join(folder, "modules.json"), modules);
