//! The tutorial is run: its files are written, its commands executed, and what they print compared.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use crate::place::{Place, scenario};

const TUTORIAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tutorial.md");

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
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The document with what the commands print now.
fn executed(document: &str) -> String {
    let place = Place::new("tutorial");
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

/// A line without a scenario's hash, which changes with every key that the file format gains.
fn without_hash(line: &str) -> &str {
    line.split_once(", scenario ").filter(|(_, hash)| hash.len() == 12).map_or(line, |(before, _)| before)
}

#[test]
fn the_tutorial_does_what_it_says() {
    let document = std::fs::read_to_string(TUTORIAL).expect("docs/tutorial.md is there");
    let made = executed(&document);
    if std::env::var_os("SLANTPATH_UPDATE").is_some() {
        std::fs::write(TUTORIAL, &made).expect("docs/tutorial.md can be written");
        return;
    }
    for (number, (line, now)) in document.lines().zip(made.lines()).enumerate() {
        let cure = "if the change is meant: SLANTPATH_UPDATE=1 cargo test -p slantpath-cli tutorial";
        assert_eq!(without_hash(line), without_hash(now), "docs/tutorial.md, line {}; {cure}", number + 1);
    }
    assert_eq!(document.lines().count(), made.lines().count());
}

#[test]
fn the_tutorial_begins_with_the_first_scenario() {
    let document = std::fs::read_to_string(TUTORIAL).expect("docs/tutorial.md is there");
    assert!(document.contains(&format!("```toml first.toml\n{}```", scenario("first.toml"))));
}
