//! The tables: no row is hidden by another, no state is out of reach, and the diagrams in the documents are theirs.

use slantpath_ss7::sccp::{CONNECTION, LOCAL_SUBSYSTEM, REASSEMBLY, REMOTE_SUBSYSTEM, RESET};
use slantpath_testkit::MachinePage;

#[test]
fn the_diagrams_are_drawn_from_the_tables() {
    let introduction = "Drawn from the tables in `crates/ss7/src/sccp`; a test compares them. A line reads: input / \
                        actions, in\ntheir order. An input that a state has no line for does nothing, and is counted \
                        if a peer sent it.";
    MachinePage::new("sccp.md", "State machines of SCCP", introduction)
        .with(&CONNECTION)
        .with(&RESET)
        .with(&REASSEMBLY)
        .with(&REMOTE_SUBSYSTEM)
        .with(&LOCAL_SUBSYSTEM)
        .hold();
}
