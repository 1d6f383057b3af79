//! The state machines of ISUP and TCAP as the documents show them: each page is written from its table.

use slantpath_testkit::MachinePage;
use slantpath_user_parts::{isup, tcap};

#[test]
fn the_page_of_isup_shows_its_table() {
    let introduction = "Written from the table in `crates/user-parts/src/isup/circuit_state.rs`: a line is a row, with \
                        its actions behind the slash.";
    MachinePage::new("isup.md", "State machine of ISUP", introduction).with(&isup::CIRCUIT).hold();
}

#[test]
fn the_page_of_tcap_shows_its_table() {
    let introduction = "Written from the table in `crates/user-parts/src/tcap/transaction.rs`: a line is a row, with \
                        its actions behind the slash.";
    MachinePage::new("tcap.md", "State machine of TCAP", introduction).with(&tcap::TRANSACTION).hold();
}
