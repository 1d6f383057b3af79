//! The tables: no row is hidden by another, no state is out of reach, and the diagrams in the documents are theirs.

use slantpath_ss7::mtp3::node::{
    ADJACENT_RESTART, CHANGEOVER, CONGESTION_TEST, DIVERSION, LINK_ACTIVITY, LINK_TEST, LOCAL_INHIBITION,
    REMOTE_INHIBITION, RESTART, ROUTE,
};
use slantpath_testkit::MachinePage;

#[test]
fn the_diagrams_are_drawn_from_the_tables() {
    let introduction = "Drawn from the tables in `crates/ss7/src/mtp3/node`; a test compares them. A line reads:\n\
                        input / actions, in their order. An input that a state has no line for is ignored, and\n\
                        counted if a peer sent it.";
    MachinePage::new("mtp3.md", "State machines of MTP3", introduction)
        .with(&LINK_ACTIVITY)
        .with(&LINK_TEST)
        .with(&CHANGEOVER)
        .with(&DIVERSION)
        .with(&LOCAL_INHIBITION)
        .with(&REMOTE_INHIBITION)
        .with(&ROUTE)
        .with(&CONGESTION_TEST)
        .with(&RESTART)
        .with(&ADJACENT_RESTART)
        .hold();
}
