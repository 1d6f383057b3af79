//! The state machines as the documents show them: each page is written from the tables.

use std::fmt::Write as _;
use std::path::Path;

use slantpath_base::StateMachine;
use slantpath_sigtran::asp::{AS_MACHINE, ASP_MACHINE, REMOTE_ASP_MACHINE};
use slantpath_sigtran::iua::DATA_LINK_MACHINE;
use slantpath_sigtran::m2pa::{ALIGNMENT_MACHINE, LINK_MACHINE, OUTAGE_MACHINE};
use slantpath_sigtran::m2ua::{GATEWAY_LINK_MACHINE, PROCESS_LINK_MACHINE};
use slantpath_sigtran::sua::CONNECTION_MACHINE;
use slantpath_ss7::sccp::RESET;

/// One machine as a section of a page.
fn section<S, I, A>(machine: &StateMachine<S, I, A>) -> String
where
    S: Copy + std::fmt::Debug + PartialEq,
    I: Copy + std::fmt::Debug + PartialEq,
    A: Copy + std::fmt::Debug,
{
    format!("## {}\n\nSource: {}.\n\n```mermaid\n{}```\n", machine.name, machine.source, machine.mermaid())
}

/// Compares a page with what the tables give, or writes it under `SLANTPATH_UPDATE=1`.
fn check_page(name: &str, page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/machines").join(name);
    if std::env::var_os("SLANTPATH_UPDATE").is_some() {
        std::fs::write(&path, page).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(committed, page, "docs/machines/{name} is not what the tables give: set SLANTPATH_UPDATE=1");
}

#[test]
fn the_page_of_m3ua_shows_its_tables() {
    let mut page = "# State machines of M3UA, M2UA, SUA and IUA\n\nWritten from the tables in \
                    `crates/sigtran/src/asp/machine.rs`: a line is a row, with its actions behind the slash. The three \
                    are kept once for each pair of ASP and application server.\n"
        .to_owned();
    for section in [section(&ASP_MACHINE), section(&REMOTE_ASP_MACHINE), section(&AS_MACHINE)] {
        let _ = write!(page, "\n{section}");
    }
    check_page("m3ua.md", &page);
}

#[test]
fn the_page_of_m2pa_shows_its_tables() {
    let mut page = "# State machines of M2PA\n\nWritten from the tables in `crates/sigtran/src/m2pa/state.rs`, \
                    `alignment.rs` and `outage.rs`: a line is a row, with its actions behind the slash. A link has \
                    one of each: link state control starts and stops the other two.\n"
        .to_owned();
    for section in [section(&LINK_MACHINE), section(&ALIGNMENT_MACHINE), section(&OUTAGE_MACHINE)] {
        let _ = write!(page, "\n{section}");
    }
    check_page("m2pa.md", &page);
}

#[test]
fn the_page_of_m2ua_shows_its_tables() {
    let mut page =
        "# State machines of M2UA\n\nWritten from the tables in `crates/sigtran/src/m2ua/machine.rs`, as a \
                    link is seen from both ends. ASPs and application servers are those of [M3UA](m3ua.md).\n"
            .to_owned();
    for section in [section(&GATEWAY_LINK_MACHINE), section(&PROCESS_LINK_MACHINE)] {
        let _ = write!(page, "\n{section}");
    }
    check_page("m2ua.md", &page);
}

#[test]
fn the_page_of_sua_shows_its_table() {
    let mut page =
        "# State machines of SUA\n\nWritten from the tables in `crates/sigtran/src/sua/connection.rs`, as one \
                    end of a connection sees it, and in `crates/ss7/src/sccp/connection/machine.rs`: a connection \
                    of class 3 is reset as it is in SCCP, by RESRE for RSR and RESCO for RSC. ASPs and application \
                    servers are those of [M3UA](m3ua.md).\n"
            .to_owned();
    let _ = write!(page, "\n{}\n{}", section(&CONNECTION_MACHINE), section(&RESET));
    check_page("sua.md", &page);
}

#[test]
fn the_page_of_iua_shows_its_table() {
    let mut page =
        "# State machine of IUA\n\nWritten from the table in `crates/sigtran/src/iua/machine.rs`. ASPs and \
                    application servers are those of [M3UA](m3ua.md).\n"
            .to_owned();
    let _ = write!(page, "\n{}", section(&DATA_LINK_MACHINE));
    check_page("iua.md", &page);
}
