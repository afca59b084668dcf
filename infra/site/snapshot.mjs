// node snapshot.mjs FOLDER: starts the Pyodide in FOLDER, judges the rows of examples.json with program.zip, and writes the
// memory that Python has then to snapshot.bin. A browser that begins with it starts no Python and imports nothing.
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
const python = await loadPyodide({ _makeSnapshot: true });
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
writeFileSync(join(folder, "snapshot.bin"), python.makeMemorySnapshot());
