//! Gives the library the PDDL texts of known domains, which stand in `pddl_eval/definition/domains`, and the digest of its
//! sources with these texts, which `pddl_eval/kernel/crate.py` computes in the same way.

#[path = "src/blake2b.rs"]
mod blake2b;

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let mut names = vec!["Cargo.lock".to_string(), "Cargo.toml".to_string(), "build.rs".to_string()];
    find_sources("src", &mut names)?;
    names.sort_unstable();
    let mut sources = Vec::new();
    for name in names {
        let source = fs::read(&name)?;
        sources.extend(format!("{name} {}\n", source.len()).into_bytes());
        sources.extend(source);
        println!("cargo:rerun-if-changed={name}");
    }
    for name in ["blocksworld", "floor_tile", "gripper", "rover_single_stores"] {
        let file = format!("../pddl_eval/definition/domains/{name}.py");
        let text =
            pddl_text(&fs::read_to_string(&file)?).ok_or_else(|| io::Error::other(format!("{file}: no PDDL")))?;
        fs::write(Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join(format!("{name}.pddl")), &text)?;
        sources.extend(format!("{name}.pddl {}\n{text}", text.len()).into_bytes());
        println!("cargo:rerun-if-changed={file}");
    }
    println!("cargo:rerun-if-changed=src"); // files that are new or gone
    println!("cargo:rustc-env=CRATE={}", String::from_utf8_lossy(&blake2b::hex_digest(&sources)));
    Ok(())
}

/// The text of the constant `PDDL` of a Python file.
fn pddl_text(source: &str) -> Option<String> {
    let (_, behind) = source.split_once("\nPDDL = \"\"\"")?;
    Some(behind.split_once("\"\"\"")?.0.to_string())
}

fn find_sources(folder: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            find_sources(&name, names)?;
        } else if Path::new(&name).extension().is_some_and(|suffix| suffix == "rs") {
            names.push(name);
        }
    }
    Ok(())
}
