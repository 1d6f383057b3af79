//! The state machines as the documents show them: each page is written from the tables.

use slantpath_sigtran::asp::{AS_MACHINE, ASP_MACHINE, REMOTE_ASP_MACHINE};
use slantpath_sigtran::m2pa::{ALIGNMENT_MACHINE, LINK_MACHINE, OUTAGE_MACHINE};
use slantpath_testkit::MachinePage;

#[test]
fn the_page_of_m3ua_shows_its_tables() {
    let introduction = "Written from the tables in `crates/sigtran/src/asp/machine.rs`: a line is a row, with its \
                        actions behind the slash. The three are kept once for each pair of ASP and application server.";
    MachinePage::new("m3ua.md", "State machines of M3UA, M2UA, SUA and IUA", introduction)
        .with(&ASP_MACHINE)
        .with(&REMOTE_ASP_MACHINE)
        .with(&AS_MACHINE)
        .hold();
}

#[test]
fn the_page_of_m2pa_shows_its_tables() {
    let introduction = "Written from the tables in `crates/sigtran/src/m2pa/state.rs`, `alignment.rs` and `outage.rs`: \
                        a line is a row, with its actions behind the slash. A link has one of each: link state control \
                        starts and stops the other two.";
    MachinePage::new("m2pa.md", "State machines of M2PA", introduction)
        .with(&LINK_MACHINE)
        .with(&ALIGNMENT_MACHINE)
        .with(&OUTAGE_MACHINE)
        .hold();
}
