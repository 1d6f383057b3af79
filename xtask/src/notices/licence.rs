//! Licence expressions of SPDX, as manifests have them: `MIT OR Apache-2.0`, `(MIT OR Apache-2.0) AND Unicode-3.0`.

use std::collections::BTreeSet;

/// A licence expression.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Licence {
    /// Under all of them.
    All(Vec<Licence>),
    /// Under any of them, as one likes.
    Any(Vec<Licence>),
    /// One licence by its identifier, with its exception.
    One(String),
}

/// Tells if an expression can be satisfied with these licences alone.
pub(super) fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    Licence::parse(expression).is_satisfied_by(allowed)
}

impl Licence {
    pub(super) fn parse(expression: &str) -> Self {
        // The old way to write OR.
        let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        Self::any(&mut words.as_slice())
    }

    fn any(words: &mut &[&str]) -> Self {
        Self::list(words, "OR", Self::all, Self::Any)
    }

    fn all(words: &mut &[&str]) -> Self {
        Self::list(words, "AND", Self::one, Self::All)
    }

    fn list(
        words: &mut &[&str],
        between: &str,
        part: fn(&mut &[&str]) -> Self,
        whole: fn(Vec<Self>) -> Self,
    ) -> Self {
        let first = part(words);
        let mut parts = vec![first];
        while let [word, rest @ ..] = *words
            && *word == between
        {
            *words = rest;
            parts.push(part(words));
        }
        if parts.len() == 1 { parts.remove(0) } else { whole(parts) }
    }

    fn one(words: &mut &[&str]) -> Self {
        match *words {
            ["(", rest @ ..] => {
                *words = rest;
                let inner = Self::any(words);
                // Its bracket.
                *words = words.get(1..).unwrap_or_default();
                inner
            }
            [name, "WITH", exception, rest @ ..] => {
                *words = rest;
                Self::One(format!("{name} WITH {exception}"))
            }
            [name, rest @ ..] => {
                *words = rest;
                Self::One((*name).to_owned())
            }
            [] => Self::One(String::new()),
        }
    }

    fn is_satisfied_by(&self, allowed: &BTreeSet<String>) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.is_satisfied_by(allowed)),
            Self::Any(parts) => parts.iter().any(|part| part.is_satisfied_by(allowed)),
            Self::One(name) => allowed.contains(name),
        }
    }

    /// The files among `names` that must go with a copy. Where MIT is one of the choices it is chosen, and the texts of
    /// the others may stay; what is no licence, such as a list of authors, goes along in any case.
    pub(super) fn chosen_files<'a>(&self, names: &[&'a str]) -> Vec<&'a str> {
        let is_mit = |name: &str| matches!(name.to_uppercase().as_str(), "LICENSE-MIT" | "LICENSE-MIT.TXT");
        let may_choose = matches!(self, Self::Any(parts) if parts.contains(&Self::One("MIT".to_owned())));
        if !may_choose || !names.iter().any(|name| is_mit(name)) {
            return names.to_vec();
        }
        let is_no_licence = |name: &str| {
            let name = name.to_uppercase();
            name.starts_with("COPYRIGHT") || name.starts_with("NOTICE")
        };
        names.iter().copied().filter(|name| is_mit(name) || is_no_licence(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(expression: &str) -> bool {
        let allowed = ["Apache-2.0 WITH LLVM-exception", "MIT", "Unicode-3.0"];
        is_allowed(expression, &allowed.map(str::to_owned).into())
    }

    #[test]
    fn one_choice_suffices_and_all_parts_are_needed() {
        for expression in [
            "MIT",
            "Apache-2.0 OR MIT",
            "MIT/Apache-2.0",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "CC0-1.0 OR Apache-2.0 OR Apache-2.0 WITH LLVM-exception",
            "MIT AND (GPL-3.0-only OR Unicode-3.0)",
        ] {
            assert!(allowed(expression), "{expression}");
        }
        for expression in [
            "",
            "Apache-2.0",
            "Apache-2.0 AND MIT",
            "MIT AND GPL-3.0-only",
            "GPL-3.0-only OR Apache-2.0 AND MIT",
            "(MIT OR Apache-2.0) AND GPL-3.0-only",
        ] {
            assert!(!allowed(expression), "{expression}");
        }
    }

    #[test]
    fn where_mit_may_be_chosen_its_text_goes_along_and_every_list_of_authors() {
        let names = ["COPYRIGHT", "LICENSE-APACHE", "LICENSE-MIT", "NOTICE.txt"];
        let chosen = |expression: &str| Licence::parse(expression).chosen_files(&names);
        assert_eq!(chosen("MIT OR Apache-2.0"), ["COPYRIGHT", "LICENSE-MIT", "NOTICE.txt"]);
        assert_eq!(chosen("(MIT OR Apache-2.0) AND Unicode-3.0"), names);
        assert_eq!(chosen("Apache-2.0 AND MIT"), names);
        let one = ["LICENSE.txt"];
        assert_eq!(Licence::parse("MIT OR Apache-2.0").chosen_files(&one), one);
    }
}
