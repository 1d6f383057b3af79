//! docs/machines/mtp2.md is written from the tables.

use std::path::Path;

use slantpath_ss7::mtp2::{ALIGNMENT, LINK_STATE};

#[test]
fn the_page_shows_the_tables() {
    let page = format!(
        "# State machines of MTP2\n\nWritten from the tables in `crates/ss7/src/mtp2`: a line is a row, with its \
         actions behind the slash.\n\n## {}\n\nSource: {}.\n\n```mermaid\n{}```\n\n## {}\n\nSource: {}.\n\n\
         ```mermaid\n{}```\n",
        LINK_STATE.name,
        LINK_STATE.source,
        LINK_STATE.mermaid(),
        ALIGNMENT.name,
        ALIGNMENT.source,
        ALIGNMENT.mermaid(),
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/machines/mtp2.md");
    if std::env::var_os("SLANTPATH_UPDATE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(committed, page, "docs/machines/mtp2.md is not what the tables give: set SLANTPATH_UPDATE=1");
}
