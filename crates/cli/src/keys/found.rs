//! Search for entries by words: those of names before those of meanings.

use super::sources::Entry;

/// Place of a match in the answer: the least is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The last part of the name, whole.
    Name,
    /// A whole word of the last part.
    WordOfName,
    /// Beginning of a word of the last part.
    InName,
    /// Beginning of a word of the path before it.
    InPath,
    /// A whole word of the meaning.
    WordOfMeaning,
    /// Beginning of a word of the meaning, of a value that may stand there, or of a kind of its table.
    InMeaning,
}

/// Entries that have every word of a search in name or meaning, the best first; equals stay in their order.
pub(super) fn matches<'a>(all: &'a [Entry], search: &str) -> Vec<&'a Entry> {
    let whole = folded(search.trim());
    let words: Vec<String> = search.split_whitespace().map(folded).collect();
    let mut found: Vec<(Rank, &Entry)> = all
        .iter()
        .filter_map(|entry| {
            // A name of several words is found by all of them at once.
            let at_once = rank(entry, &whole).filter(|rank| *rank <= Rank::InName);
            let each = words.iter().map(|word| rank(entry, word)).collect::<Option<Vec<Rank>>>();
            let each = each.and_then(|ranks| ranks.into_iter().max());
            Some((at_once.into_iter().chain(each).min()?, entry))
        })
        .collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, entry)| entry).collect()
}

/// A word as names are compared: `RTO.Min`, `rto-min` and `rto_min` are one.
fn folded(word: &str) -> String {
    word.trim_start_matches("--").to_lowercase().replace(['-', ' '], "_")
}

fn rank(entry: &Entry, word: &str) -> Option<Rank> {
    if word.is_empty() {
        return None;
    }
    let name = folded(&entry.name);
    // Blanks of a flag's name are folded, too: it begins behind two dashes.
    let last = name.rsplit('.').next().unwrap_or_default();
    let last = last.rsplit("___").next().unwrap_or(last);
    if last == word {
        return Some(Rank::Name);
    }
    let meaning = folded(&format!("{} {} {}", entry.meaning, entry.value, entry.only.join(" ")));
    let places = [(last, Rank::WordOfName, Rank::InName), (&name, Rank::InPath, Rank::InPath)];
    let places = places.into_iter().chain([(&*meaning, Rank::WordOfMeaning, Rank::InMeaning)]);
    places
        .filter_map(|(text, whole, part)| {
            has_word(text, word).map(|is_whole| if is_whole { whole } else { part })
        })
        .min()
}

/// Tells if a string has a word that begins so, and whether one ends so, too. `rain` is not in `drain`.
fn has_word(text: &str, word: &str) -> Option<bool> {
    let begins = text.match_indices(word).filter(|(at, _)| {
        let before = text[..*at].chars().next_back();
        !before.is_some_and(char::is_alphanumeric)
    });
    let ends =
        begins.map(|(at, _)| !text[at + word.len()..].chars().next().is_some_and(char::is_alphanumeric));
    ends.max()
}

/// Words of a name and its meaning, and the last part of the name as a whole, for what is near.
pub(super) fn words_of(entry: &Entry) -> Vec<String> {
    let last = entry.name.rsplit(['.', ' ']).next().unwrap_or_default().to_lowercase();
    let text = format!("{} {}", entry.name, entry.meaning).to_lowercase();
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| word.chars().count() > 2).map(str::to_owned).chain([last]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sources::entries;
    use super::*;

    fn names(search: &str) -> Vec<String> {
        let all = entries();
        matches(&all, search).into_iter().map(|entry| entry.name.clone()).collect()
    }

    #[test]
    fn a_name_comes_before_a_meaning_whatever_its_letters_look_like() {
        let found = names("RTO-Min");
        assert_eq!(found[..2], ["sctp.<name>.rto_min", "tcp.<name>.rto_min"]);
        assert!(found.contains(&"slantpath load --rto-min".to_owned()), "{found:?}");
        assert_eq!(names("rto min")[..2], found[..2]);
        let all = entries();
        let place = |name: &str| matches(&all, "loss").iter().position(|entry| entry.name == name);
        let (own, part) = (place("links.<name>.loss"), place("sctp.<name>.loss_detection"));
        assert!(own < part && own.is_some(), "{own:?} {part:?}");
        assert!(part < place("sctp.<name>.max_probes"));
        // Whoever has it in the name comes before whoever means it, wherever they stand in their files.
        let found = names("loss");
        let named = found.iter().rposition(|name| name.contains("loss"));
        assert!(named < found.iter().position(|name| !name.contains("loss")), "{found:?}");
    }

    #[test]
    fn every_word_has_to_be_found_and_a_word_within_another_comes_last() {
        let kind = names("fq-codel");
        assert!(kind.iter().any(|name| name.starts_with("links.<name>.discipline.")), "{kind:?}");
        let found = names("fade trace");
        assert_eq!(found[0], "links.<name>.fade_trace");
        assert!(names("fade nosuchword").is_empty());
        assert_eq!(has_word("the mtu of", "mtu"), Some(true));
        assert_eq!((has_word("mtu_max", "mtu"), has_word("mtud mtu", "mtu")), (Some(true), Some(true)));
        assert_eq!((has_word("mtud", "mtu"), has_word("pmtu", "mtu")), (Some(false), None));
    }
}
