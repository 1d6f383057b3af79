//! Citations as they stand beside the code.
//!
//! ```text
//! //= https://www.rfc-editor.org/rfc/rfc9260#section-6.3.3
//! //= type=exception
//! //= reason=why the rule is not obeyed
//! //# The sentence, on as many lines as it takes, with ... for what is left out
//! ```

use crate::finding::Finding;
use crate::tree::TextFile;

const ADDRESS: &str = "https://www.rfc-editor.org/rfc/rfc";

/// Relation of the code to the cited sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Departs from it, for a reason that stands beside it.
    Exception,
    Obeyed,
}

/// Quotation of an RFC in the code.
#[derive(Clone, Debug)]
pub(super) struct Citation {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) rfc: u32,
    /// "6.3.3", or "A.1" of an appendix.
    pub(super) section: String,
    pub(super) kind: Kind,
    /// The lines joined by blanks.
    pub(super) quote: String,
}

/// Appends the citations of a file, and a finding for each that is malformed.
pub(super) fn read(file: &TextFile, citations: &mut Vec<Citation>, findings: &mut Vec<Finding>) {
    let mut open: Option<Draft> = None;
    for (number, line) in file.numbered_lines() {
        match Line::of(line) {
            Line::Address(address) => {
                close(file, open.replace(Draft::new(number, address)), citations, findings);
            }
            Line::Attribute(attribute) => match &mut open {
                Some(draft) => draft.attributes.push(attribute.to_owned()),
                None => {
                    findings.push(Finding::on_line(&file.path, number, "`//=` without an address before it"));
                }
            },
            Line::Quote(quote) => match &mut open {
                Some(draft) => draft.quote.push(quote.to_owned()),
                None => findings.push(Finding::on_line(&file.path, number, "`//#` without `//=` before it")),
            },
            Line::Other => close(file, open.take(), citations, findings),
        }
    }
    close(file, open, citations, findings);
}

fn close(file: &TextFile, draft: Option<Draft>, citations: &mut Vec<Citation>, findings: &mut Vec<Finding>) {
    let Some(draft) = draft else { return };
    let line = draft.line;
    match draft.finish(&file.path) {
        Ok(citation) => citations.push(citation),
        Err(message) => findings.push(Finding::on_line(&file.path, line, message)),
    }
}

enum Line<'a> {
    Address(&'a str),
    Attribute(&'a str),
    Quote(&'a str),
    Other,
}

impl<'a> Line<'a> {
    fn of(line: &'a str) -> Self {
        let line = line.trim();
        if let Some(text) = line.strip_prefix("//=") {
            let text = text.trim();
            if text.contains("://") { Self::Address(text) } else { Self::Attribute(text) }
        } else if let Some(text) = line.strip_prefix("//#") {
            Self::Quote(text.trim())
        } else {
            Self::Other
        }
    }
}

struct Draft {
    line: usize,
    address: String,
    attributes: Vec<String>,
    quote: Vec<String>,
}

impl Draft {
    fn new(line: usize, address: &str) -> Self {
        Self { line, address: address.to_owned(), attributes: Vec::new(), quote: Vec::new() }
    }

    fn finish(self, path: &str) -> Result<Citation, String> {
        let (rfc, section) = parse_address(&self.address)
            .ok_or_else(|| format!("write {ADDRESS}NNNN#section-N.N or #appendix-X, not {}", self.address))?;
        let quote = self.quote.join(" ");
        if quote.is_empty() {
            return Err("a citation quotes the sentence that it means: add `//#` lines".into());
        }
        Ok(Citation {
            path: path.into(),
            line: self.line,
            rfc,
            section,
            kind: kind(&self.attributes)?,
            quote,
        })
    }
}

fn parse_address(address: &str) -> Option<(u32, String)> {
    let (rfc, place) = address.strip_prefix(ADDRESS)?.split_once('#')?;
    let section = place.strip_prefix("section-").or_else(|| place.strip_prefix("appendix-"))?;
    (!section.is_empty()).then_some((rfc.parse().ok()?, section.to_owned()))
}

fn kind(attributes: &[String]) -> Result<Kind, String> {
    let mut kind = Kind::Obeyed;
    let mut reason = false;
    for attribute in attributes {
        match attribute.split_once('=') {
            Some(("type", "exception")) => kind = Kind::Exception,
            Some(("reason", text)) => reason = !text.trim().is_empty(),
            // The rest of a reason that runs over several lines.
            None if reason => {}
            _ => return Err(format!("`//= {attribute}` is neither type=exception nor reason=...")),
        }
    }
    match kind {
        Kind::Exception if !reason => Err("an exception gives its reason: add `//= reason=...`".into()),
        Kind::Obeyed if reason => Err("a reason belongs to `//= type=exception`".into()),
        _ => Ok(kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> (Vec<Citation>, Vec<Finding>) {
        let (mut citations, mut findings) = (Vec::new(), Vec::new());
        read(&TextFile { path: "a.rs".into(), text: text.into() }, &mut citations, &mut findings);
        (citations, findings)
    }

    #[test]
    fn a_citation_is_read_with_its_place() {
        let (citations, findings) = read_text(
            "fn f() {\n    //= https://www.rfc-editor.org/rfc/rfc9260#section-6.3.3\n    //# Set the\n    //# timer.\n}\n",
        );
        assert_eq!(findings, []);
        let [citation] = &citations[..] else { panic!("one citation: {citations:?}") };
        assert_eq!((citation.rfc, citation.section.as_str(), citation.line), (9260, "6.3.3", 2));
        assert_eq!((citation.quote.as_str(), citation.kind), ("Set the timer.", Kind::Obeyed));
    }

    #[test]
    fn two_citations_may_touch() {
        let one = "//= https://www.rfc-editor.org/rfc/rfc9260#appendix-A\n//# X.\n";
        assert_eq!(read_text(&one.repeat(2)).0.len(), 2);
    }

    #[test]
    fn an_exception_has_a_reason() {
        let with = |rest: &str| {
            read_text(&format!("//= https://www.rfc-editor.org/rfc/rfc1#section-1\n{rest}//# X.\n"))
        };
        let (citations, _) = with("//= type=exception\n//= reason=the peer does not,\n//= and cannot\n");
        assert_eq!(citations[0].kind, Kind::Exception);
        assert_eq!(with("//= type=exception\n").1.len(), 1);
        assert_eq!(with("//= reason=why\n").1.len(), 1);
        assert_eq!(with("//= type=test\n").1.len(), 1);
    }

    #[test]
    fn broken_citations_are_found() {
        assert_eq!(read_text("//# X.\n").1.len(), 1);
        assert_eq!(read_text("//= type=exception\n").1.len(), 1);
        assert_eq!(read_text("//= https://www.rfc-editor.org/rfc/rfc1#section-1\nfn f() {}\n").1.len(), 1);
        assert_eq!(read_text("//= https://example.org/rfc1\n//# X.\n").1.len(), 1);
        assert_eq!(read_text("//= https://www.rfc-editor.org/rfc/rfc1\n//# X.\n").1.len(), 1);
    }
}
