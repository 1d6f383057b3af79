//! Words of a file that is changed.

use slantpath_reader::{Document, Entries, ValueData, ValueNode};

/// The word at a path of a file in which all that is given is set; those of a list with commas between them.
pub fn word_at<'a>(text: &str, given: impl Iterator<Item = &'a String>, path: &[&str]) -> Option<String> {
    let mut document = Document::parse("base", text);
    for setting in given {
        document.set("row", setting);
    }
    let (entries, _) = document.entries().ok()?;
    let word = |node: &ValueNode| match &node.data {
        ValueData::Text(word) => word.clone(),
        _ => String::new(),
    };
    match find(&entries, path)? {
        ValueData::Text(word) => Some(word.clone()),
        ValueData::Array(words) => Some(words.iter().map(word).collect::<Vec<_>>().join(",")),
        _ => None,
    }
}

fn find<'a>(entries: &'a Entries, keys: &[&str]) -> Option<&'a ValueData> {
    let (first, rest) = keys.split_first()?;
    let mut data = &entries.get(*first)?.node.data;
    let mut rest = rest;
    while let (ValueData::Array(items), Some((index, deeper))) = (data, rest.split_first()) {
        data = &items.get(index.parse::<usize>().ok()?)?.data;
        rest = deeper;
    }
    match data {
        _ if rest.is_empty() => Some(data),
        ValueData::Table(inner) => find(inner, rest),
        _ => None,
    }
}
