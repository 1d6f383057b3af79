//! README, the tutorial, the guide of topologies and the page on captures are run: their files are written, their
//! commands executed, and what they print compared.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use slantpath_testkit::page;

use crate::place::{Place, names, scenario};

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
    // A picture of a fault may end in blanks, which no document has, and slow work says how far it is.
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter(|line| !line.ends_with(" s elapsed"))
        .fold(String::new(), |text, line| text + line.trim_end() + "\n")
}

/// Treatment of commands below which nothing stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Silent {
    /// They print nothing, and are run for what they do.
    Run,
    /// The document leaves out what they print. They are only looked at.
    Left,
}

/// The document with what the commands print now.
fn executed(place: &Place, document: &str, silent: Silent) -> String {
    let mut made = String::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(made, "{line}");
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        match info.split_once(' ') {
            None if info == "console" && silent == Silent::Left && is_silent(&body) => {
                for line in &body {
                    assert_can_be_run(place, line);
                }
                let _ = writeln!(made, "{}", body.join("\n"));
            }
            None if info == "console" && body.contains(&"…") => {
                let _ = writeln!(made, "{}", excerpt(place, &body));
            }
            None if info == "console" => {
                for command in body.iter().filter_map(|line| line.strip_prefix("$ ")) {
                    let _ = write!(made, "$ {command}\n{}", shell(place, command));
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

/// A command, which may have several lines, with parts of what it prints: these lines in this order, and others where
/// an ellipsis stands. What it prints now, where it does not have them.
fn excerpt(place: &Place, body: &[&str]) -> String {
    let of_command = 1 + body.iter().take_while(|line| line.ends_with('\\')).count();
    let command = body[..of_command].join("\n");
    let printed = shell(place, command.trim_start_matches("$ "));
    let mut printed_lines = printed.lines();
    let mut shown = body[of_command..].iter().filter(|line| **line != "…");
    if shown.all(|line| printed_lines.any(|printed| printed.starts_with(line))) {
        return body.join("\n");
    }
    format!("{command}\n{}", printed.trim_end())
}

fn is_silent(body: &[&str]) -> bool {
    body.iter().all(|line| line.starts_with("$ "))
}

/// Holds a command to files that are there and right, without waiting for what it does. Studies are tested in Python.
fn assert_can_be_run(place: &Place, line: &str) {
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    match words[..] {
        ["slantpath", command @ ("run" | "topology"), file, ..] => {
            let outcome = place.run(&[command, file, "--show"]);
            assert_eq!(outcome.status, Some(0), "{line}: {}", outcome.err);
        }
        ["slantpath", "plan", ..] => {
            let answer = shell(place, line.trim_start_matches("$ "));
            assert!(answer.contains("   held") && !answer.contains("NOT HELD"), "{line}: {answer}");
        }
        ["slantpath", "study", _] => {}
        _ => panic!("nobody knows how to look at `{line}`"),
    }
}

fn read(file: &str) -> String {
    std::fs::read_to_string(page::path(file)).expect("the document is there")
}

#[test]
fn the_readme_does_what_it_says() {
    let place = Place::new("readme");
    for name in names(&page::path("scenarios")) {
        place.write(&format!("scenarios/{name}"), &scenario(&name));
    }
    page::hold("README.md", &executed(&place, &read("README.md"), Silent::Left));
}

#[test]
fn the_tutorial_does_what_it_says() {
    page::hold(
        "docs/tutorial.md",
        &executed(&Place::new("tutorial"), &read("docs/tutorial.md"), Silent::Run),
    );
}

#[test]
fn the_guide_of_topologies_does_what_it_says() {
    page::hold("docs/topology.md", &executed(&Place::new("guide"), &read("docs/topology.md"), Silent::Run));
}

#[test]
fn the_page_on_captures_does_what_it_says() {
    page::hold(
        "docs/captures.md",
        &executed(&Place::new("captures"), &read("docs/captures.md"), Silent::Run),
    );
}

#[test]
fn the_documents_begin_with_the_scenarios_of_the_project() {
    let scenarios = [
        ("captures.md", "first.toml"),
        ("tutorial.md", "first.toml"),
        ("topology.md", "iridium-london-boston.toml"),
    ];
    for (document, name) in scenarios {
        let block = format!("```toml {name}\n{}```", scenario(name));
        assert!(read(&format!("docs/{document}")).contains(&block), "docs/{document} has another {name}");
    }
    let block = format!("```toml\n{}```", scenario("first.toml"));
    assert!(read("README.md").contains(&block), "README.md has another first.toml");
}
