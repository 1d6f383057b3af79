//! Words of a file that is changed.

use slantpath_reader::{Data, Document, Entries, Node};

/// The word at a path of a file in which all that is given is set; those of a list with commas between them.
pub fn word_at<'a>(text: &str, given: impl Iterator<Item = &'a String>, path: &[&str]) -> Option<String> {
    let mut document = Document::parse("base", text);
    for setting in given {
        document.set("row", setting);
    }
    let (entries, _) = document.entries().ok()?;
    let word = |node: &Node| match &node.data {
        Data::Text(word) => word.clone(),
        _ => String::new(),
    };
    match find(&entries, path)? {
        Data::Text(word) => Some(word.clone()),
        Data::Array(words) => Some(words.iter().map(word).collect::<Vec<_>>().join(",")),
        _ => None,
    }
}

fn find<'a>(entries: &'a Entries, keys: &[&str]) -> Option<&'a Data> {
    let (first, rest) = keys.split_first()?;
    let mut data = &entries.get(*first)?.node.data;
    let mut rest = rest;
    while let (Data::Array(items), Some((index, deeper))) = (data, rest.split_first()) {
        data = &items.get(index.parse::<usize>().ok()?)?.data;
        rest = deeper;
    }
    match data {
        _ if rest.is_empty() => Some(data),
        Data::Table(inner) => find(inner, rest),
        _ => None,
    }
}
