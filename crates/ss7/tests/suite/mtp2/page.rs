//! docs/machines/mtp2.md is written from the tables.

use slantpath_ss7::mtp2::{ALIGNMENT, LINK_STATE};
use slantpath_testkit::MachinePage;

#[test]
fn the_page_shows_the_tables() {
    let introduction = "Written from the tables in `crates/ss7/src/mtp2`: a line is a row, with its actions behind the \
                        slash.";
    MachinePage::new("mtp2.md", "State machines of MTP2", introduction)
        .with(&LINK_STATE)
        .with(&ALIGNMENT)
        .hold();
}
