//! The tutorial and the guide of topologies are run: their files are written, their commands executed, and what
//! they print compared.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use slantpath_testkit::page;

use crate::place::{Place, scenario};

const DOCUMENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

/// Runs a line of the tutorial in a shell that knows `slantpath`. What it prints and what it complains of
/// come out as on a terminal.
fn shell(place: &Place, line: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_slantpath"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", program.parent().expect("a program has a directory").display());
    let output = Command::new("bash")
        .args(["-c", &format!("exec 2>&1; {line}")])
        .current_dir(place.path())
        .env("PATH", path)
        .output()
        .expect("a shell");
    // A picture of a fault may end in blanks, which no document has.
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .fold(String::new(), |text, line| text + line.trim_end() + "\n")
}

/// The document with what the commands print now.
fn executed(name: &str, document: &str) -> String {
    let place = Place::new(name);
    let mut made = String::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(made, "{line}");
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        match info.split_once(' ') {
            None if info == "console" => {
                for command in body.iter().filter_map(|line| line.strip_prefix("$ ")) {
                    let _ = write!(made, "$ {command}\n{}", shell(&place, command));
                }
            }
            Some((_, name)) => {
                place.write(name, &format!("{}\n", body.join("\n")));
                let _ = writeln!(made, "{}", body.join("\n"));
            }
            None => {
                let _ = writeln!(made, "{}", body.join("\n"));
            }
        }
        made.push_str("```\n");
    }
    made
}

/// A line without a hash, which changes with every key that the file format gains.
fn without_hash(line: &str) -> &str {
    let hashed = [", scenario ", ", topology "].into_iter().find_map(|before| line.split_once(before));
    hashed.filter(|(_, hash)| hash.len() == 12).map_or(line, |(before, _)| before)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(DOCUMENTS).join(name)).expect("the document is there")
}

/// Compares a document with what its commands print, or writes that into it.
fn does_what_it_says(name: &str) {
    let document = read(name);
    let made = executed(name, &document);
    if page::is_update() {
        std::fs::write(Path::new(DOCUMENTS).join(name), &made).expect("the document can be written");
        return;
    }
    for (number, (line, now)) in document.lines().zip(made.lines()).enumerate() {
        let cure = "if the change is meant: SLANTPATH_UPDATE=1 cargo test -p slantpath-cli tutorial";
        assert_eq!(without_hash(line), without_hash(now), "docs/{name}, line {}; {cure}", number + 1);
    }
    assert_eq!(document.lines().count(), made.lines().count());
}

#[test]
fn the_tutorial_does_what_it_says() {
    does_what_it_says("tutorial.md");
}

#[test]
fn the_guide_of_topologies_does_what_it_says() {
    does_what_it_says("topology.md");
}

#[test]
fn the_documents_begin_with_the_scenarios_of_the_project() {
    for (document, name) in [("tutorial.md", "first.toml"), ("topology.md", "iridium-london-boston.toml")] {
        let block = format!("```toml {name}\n{}```", scenario(name));
        assert!(read(document).contains(&block), "docs/{document} has another {name}");
    }
}
