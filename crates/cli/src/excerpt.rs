//! Excerpt of a string around a fault: a few lines of bounded width, whatever the text is.

use std::ops::Range;

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use slantpath_runner::{Diagnostic, is_acted_on, visible};

/// The most that is shown of a line, in bytes. Of a longer one the fault's surroundings are.
const WIDTH: usize = 160;
/// Number of bytes of such a line that are shown before the fault.
const BEFORE: usize = 60;
/// A fault of more lines than this is shown by its first.
const LINES: usize = 12;
/// Sign that stands for omitted text.
const LEFT_OUT: &str = "…";

/// The lines of a fault, one before and one behind them.
#[derive(Debug)]
pub(crate) struct Excerpt<'a> {
    diagnostic: &'a Diagnostic,
    name: String,
    text: String,
    /// Number of lines of the source before the excerpt.
    lines_before: usize,
    /// The fault's bytes in the excerpt.
    pub(crate) span: Range<usize>,
}

impl<'a> Excerpt<'a> {
    pub(crate) fn of(diagnostic: &'a Diagnostic) -> Self {
        let whole = diagnostic.source.text.as_str();
        let start = whole.floor_char_boundary(diagnostic.span.start);
        let mut end = whole.ceil_char_boundary(diagnostic.span.end).max(start);
        if whole[start..end].matches('\n').nth(LINES - 1).is_some() {
            end = line_end(whole, start);
        }
        let first = line_start(whole, start);
        let begin = if first == 0 { 0 } else { line_start(whole, first - 1) };
        let last = line_end(whole, end.saturating_sub(1).max(start));
        let mut excerpt = Self {
            diagnostic,
            name: visible(&diagnostic.source.name).into_owned(),
            text: String::new(),
            lines_before: diagnostic.line - 1 - usize::from(first > 0),
            span: 0..0,
        };
        // The line behind the fault, if there is one: the last line feed of a string begins none.
        let stop = if last + 1 < whole.len() { line_end(whole, last + 1) } else { last };
        let mut at = begin;
        loop {
            let line = at..line_end(whole, at);
            excerpt.push_line(whole, &line, start..end);
            if line.end >= stop {
                break;
            }
            excerpt.text.push('\n');
            at = line.end + 1;
        }
        excerpt
    }

    /// Adds a line, or what is shown of it, and notes where in it the fault begins and ends.
    fn push_line(&mut self, whole: &str, line: &Range<usize>, fault: Range<usize>) {
        let is_long = line.len() > WIDTH;
        let holds = |byte: usize| line.start <= byte && byte <= line.end;
        let around = if holds(fault.start) { fault.start } else { line.start };
        let from = if is_long { around.saturating_sub(BEFORE).max(line.start) } else { line.start };
        let from = whole.floor_char_boundary(from).max(line.start);
        let to = if is_long { whole.floor_char_boundary((from + WIDTH).min(line.end)) } else { line.end };
        if from > line.start {
            self.text.push_str(LEFT_OUT);
        }
        let place = |text: &str, byte: usize| text.len() + byte.clamp(from, to) - from;
        if holds(fault.start) {
            self.span.start = place(&self.text, fault.start);
        }
        if holds(fault.end) || fault.end > line.end {
            self.span.end = place(&self.text, fault.end);
        }
        self.text.extend(whole[from..to].chars().flat_map(shown));
        if to < line.end {
            self.text.push_str(LEFT_OUT);
        }
    }
}

/// Replaces a character that a terminal would act on, byte by byte so that all stays at its place.
fn shown(character: char) -> impl Iterator<Item = char> {
    let is_wrong = is_acted_on(character) && character != '\t';
    let count = if is_wrong { character.len_utf8() } else { 1 };
    let shown = match character {
        // The end of a line of some systems.
        '\r' => ' ',
        _ if is_wrong => '?',
        right => right,
    };
    std::iter::repeat_n(shown, count)
}

fn line_start(text: &str, byte: usize) -> usize {
    text[..byte].rfind('\n').map_or(0, |newline| newline + 1)
}

fn line_end(text: &str, byte: usize) -> usize {
    let from = text.floor_char_boundary(byte);
    text[from..].find('\n').map_or(text.len(), |newline| from + newline)
}

impl SourceCode for Excerpt<'_> {
    fn read_span<'b>(
        &'b self,
        span: &SourceSpan,
        before: usize,
        behind: usize,
    ) -> Result<Box<dyn SpanContents<'b> + 'b>, MietteError> {
        let found = self.text.read_span(span, before, behind)?;
        // Without lines around it, it is asked for the place alone, which is that of the whole text.
        let column = if before == 0 { self.diagnostic.column - 1 } else { found.column() };
        let line = found.line() + self.lines_before;
        let contents = MietteSpanContents::new_named(
            self.name.clone(),
            found.data(),
            *found.span(),
            line,
            column,
            found.line_count(),
        );
        Ok(Box::new(contents))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use slantpath_runner::InputSource;

    use super::*;

    /// The excerpt of a string with a fault at these bytes, what is marked of it, and the line that it begins with.
    fn excerpt(text: &str, fault: Range<usize>) -> (String, String, usize) {
        let source = Arc::new(InputSource { name: "f".to_owned(), text: text.to_owned() });
        let limit = text.len();
        let span = fault.start.min(limit)..fault.end.min(limit);
        let (line, column) = source.line_and_column(span.start);
        let message = "wrong".to_owned();
        let diagnostic = Diagnostic { source, span, line, column, message, help: None };
        let excerpt = Excerpt::of(&diagnostic);
        let marked = excerpt.text[excerpt.span.clone()].to_owned();
        (excerpt.text, marked, excerpt.lines_before + 1)
    }

    #[test]
    fn a_fault_is_shown_with_a_line_before_and_one_behind() {
        let text = "one\ntwo\nthree\nfour\nfive\n";
        let found = |text: &str, marked: &str, line| (text.to_owned(), marked.to_owned(), line);
        let rows = [
            (0..3, found("one\ntwo", "one", 1)),
            (5..7, found("one\ntwo\nthree", "wo", 1)),
            (9..10, found("two\nthree\nfour", "h", 2)),
            (8..13, found("two\nthree\nfour", "three", 2)),
            (4..17, found("one\ntwo\nthree\nfour\nfive", "two\nthree\nfou", 1)),
            (19..23, found("four\nfive", "five", 4)),
            // The end of the text, and beyond.
            (24..24, found("five\n", "", 5)),
            (90..95, found("five\n", "", 5)),
        ];
        for (fault, wanted) in rows {
            assert_eq!(excerpt(text, fault.clone()), wanted, "{fault:?}");
        }
        assert_eq!(excerpt("", 0..0), (String::new(), String::new(), 1));
    }

    #[test]
    fn of_a_long_line_the_surroundings_are_shown_and_of_its_neighbours_the_beginning() {
        let long = "x".repeat(1_000);
        let text = format!("{long}\n{long}wrong{long}\n{long}");
        let (shown, marked, line) = excerpt(&text, 2_001..2_006);
        let wanted = format!(
            "{}…\n…{}wrong{}…\n{}…",
            "x".repeat(160),
            "x".repeat(60),
            "x".repeat(95),
            "x".repeat(160)
        );
        assert_eq!((shown, marked.as_str(), line), (wanted, "wrong", 1));
        // A fault longer than what is shown is marked as far as it is.
        let (shown, marked, _) = excerpt(&text, 1_001..3_006);
        assert_eq!((shown.matches('…').count(), marked), (3, "x".repeat(160)));
    }

    #[test]
    fn a_fault_of_very_many_lines_is_shown_by_its_first() {
        let lines = |count: usize| "x\n".repeat(count);
        assert_eq!(excerpt(&lines(12), 0..23).1, lines(12).trim_end());
        assert_eq!(excerpt(&lines(1_000), 4..2_000), ("x\nx\nx".to_owned(), "x".to_owned(), 2));
    }

    #[test]
    fn what_a_terminal_would_act_on_is_shown_at_its_place_and_letters_stay_whole() {
        let (shown, marked, _) = excerpt("\u{1b}[2J\r\u{202e}ab\tä\r\n", 8..10);
        assert_eq!((shown.as_str(), marked.as_str()), ("?[2J ???ab\tä ", "ab"));
        let letters = "ä".repeat(1_000);
        let (shown, marked, _) = excerpt(&format!("{letters}b{letters}"), 2_000..2_001);
        assert_eq!((shown.chars().count(), marked.as_str()), (30 + 1 + 49 + 2, "b"));
    }
}
