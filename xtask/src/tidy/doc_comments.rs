//! Doc comments begin with a noun or a verb, and say something.

use crate::finding::Finding;
use crate::tree::{TextFile, Tree};

/// Words with which a doc comment does not begin: behind them a reader waits for the noun.
const NO_BEGINNING: &[&str] =
    &["How", "It", "Its", "That", "Those", "What", "When", "Where", "Whether", "Which", "Who"];
/// Verbs before which "This" stands for the item itself, beside those that end in "s".
const VERBS: &[&str] = &["can", "may", "must", "will"];
const FEWEST_WORDS: usize = 3;
/// Units, which say enough of a constant or a field.
const UNITS: &[&str] = &[
    "bits",
    "bytes",
    "degrees",
    "hertz",
    "kilometres",
    "messages",
    "metres",
    "microseconds",
    "milliseconds",
    "nanoseconds",
    "octets",
    "packets",
    "percent",
    "radians",
    "seconds",
    "watts",
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.of_kind("rs").flat_map(check_file).collect()
}

fn check_file(file: &TextFile) -> Vec<Finding> {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut findings = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some((marker, _)) = doc_line(lines[at]) else {
            at += 1;
            continue;
        };
        let own = lines[at..].iter().map_while(|line| doc_line(line).filter(|(own, _)| *own == marker));
        let comment: Vec<&str> = own.map(|(_, text)| text).collect();
        let end = at + comment.len();
        if let Some(message) = fault(&comment.join(" "), marker, &lines[end..]) {
            findings.push(Finding::on_line(&file.path, at + 1, message));
        }
        at = end;
    }
    findings
}

/// Splits a line of a doc comment into its marker and its text.
fn doc_line(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim_start();
    let marker = ["///", "//!"].into_iter().find(|marker| line.starts_with(marker))?;
    let text = &line[marker.len()..];
    (!text.starts_with('/')).then(|| (marker, text.trim()))
}

fn fault(comment: &str, marker: &str, behind: &[&str]) -> Option<String> {
    let words: Vec<&str> = comment.split_whitespace().collect();
    let first = plain(words.first()?);
    let second = words.get(1).map_or("", |word| plain(word));
    let begins_badly = NO_BEGINNING.contains(&first)
        || (first == "The" && second == "same")
        || (first == "This" && (VERBS.contains(&second) || second.ends_with('s')));
    if begins_badly {
        return Some(format!("a doc comment begins with `{first}`: a noun or a verb first"));
    }
    let says_enough = words.len() >= FEWEST_WORDS
        || (marker == "///" && names_a_value(behind) && words.iter().any(|word| is_a_name(word)));
    (!says_enough).then(|| format!("a doc comment of fewer than {FEWEST_WORDS} words"))
}

fn plain(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '`')
}

/// Tells if a word is a unit, or a name of a standard: with a capital, a digit or code behind its first letter.
fn is_a_name(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',', ';', ':']);
    let has_mark = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '`';
    let is_single = word.chars().count() == 1 && word.chars().all(has_mark);
    is_single || word.chars().skip(1).any(has_mark) || UNITS.contains(&word.to_lowercase().as_str())
}

/// Tells if the item behind a comment is a constant, a variant or a field.
fn names_a_value(behind: &[&str]) -> bool {
    let mut open = 0_usize;
    let item = behind.iter().map(|line| line.trim()).find(|line| {
        let is_attribute = open > 0 || line.starts_with("#[");
        if is_attribute {
            open = (open + line.matches('[').count()).saturating_sub(line.matches(']').count());
        }
        !is_attribute && !line.is_empty() && !line.starts_with("//")
    });
    let Some(mut item) = item else { return false };
    if let Some(rest) = item.strip_prefix("pub") {
        item = rest
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(')'))
            .map_or(rest, |(_, rest)| rest)
            .trim_start();
    }
    let keywords =
        ["async", "enum", "extern", "fn", "impl", "macro_rules!", "mod", "struct", "trait", "type", "unsafe"];
    let mut words = item.split([' ', '<', '(']);
    let first = words.next().unwrap_or_default();
    !keywords.contains(&first) && (first != "const" || words.next() != Some("fn"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        check(&Tree::of(&[("a.rs", text)])).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_noun_or_a_verb_comes_first() {
        assert_eq!(
            messages("//! What is counted.\n\n/// Counters of a link.\npub struct A;\n"),
            ["a.rs:1: a doc comment begins with `What`: a noun or a verb first"]
        );
        for beginning in ["Whether it", "The same as", "It has", "This is", "This counts", "This may"] {
            assert_eq!(
                messages(&format!("/// {beginning} a lot more.\nfn f() {{}}\n")).len(),
                1,
                "{beginning}"
            );
        }
        for beginning in ["The first", "This peer", "Item", "Gives"] {
            assert!(
                messages(&format!("/// {beginning} of a lot more.\nfn f() {{}}\n")).is_empty(),
                "{beginning}"
            );
        }
    }

    #[test]
    fn only_the_first_line_of_each_comment_is_held_to_it() {
        assert!(messages("/// Counters of a link.\n/// What they are is below.\nstruct A;\n").is_empty());
        assert_eq!(
            messages("/// Counters of a link.\nstruct A;\n/// Which one it is.\nstruct B;\n").len(),
            1
        );
        // A comment of the file ends where one of an item begins.
        assert_eq!(messages("//! Counters of a link.\n/// Who counts the packets.\nstruct A;\n").len(), 1);
        assert!(messages("//// What is no doc comment.\n// What is none.\n").is_empty());
    }

    #[test]
    fn few_words_are_a_name_or_a_unit() {
        let short = |comment: &str, item: &str| messages(&format!("/// {comment}\n{item}\n")).len();
        assert_eq!(short("Their bytes.", "    sent: u64,"), 0, "a unit");
        assert_eq!(short("Their size.", "    sent: u64,"), 1);
        assert_eq!(short("T20.", "    t20: Duration,"), 0);
        assert_eq!(short("INFO String.", "    #[serde(\n        default\n    )]\n    Info,"), 0);
        assert_eq!(short("N.", "pub(crate) const N: u8 = 1;"), 0);
        for item in
            ["fn t20() {}", "pub struct T20;", "pub(crate) enum T20 {", "pub const fn t20() {}", "impl T20 {"]
        {
            assert_eq!(short("T20.", item), 1, "{item}");
        }
        assert_eq!(messages("//! Seconds.\n").len(), 1, "a file has no unit");
        assert_eq!(short("Timer of restart.", "fn f() {}"), 0);
    }
}
