//! The state machines as the documents show them: each page is written from the tables.

use slantpath_sigtran::asp::{AS_MACHINE, ASP_MACHINE, REMOTE_ASP_MACHINE};
#[cfg(feature = "iua")]
use slantpath_sigtran::iua::DATA_LINK_MACHINE;
use slantpath_sigtran::m2pa::{ALIGNMENT_MACHINE, LINK_MACHINE, OUTAGE_MACHINE};
#[cfg(feature = "m2ua")]
use slantpath_sigtran::m2ua::{GATEWAY_LINK_MACHINE, PROCESS_LINK_MACHINE};
#[cfg(feature = "sua")]
use slantpath_sigtran::sua::CONNECTION_MACHINE;
#[cfg(feature = "sua")]
use slantpath_ss7::sccp::RESET;
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

#[test]
#[cfg(feature = "m2ua")]
fn the_page_of_m2ua_shows_its_tables() {
    let introduction = "Written from the tables in `crates/sigtran/src/m2ua/machine.rs`, as a link is seen from both \
                        ends. ASPs and application servers are those of [M3UA](m3ua.md).";
    MachinePage::new("m2ua.md", "State machines of M2UA", introduction)
        .with(&GATEWAY_LINK_MACHINE)
        .with(&PROCESS_LINK_MACHINE)
        .hold();
}

#[test]
#[cfg(feature = "sua")]
fn the_page_of_sua_shows_its_tables() {
    let introduction = "Written from the tables in `crates/sigtran/src/sua/connection.rs`, as one end of a connection \
                        sees it, and in `crates/ss7/src/sccp/connection/machine.rs`: a connection of class 3 is reset \
                        as it is in SCCP, by RESRE for RSR and RESCO for RSC. ASPs and application servers are those \
                        of [M3UA](m3ua.md).";
    MachinePage::new("sua.md", "State machines of SUA", introduction)
        .with(&CONNECTION_MACHINE)
        .with(&RESET)
        .hold();
}

#[test]
#[cfg(feature = "iua")]
fn the_page_of_iua_shows_its_table() {
    let introduction = "Written from the table in `crates/sigtran/src/iua/machine.rs`. ASPs and application servers \
                        are those of [M3UA](m3ua.md).";
    MachinePage::new("iua.md", "State machine of IUA", introduction).with(&DATA_LINK_MACHINE).hold();
}
