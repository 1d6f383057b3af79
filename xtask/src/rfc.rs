//! `cargo xtask rfc`: counts the citations of RFCs in the sources per section, and checks that each quoted
//! sentence stands in the section that it names.

mod citation;
mod document;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write as _;
use std::path::Path;

use self::citation::{Citation, Kind};
use self::document::{Document, Found};
use crate::finding::Finding;
use crate::tree::Tree;

/// Counts and checks; the table goes to standard output. `texts` is a directory of `rfcNNNN.txt`.
pub(crate) fn run(tree: &Tree, texts: &Path) -> Result<Vec<Finding>, String> {
    let (citations, mut findings) = citations(tree);
    print!("{}", table(&citations));
    if texts.is_dir() {
        findings.extend(check_quotes(&citations, |rfc| read_document(texts, rfc))?);
    } else {
        eprintln!("SKIPPED: quotes are not checked, for {} is missing", texts.display());
    }
    findings.sort();
    Ok(findings)
}

fn read_document(texts: &Path, rfc: u32) -> Result<Option<Document>, String> {
    let path = texts.join(format!("rfc{rfc}.txt"));
    if !path.exists() {
        return Ok(None);
    }
    let bytes = std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(Some(Document::parse(&String::from_utf8_lossy(&bytes))))
}

fn citations(tree: &Tree) -> (Vec<Citation>, Vec<Finding>) {
    let mut citations = Vec::new();
    let mut findings = Vec::new();
    // The checker's own tests hold broken citations.
    for file in tree.of_kind("rs").filter(|file| !file.path.starts_with("xtask/")) {
        citation::read(file, &mut citations, &mut findings);
    }
    (citations, findings)
}

fn check_quotes(
    citations: &[Citation],
    mut read: impl FnMut(u32) -> Result<Option<Document>, String>,
) -> Result<Vec<Finding>, String> {
    let mut documents: BTreeMap<u32, Option<Document>> = BTreeMap::new();
    let mut findings = Vec::new();
    for citation in citations {
        if let Entry::Vacant(unread) = documents.entry(citation.rfc) {
            let document = read(citation.rfc)?;
            if document.is_none() {
                eprintln!("SKIPPED: no text of RFC {} to check its quotes against", citation.rfc);
            }
            unread.insert(document);
        }
        if let Some(Some(document)) = documents.get(&citation.rfc) {
            findings.extend(
                complaint(citation, document).map(|m| Finding::on_line(&citation.path, citation.line, m)),
            );
        }
    }
    Ok(findings)
}

fn complaint(citation: &Citation, document: &Document) -> Option<String> {
    let Citation { rfc, section, .. } = citation;
    match document.find(section, &citation.quote) {
        Found::InSection => None,
        Found::NoSection => Some(format!("RFC {rfc} has no section {section}")),
        Found::Elsewhere(place) => {
            Some(format!("the quote stands in RFC {rfc} section {place}, not in {section}"))
        }
        Found::Nowhere => Some(format!("RFC {rfc} does not say: {}", citation.quote)),
    }
}

/// One line per section, sections in the order of their numbers, and a line of totals.
fn table(citations: &[Citation]) -> String {
    let mut sections: BTreeMap<(u32, SectionOrder), (usize, usize)> = BTreeMap::new();
    for citation in citations {
        let counts = sections.entry((citation.rfc, SectionOrder::of(&citation.section))).or_default();
        match citation.kind {
            Kind::Obeyed => counts.0 += 1,
            Kind::Exception => counts.1 += 1,
        }
    }
    let mut text = format!("{:<5} {:<14} {:>9} {:>10}\n", "RFC", "section", "citations", "exceptions");
    let mut totals = (0, 0);
    for ((rfc, section), (obeyed, exceptions)) in &sections {
        let _ = writeln!(text, "{rfc:<5} {:<14} {obeyed:>9} {exceptions:>10}", section.name);
        totals = (totals.0 + obeyed, totals.1 + exceptions);
    }
    let _ = writeln!(text, "{:<20} {:>9} {:>10}", "all", totals.0, totals.1);
    text
}

/// Orders "6.3.3" before "6.10" and appendices after sections.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SectionOrder {
    numbers: Vec<u32>,
    name: String,
}

impl SectionOrder {
    fn of(section: &str) -> Self {
        let number = |part: &str| {
            part.parse()
                .unwrap_or_else(|_| u32::MAX - 26 + part.bytes().next().map_or(0, |b| u32::from(b % 26)))
        };
        Self { numbers: section.split('.').map(number).collect(), name: section.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RFC: &str = "1.  Scope\n\n   Text that\n   runs on.\n\n2.  Rules\n\n   A sender MUST wait.\n";

    fn findings(source: &str) -> Vec<String> {
        let (citations, mut findings) = citations(&Tree::of(&[("a.rs", source)]));
        let read = |rfc| Ok((rfc == 9999).then(|| Document::parse(RFC)));
        findings.extend(check_quotes(&citations, read).expect("readable"));
        findings.iter().map(ToString::to_string).collect()
    }

    fn cited(section: &str, quote: &str) -> String {
        format!("//= https://www.rfc-editor.org/rfc/rfc9999#section-{section}\n//# {quote}\nfn f() {{}}\n")
    }

    #[test]
    fn a_true_quote_passes_however_it_is_broken() {
        assert!(findings(&cited("1", "Text\n//# that runs on.")).is_empty());
    }

    #[test]
    fn a_wrong_quote_is_found() {
        assert_eq!(
            findings(&cited("2", "A sender MAY wait.")),
            ["a.rs:1: RFC 9999 does not say: A sender MAY wait."]
        );
    }

    #[test]
    fn a_quote_of_another_section_is_found() {
        let found = findings(&cited("1", "A sender MUST wait."));
        assert_eq!(found, ["a.rs:1: the quote stands in RFC 9999 section 2, not in 1"]);
    }

    #[test]
    fn a_section_that_is_not_there_is_found() {
        assert_eq!(findings(&cited("7.1", "A sender MUST wait.")), ["a.rs:1: RFC 9999 has no section 7.1"]);
    }

    #[test]
    fn an_rfc_without_text_is_passed_over() {
        assert!(
            findings("//= https://www.rfc-editor.org/rfc/rfc1#section-1\n//# Host software.\n").is_empty()
        );
    }

    #[test]
    fn the_table_counts_per_section_in_order() {
        let source = [cited("10.1", "X."), cited("2", "X."), cited("2", "Y.")].concat();
        let (citations, _) = citations(&Tree::of(&[("a.rs", &source)]));
        let table = table(&citations);
        let rows: Vec<&str> = table.lines().collect();
        assert_eq!(rows[1], "9999  2                      2          0");
        assert_eq!(rows[2], "9999  10.1                   1          0");
        assert_eq!(rows[3], "all                          3          0");
    }
}
