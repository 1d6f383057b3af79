//! The tables: no row is hidden by another, no state is out of reach, and the diagrams in the documents are theirs.

use core::fmt::{Debug, Write as _};
use std::path::Path;

use slantpath_base::StateMachine;
use slantpath_ss7::sccp::{CONNECTION, LOCAL_SUBSYSTEM, REASSEMBLY, REMOTE_SUBSYSTEM, RESET};

/// A table as a section of the page; its rows are checked on the way.
fn section<S, I, A>(machine: &StateMachine<S, I, A>) -> String
where
    S: Copy + Debug + PartialEq,
    I: Copy + Debug + PartialEq,
    A: Copy + Debug,
{
    assert_eq!(machine.ambiguous(), None, "{}", machine.name);
    assert_eq!(machine.unreachable(), Vec::new(), "{}", machine.name);
    let mut text = String::new();
    let _ = writeln!(text, "\n## {}\n\n{}\n", machine.name, machine.source);
    let _ = writeln!(text, "```mermaid\n{}```", machine.mermaid());
    text
}

fn page() -> String {
    let mut text = "# State machines of SCCP\n\n".to_owned();
    text += "Drawn from the tables in `crates/ss7/src/sccp`; a test compares them. A line reads: input / actions, in\n";
    text += "their order. An input that a state has no line for does nothing, and is counted if a peer sent it.\n";
    text += &section(&CONNECTION);
    text += &section(&RESET);
    text += &section(&REASSEMBLY);
    text += &section(&REMOTE_SUBSYSTEM);
    text += &section(&LOCAL_SUBSYSTEM);
    text
}

#[test]
fn the_diagrams_are_drawn_from_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/machines/sccp.md");
    let drawn = page();
    if std::env::var_os("SLANTPATH_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &drawn).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(kept, drawn, "run this test with SLANTPATH_UPDATE=1 to redraw {}", path.display());
}
