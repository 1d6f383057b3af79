//! The state machines as the documents show them: each page is written from the tables.

use slantpath_sigtran_adaptations::iua::DATA_LINK_MACHINE;
use slantpath_sigtran_adaptations::m2ua::{GATEWAY_LINK_MACHINE, PROCESS_LINK_MACHINE};
use slantpath_sigtran_adaptations::sua::CONNECTION_MACHINE;
use slantpath_ss7::sccp::RESET;
use slantpath_testkit::MachinePage;

#[test]
fn the_page_of_m2ua_shows_its_tables() {
    let introduction = "Written from the tables in `crates/sigtran-adaptations/src/m2ua/machine.rs`, as a link \
                        is seen from both ends. ASPs and application servers are those of [M3UA](m3ua.md).";
    MachinePage::new("m2ua.md", "State machines of M2UA", introduction)
        .with(&GATEWAY_LINK_MACHINE)
        .with(&PROCESS_LINK_MACHINE)
        .hold();
}

#[test]
fn the_page_of_sua_shows_its_tables() {
    let introduction = "Written from the tables in `crates/sigtran-adaptations/src/sua/connection.rs`, as one end of a \
                        connection sees it, and in `crates/ss7/src/sccp/connection/machine.rs`: a connection of class \
                        3 is reset as it is in SCCP, by RESRE for RSR and RESCO for RSC. ASPs and application servers \
                        are those of [M3UA](m3ua.md).";
    MachinePage::new("sua.md", "State machines of SUA", introduction)
        .with(&CONNECTION_MACHINE)
        .with(&RESET)
        .hold();
}

#[test]
fn the_page_of_iua_shows_its_table() {
    let introduction = "Written from the table in `crates/sigtran-adaptations/src/iua/machine.rs`. ASPs and \
                        application servers are those of [M3UA](m3ua.md).";
    MachinePage::new("iua.md", "State machine of IUA", introduction).with(&DATA_LINK_MACHINE).hold();
}
