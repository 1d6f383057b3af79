//! `docs/trace.md` is what the code declares.

use slantpath_testkit::page;

#[test]
fn the_page_lists_every_event_and_every_field_as_the_code_declares_them() {
    let head = include_str!("../../page-head.md");
    page::hold("docs/trace.md", &format!("{head}\n{}\n", slantpath_trace::page().trim_end()));
}
