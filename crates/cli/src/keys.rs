//! Command `slantpath keys`: keys of files, columns of tables and flags of commands, found by a word. All of it comes
//! from the declarations that read files, fill tables and parse arguments.

mod found;
mod sources;

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde_json::{Value as Json, json};
use slantpath_runner::nearest;

use crate::arguments::KeysArguments;
use crate::failure::Failure;
use crate::table::TextTable;

use found::{matches, words_of};
use sources::{Entry, entries};

/// Matches that are printed at most: whoever gets so many looks for something else.
const SHOWN: usize = 30;

pub(crate) fn main(arguments: &KeysArguments, out: &mut impl Write) -> Result<(), Failure> {
    let all = entries();
    if arguments.words.is_empty() {
        return Ok(sections(&all, arguments.json, out)?);
    }
    let word = arguments.words.join(" ");
    let found = matches(&all, &word);
    if found.is_empty() {
        return Err(Failure::Failed(nothing(&all, &word)));
    }
    if arguments.json {
        let found: Vec<Json> = found.iter().map(|entry| told(entry)).collect();
        writeln!(out, "{:#}", Json::Array(found))?;
        return Ok(());
    }
    let alike = alike(&found);
    for (entry, others) in alike.iter().take(SHOWN) {
        let others = if *others > 0 { format!(" and {others} more places") } else { String::new() };
        writeln!(out, "{}{others}  {}", entry.name, entry.about())?;
        writeln!(out, "    {}", first_sentence(&entry.meaning))?;
    }
    let more = alike.len().saturating_sub(SHOWN);
    if more > 0 {
        writeln!(out, "and {more} more: give another word beside it, or `--json` for all")?;
    }
    Ok(())
}

/// Entries of which each is the first of those that say the same of a key in several places, with how many others
/// there are: links have most keys for both directions, and for each.
fn alike<'a>(found: &[&'a Entry]) -> Vec<(&'a Entry, usize)> {
    let last = |entry: &'a Entry| entry.name.rsplit('.').next();
    let of = |entry: &'a Entry| (entry.kind, last(entry), &entry.value, &entry.default, &entry.meaning);
    let mut alike: Vec<(&Entry, usize)> = Vec::new();
    for &entry in found {
        match alike.iter_mut().find(|(first, _)| of(first) == of(entry)) {
            Some((_, others)) => *others += 1,
            None => alike.push((entry, 0)),
        }
    }
    alike
}

/// The sections with the numbers of their entries, in the order of their sources.
fn sections(all: &[Entry], as_json: bool, out: &mut impl Write) -> io::Result<()> {
    let mut sections: Vec<(&str, &str, usize)> = Vec::new();
    for entry in all {
        match sections.iter_mut().find(|(kind, section, _)| (*kind, *section) == (entry.kind, &entry.section))
        {
            Some((.., count)) => *count += 1,
            None => sections.push((entry.kind, &entry.section, 1)),
        }
    }
    if as_json {
        let rows = sections.iter();
        let rows = rows.map(|(kind, section, n)| json!({ "kind": kind, "section": section, "entries": n }));
        let sections: Vec<Json> = rows.collect();
        return writeln!(out, "{:#}", Json::Array(sections));
    }
    let mut table = TextTable::default();
    for (kind, section, count) in &sections {
        table.row([(*kind).to_owned(), (*section).to_owned(), count.to_string()]);
    }
    table.print(2, out)?;
    writeln!(
        out,
        "\n{} in all: `slantpath keys WORD` finds those with the word in name or meaning",
        all.len()
    )
}

/// Message that nothing is found, with what is near.
fn nothing(all: &[Entry], word: &str) -> String {
    let given = word.to_lowercase();
    let words: BTreeSet<String> = all.iter().flat_map(words_of).collect();
    match nearest(&given, words.iter().map(String::as_str)) {
        Some(near) => format!("nothing has `{word}` in its name or meaning; did you mean `{near}`?"),
        None => format!(
            "nothing has `{word}` in its name or meaning; try fewer letters, or `slantpath keys` for all sections"
        ),
    }
}

/// As much of a meaning as stands in a line.
fn first_sentence(meaning: &str) -> &str {
    meaning.split_inclusive(". ").next().unwrap_or_default().trim_end()
}

fn told(entry: &Entry) -> Json {
    json!({
        "kind": entry.kind,
        "section": entry.section,
        "name": entry.name,
        "only": entry.only,
        "value": entry.value,
        "default": entry.default,
        "meaning": entry.meaning,
    })
}

#[cfg(test)]
mod tests {
    use slantpath_runner::SYNONYMS;

    use super::*;

    #[test]
    fn a_word_that_nothing_has_is_told_with_what_is_near() {
        let all = entries();
        for (other, own) in [("bdp", "cwnd"), ("rain", "fade"), ("bandwidth", "rate"), ("latency", "delay")] {
            assert!(matches(&all, other).is_empty(), "`{other}` is found by itself");
            assert!(nothing(&all, other).ends_with(&format!("did you mean `{own}`?")));
        }
        assert!(nothing(&all, "pripority").contains("did you mean `priority`?"));
        assert!(nothing(&all, "xyzzyxyzzy").contains("`slantpath keys` for all sections"));
    }

    #[test]
    fn every_synonym_leads_to_something_that_is_found() {
        let all = entries();
        let names: BTreeSet<_> = SYNONYMS.iter().flat_map(|(_, names)| *names).collect();
        for name in names {
            assert!(!matches(&all, name).is_empty(), "{name}");
        }
    }

    #[test]
    fn of_a_meaning_the_first_sentence_is_shown() {
        assert_eq!(first_sentence("One, e.g. this. Two."), "One, e.g.");
        assert_eq!(first_sentence("Rate of 1.5 Mbit/s. Two."), "Rate of 1.5 Mbit/s.");
        assert_eq!(first_sentence(""), "");
    }
}
