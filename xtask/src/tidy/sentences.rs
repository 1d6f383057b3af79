//! Length of sentences in the documents: a page is read once, not twice.

use super::documents::prose_lines;
use crate::finding::Finding;
use crate::tree::{TextFile, Tree};

const MOST_WORDS: f64 = 20.0;

/// Mean number of words of a sentence in a page.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mean {
    words: usize,
    sentences: usize,
}

impl Mean {
    fn value(self) -> f64 {
        self.words as f64 / self.sentences.max(1) as f64
    }
}

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let pages: Vec<(&TextFile, Mean)> = tree
        .of_kind("md")
        .filter(|file| is_judged(&file.path))
        .map(|file| (file, mean(&file.text)))
        .collect();
    if let Some((longest, mean)) =
        pages.iter().max_by(|(_, one), (_, two)| one.value().total_cmp(&two.value()))
    {
        println!("tidy: {:.1} words a sentence at most ({})", mean.value(), longest.path);
    }
    let long = pages.iter().filter(|(_, mean)| mean.value() > MOST_WORDS);
    long.map(|(file, mean)| {
        let message =
            format!("{:.1} words a sentence, more than {MOST_WORDS}: split the long ones", mean.value());
        Finding::on_file(&file.path, message)
    })
    .collect()
}

fn is_judged(path: &str) -> bool {
    matches!(path, "README.md" | "ARCHITECTURE.md") || path.starts_with("docs/")
}

/// Counts the sentences of a string, and their words. Code, tables, lists, headings and pictures are left out.
fn mean(text: &str) -> Mean {
    let mut paragraphs = vec![String::new()];
    let mut in_list = false;
    for (_, line) in prose_lines(text) {
        let line = line.trim_end();
        let begins = line.trim_start();
        let is_indented = line.starts_with("  ");
        if begins.is_empty() {
            paragraphs.push(String::new());
            continue;
        }
        in_list = is_item(begins) || (in_list && is_indented);
        if in_list || is_indented || begins.starts_with(['|', '#']) || begins.starts_with("![") {
            paragraphs.push(String::new());
            continue;
        }
        let paragraph = paragraphs.last_mut().expect("there is one from the start");
        paragraph.push_str(begins);
        paragraph.push(' ');
    }
    let sentences = paragraphs.iter().flat_map(|paragraph| sentences(paragraph));
    sentences.fold(Mean { words: 0, sentences: 0 }, |mean, words| Mean {
        words: mean.words + words,
        sentences: mean.sentences + 1,
    })
}

fn is_item(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    line.starts_with("- ") || line.starts_with("* ") || (digits > 0 && line[digits..].starts_with(". "))
}

/// Counts the words of each sentence of a paragraph: `.`, `?` and `!` end one where a blank follows.
fn sentences(paragraph: &str) -> Vec<usize> {
    let mut counts = Vec::new();
    let mut words = 0;
    let mut in_code = false;
    for word in paragraph.split_whitespace() {
        // Code is one word, whatever stands in it.
        words += usize::from(!in_code);
        in_code ^= word.matches('`').count() % 2 == 1;
        let bare = word.trim_end_matches(['*', ')', '"', '_']);
        if !in_code && bare.ends_with(['.', '?', '!']) {
            counts.push(words);
            words = 0;
        }
    }
    if words > 0 {
        counts.push(words);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_with_their_mark() {
        assert_eq!(sentences("One two three. Four five? Six!"), [3, 2, 1]);
        assert_eq!(sentences("RFC 9260, section 5.1 says so."), [6]);
        assert_eq!(sentences("**Said.** (And so.) no end"), [1, 2, 2]);
        assert_eq!(sentences("Run `slantpath run a.toml --set 'x. y'` now."), [3]);
    }

    #[test]
    fn only_prose_is_counted() {
        let text = "# A heading of five words\n\nOne two. Three\nfour.\n\n- a list. with. points.\n  that goes on\n\
                    1. and. so. on\n\n| a | table. |\n![a picture.](x.png)\n\n    code. code.\n```\ncode. code.\n```\n";
        assert_eq!(mean(text), Mean { words: 4, sentences: 2 });
    }

    #[test]
    fn a_page_of_long_sentences_is_found() {
        let long = format!("{}.\n", "word ".repeat(20).trim_end());
        let longer = format!("{}.\n", "word ".repeat(21).trim_end());
        let found = |path: &str, text: &str| check(&Tree::of(&[(path, text)])).len();
        assert_eq!(found("docs/a.md", &long), 0);
        for path in ["docs/models/a.md", "README.md", "ARCHITECTURE.md"] {
            assert_eq!(found(path, &longer), 1, "{path}");
        }
        assert_eq!(found("studies/a/README.md", &longer), 0);
    }
}
