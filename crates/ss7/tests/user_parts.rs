//! The state machines of ISUP and TCAP as the documents show them: each page is written from its table.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fmt::Debug;
use std::path::Path;

use slantpath_base::StateMachine;
use slantpath_ss7::{isup, tcap};

/// Compares a page with what a table gives, or writes it under `SLANTPATH_UPDATE=1`.
fn check_page<S, I, A>(part: &str, source_file: &str, machine: &StateMachine<S, I, A>)
where
    S: Copy + Debug + PartialEq,
    I: Copy + Debug + PartialEq,
    A: Copy + Debug,
{
    let page = format!(
        "# State machine of {part}\n\nWritten from the table in `{source_file}`: a line is a row, with its actions \
         behind the slash.\n\n## {}\n\nSource: {}.\n\n```mermaid\n{}```\n",
        machine.name,
        machine.source,
        machine.mermaid(),
    );
    let name = format!("{}.md", part.to_lowercase());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/machines").join(&name);
    if std::env::var_os("SLANTPATH_UPDATE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(committed, page, "docs/machines/{name} is not what the table gives: set SLANTPATH_UPDATE=1");
}

#[test]
fn the_page_of_isup_shows_its_table() {
    check_page("ISUP", "crates/ss7/src/isup/circuit.rs", &isup::CIRCUIT);
}

#[test]
fn the_page_of_tcap_shows_its_table() {
    check_page("TCAP", "crates/ss7/src/tcap/transaction.rs", &tcap::TRANSACTION);
}
