//! The text of an RFC, cut into sections. When a quote is sought, blanks, line ends and page breaks do not
//! count.

/// A parsed RFC.
#[derive(Debug)]
pub(super) struct Document {
    /// In the order of the text; the table of contents is not among them.
    sections: Vec<Section>,
}

#[derive(Debug)]
struct Section {
    number: String,
    /// Without any blank.
    text: String,
}

/// Place at which a quote was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Elsewhere(String),
    InSection,
    NoSection,
    Nowhere,
}

impl Document {
    /// Never fails: a string without headings has no sections.
    pub(super) fn parse(text: &str) -> Self {
        let mut sections: Vec<Section> = Vec::new();
        for line in text.lines().filter(|line| !is_page_furniture(line)) {
            if let Some(number) = heading_number(line) {
                sections.push(Section { number: number.to_owned(), text: String::new() });
            }
            if let Some(section) = sections.last_mut() {
                section.text.extend(line.chars().filter(|c| !c.is_whitespace()));
            }
        }
        Self { sections }
    }

    /// Looks for the quote in the section and the sections below it.
    pub(super) fn find(&self, section: &str, quote: &str) -> Found {
        let pieces: Vec<String> = quote
            .split("...")
            .map(|piece| piece.chars().filter(|c| !c.is_whitespace()).collect::<String>())
            .filter(|piece| !piece.is_empty())
            .collect();
        let is_below = |number: &str| {
            number.strip_prefix(section).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let within: String =
            self.sections.iter().filter(|s| is_below(&s.number)).map(|s| s.text.as_str()).collect();
        if within.is_empty() {
            return Found::NoSection;
        }
        if holds(&within, &pieces) {
            return Found::InSection;
        }
        match self.sections.iter().find(|s| holds(&s.text, &pieces)) {
            Some(other) => Found::Elsewhere(other.number.clone()),
            None => Found::Nowhere,
        }
    }
}

/// Tells if the pieces stand in the text one after the other.
fn holds(text: &str, pieces: &[String]) -> bool {
    let mut rest = text;
    pieces.iter().all(|piece| match rest.find(piece.as_str()) {
        Some(at) => {
            rest = &rest[at + piece.len()..];
            true
        }
        None => false,
    })
}

/// "6.3.3" of `6.3.3.  Handle T3-rtx Expiration`, "A" of `Appendix A.  CRC`, "A.1" of `A.1.  Tables`.
///
/// Headings stand at the left margin; entries of a table of contents are indented, or end in dots and a page.
fn heading_number(line: &str) -> Option<&str> {
    let is_contents = line.contains("....") || line.contains(". . .");
    let rest = line.strip_prefix("Appendix ").unwrap_or(line);
    let (number, title) = rest.split_once(' ')?;
    let number = number.strip_suffix([':', '.']).unwrap_or(number);
    let is_number = number.split('.').enumerate().all(|(at, part)| {
        let is_letter = at == 0 && part.len() == 1 && part.as_bytes()[0].is_ascii_uppercase();
        is_letter || (!part.is_empty() && part.len() <= 2 && part.bytes().all(|b| b.is_ascii_digit()))
    });
    let is_bare_letter = number.len() == 1 && !number.as_bytes()[0].is_ascii_digit();
    let is_appendix = rest.len() < line.len();
    let is_title = title.trim_start().starts_with(|c: char| c.is_alphanumeric() || c == '(' || c == '"');
    (is_number && is_title && !is_contents && (!is_bare_letter || is_appendix)).then_some(number)
}

/// Headers and footers of printed pages.
fn is_page_furniture(line: &str) -> bool {
    let line = line.trim_start_matches('\u{c}');
    let is_footer = line.ends_with(']') && line.contains("[Page ");
    let is_header = line.starts_with("RFC ")
        && line.len() >= 60
        && line
            .rsplit(' ')
            .next()
            .is_some_and(|year| year.len() == 4 && year.bytes().all(|b| b.is_ascii_digit()));
    is_footer || is_header
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Table of Contents

   1. Scope ........ 3
1.  Scope ..... 3

1.  Scope

   The end-
   point
Stewart, et al.             Standards Track                    [Page 5]
\u{c}
RFC 4960          Stream Control Transmission Protocol          September 2007
   starts.

2.  Rules

   None.

2.1.  First Rule

   Stop.

Appendix A.  CRC

   Sum.

A.1.  More

   Add.
";

    #[test]
    fn quotes_run_over_lines_and_pages() {
        let document = Document::parse(TEXT);
        assert_eq!(document.find("1", "The end-point starts."), Found::InSection);
        assert_eq!(document.find("1", "The end-point stops."), Found::Nowhere);
    }

    #[test]
    fn left_out_words_keep_the_order() {
        let document = Document::parse(TEXT);
        assert_eq!(document.find("1", "The ... starts."), Found::InSection);
        assert_eq!(document.find("1", "starts. ... The"), Found::Nowhere);
    }

    #[test]
    fn a_section_holds_its_subsections() {
        let document = Document::parse(TEXT);
        assert_eq!(document.find("2", "Stop."), Found::InSection);
        assert_eq!(document.find("2.1", "None."), Found::Elsewhere("2".into()));
        assert_eq!(document.find("3", "Stop."), Found::NoSection);
    }

    #[test]
    fn appendices_are_sections() {
        let document = Document::parse(TEXT);
        assert_eq!(document.find("A", "Sum."), Found::InSection);
        assert_eq!(document.find("A.1", "Add."), Found::InSection);
    }

    #[test]
    fn prose_at_the_margin_is_no_heading() {
        assert_eq!(heading_number("A host starts"), None);
        assert_eq!(heading_number("1981 was a year"), None);
        assert_eq!(heading_number("6.3.3.  Handle T3-rtx Expiration"), Some("6.3.3"));
        assert_eq!(heading_number("3.2.1 Format"), Some("3.2.1"));
    }
}
