//! A compact trie over digits: which rule's pattern fits, the most specific first.
//!
//! A node is 24 bytes: the digits that all below share, a bit for each child, and where its children and its rules
//! begin. The children of a node stand side by side, so that ten thousand rules fit a second-level cache.

use smallvec::SmallVec;

use crate::sccp::gtt::pattern::{DigitPattern, Place};

/// The most digits that a node's label holds, four bits each.
const LABEL_DIGITS: usize = 16;

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// Digits that come before anything else here, the first in the lowest bits.
    label: u64,
    /// The first child; those of digits come first in the order of digits, then that of `?`.
    first_child: u32,
    /// The first rule that ends here: exact ones come first, then those with a star.
    first_rule: u32,
    /// A bit for each digit that has a child.
    children: u16,
    exact_rules: u16,
    open_rules: u16,
    label_len: u8,
    has_any: bool,
}

/// A node where the search can go on: at its `?`, or with its stars.
#[derive(Clone, Copy, Debug)]
struct Other {
    node: u32,
    /// How many digits lead there.
    at: u8,
    has_any: bool,
}

/// At most one for each place of a pattern and one for its end, so that nothing is allocated.
type Others = SmallVec<[Other; 36]>;

/// Patterns, and what each stands for.
#[derive(Clone, Debug, Default)]
pub(super) struct Trie<T> {
    nodes: Vec<Node>,
    rules: Vec<T>,
    /// The node that the first digits lead to, for all of them; [`NO_SHORTCUT`] where something may end on the way.
    shortcuts: Vec<u32>,
}

/// Digits that a shortcut leads over.
const SHORTCUT_DIGITS: usize = 3;
const NO_SHORTCUT: u32 = u32::MAX;

/// Patterns that are to be laid out below a node, whose digits up to the depth are dealt with.
struct Work<'a, T> {
    node: usize,
    depth: usize,
    patterns: Vec<(&'a DigitPattern, T)>,
}

/// More rules share one pattern than a node can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooManyAlike;

impl<T: Copy> Trie<T> {
    /// Rules that share a pattern are tried in the order that is given here.
    pub(super) fn new(patterns: &[(&DigitPattern, T)]) -> Result<Self, TooManyAlike> {
        let mut trie = Self {
            nodes: vec![Node::default()],
            rules: Vec::with_capacity(patterns.len()),
            shortcuts: Vec::new(),
        };
        let mut work = vec![Work { node: 0, depth: 0, patterns: patterns.to_vec() }];
        while let Some(next) = work.pop() {
            trie.build(next, &mut work)?;
        }
        let all = 0..1_usize << (4 * SHORTCUT_DIGITS);
        trie.shortcuts = all.map(|digits| trie.shortcut(digits).unwrap_or(NO_SHORTCUT)).collect();
        Ok(trie)
    }

    /// Where digits lead, the first in the lowest bits, if there is one way only and nothing ends on it.
    fn shortcut(&self, digits: usize) -> Option<u32> {
        let mut node = 0;
        for at in 0..SHORTCUT_DIGITS {
            let here = self.nodes.get(node as usize)?;
            let bit = 1_u16 << (digits >> (4 * at) & 0xf);
            if here.label_len > 0 || here.has_any || here.open_rules > 0 || here.children & bit == 0 {
                return None;
            }
            node = here.first_child + (here.children & (bit - 1)).count_ones();
        }
        Some(node)
    }

    fn build<'a>(&mut self, here: Work<'a, T>, work: &mut Vec<Work<'a, T>>) -> Result<(), TooManyAlike> {
        let Work { node, depth, patterns } = here;
        let label = shared_digits(&patterns, depth);
        let depth = depth + label.len();
        let mut built = Node { label_len: label.len().to_le_bytes()[0], ..Node::default() };
        built.label = label.iter().rev().fold(0, |packed, digit| packed << 4 | u64::from(*digit));
        built.first_rule = place(self.rules.len());
        let ends = |open: bool| {
            let here = |(pattern, _): &&(&DigitPattern, T)| {
                pattern.places().len() == depth && pattern.is_open() == open
            };
            patterns.iter().filter(here).map(|(_, rule)| *rule).collect::<Vec<T>>()
        };
        let (exact, open) = (ends(false), ends(true));
        built.exact_rules = u16::try_from(exact.len()).map_err(|_| TooManyAlike)?;
        built.open_rules = u16::try_from(open.len()).map_err(|_| TooManyAlike)?;
        self.rules.extend(exact);
        self.rules.extend(open);
        let mut below: [Vec<(&DigitPattern, T)>; 17] = Default::default();
        for (pattern, rule) in patterns {
            match pattern.places().get(depth) {
                Some(Place::Digit(digit)) => below[usize::from(*digit)].push((pattern, rule)),
                Some(Place::Any) => below[16].push((pattern, rule)),
                None => {}
            }
        }
        built.first_child = place(self.nodes.len());
        for (digit, patterns) in below.into_iter().enumerate().filter(|(_, patterns)| !patterns.is_empty()) {
            if digit == 16 {
                built.has_any = true;
            } else {
                built.children |= 1 << digit;
            }
            work.push(Work { node: self.nodes.len(), depth: depth + 1, patterns });
            self.nodes.push(Node::default());
        }
        self.nodes[node] = built;
        Ok(())
    }

    /// The first rule whose pattern fits and that `accepts`. From the first digit on, a digit goes before `?`, and
    /// a longer pattern before a shorter one with a star.
    pub(super) fn find(&self, digits: &[u8], accepts: &impl Fn(T) -> bool) -> Option<T> {
        // Where else to look, the nearest last. Nodes with neither `?` nor star, which are most, are not among them.
        let mut others = Others::new();
        let first = digits.first_chunk::<SHORTCUT_DIGITS>();
        let key =
            first.map(|first| first.iter().rev().fold(0, |key, digit| key << 4 | usize::from(digit & 0xf)));
        let mut found = match key.and_then(|key| self.shortcuts.get(key)) {
            Some(node) if *node != NO_SHORTCUT => {
                self.descend(*node, SHORTCUT_DIGITS, digits, accepts, &mut others)
            }
            _ => self.descend(0, 0, digits, accepts, &mut others),
        };
        while found.is_none() {
            let Other { node, at, has_any } = others.pop()?;
            let here = &self.nodes[node as usize];
            found = if has_any {
                if here.open_rules > 0 {
                    others.push(Other { node, at, has_any: false });
                }
                let any = here.first_child + here.children.count_ones();
                self.descend(any, usize::from(at) + 1, digits, accepts, &mut others)
            } else {
                let first = here.first_rule as usize + usize::from(here.exact_rules);
                let open = &self.rules[first..first + usize::from(here.open_rules)];
                open.iter().copied().find(|rule| accepts(*rule))
            };
        }
        found
    }

    /// Follows the digits as far as they lead, to a rule that ends with them.
    fn descend(
        &self,
        mut node: u32,
        mut at: usize,
        digits: &[u8],
        accepts: &impl Fn(T) -> bool,
        others: &mut Others,
    ) -> Option<T> {
        loop {
            let here = self.nodes.get(node as usize)?;
            let label = digits.get(at..at + usize::from(here.label_len))?;
            let mut wanted = here.label;
            for digit in label {
                if u64::from(*digit) != wanted & 0xf {
                    return None;
                }
                wanted >>= 4;
            }
            at += label.len();
            let next = digits.get(at);
            let has_any = here.has_any && next.is_some();
            if here.children == 0 && !has_any {
                // Nothing lies below: the rules of this node, in their order, are all there is.
                let skipped = if next.is_some() { usize::from(here.exact_rules) } else { 0 };
                let first = here.first_rule as usize;
                let end = first + usize::from(here.exact_rules) + usize::from(here.open_rules);
                return self.rules[first + skipped..end].iter().copied().find(|rule| accepts(*rule));
            }
            if has_any || here.open_rules > 0 {
                // A pattern has at most 32 places, so that is how far a number is looked at.
                others.push(Other { node, at: at.to_le_bytes()[0], has_any });
            }
            let Some(digit) = next else {
                let first = here.first_rule as usize;
                let exact = &self.rules[first..first + usize::from(here.exact_rules)];
                return exact.iter().copied().find(|rule| accepts(*rule));
            };
            let bit = 1_u16 << (digit & 0xf);
            if here.children & bit == 0 {
                return None;
            }
            node = here.first_child + (here.children & (bit - 1)).count_ones();
            at += 1;
        }
    }
}

fn place(index: usize) -> u32 {
    u32::try_from(index).expect("four thousand million nodes do not fit memory")
}

/// The digits that all patterns have next.
fn shared_digits<T>(patterns: &[(&DigitPattern, T)], depth: usize) -> Vec<u8> {
    let Some((first, _)) = patterns.first() else { return Vec::new() };
    let next = first.places().get(depth..).unwrap_or_default().iter().enumerate();
    next.take(LABEL_DIGITS)
        .map_while(|(at, place)| match place {
            Place::Digit(digit) => Some((at, *digit)),
            Place::Any => None,
        })
        .take_while(|(at, digit)| {
            let same = Some(&Place::Digit(*digit));
            patterns.iter().all(|(pattern, _)| pattern.places().get(depth + at) == same)
        })
        .map(|(_, digit)| digit)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn patterns(texts: &[&str]) -> Vec<DigitPattern> {
        texts.iter().map(|text| DigitPattern::parse(text).unwrap()).collect()
    }

    fn find(texts: &[&str], digits: &[u8]) -> Option<usize> {
        let patterns = patterns(texts);
        let numbered: Vec<_> = patterns.iter().zip(0..).collect();
        Trie::new(&numbered).unwrap().find(digits, &|_| true)
    }

    #[test]
    fn the_most_specific_pattern_wins() {
        let texts = ["*", "4*", "49*", "491", "4?1*", "4915*"];
        assert_eq!(find(&texts, &[4, 9, 1]), Some(3));
        assert_eq!(find(&texts, &[4, 9, 1, 5]), Some(5));
        assert_eq!(find(&texts, &[4, 9, 1, 6]), Some(2), "a digit goes before a question mark");
        assert_eq!(find(&texts, &[4, 8, 1, 6]), Some(4));
        assert_eq!(find(&texts, &[4]), Some(1));
        assert_eq!(find(&texts, &[5]), Some(0));
        assert_eq!(find(&texts, &[]), Some(0));
    }

    #[test]
    fn a_pattern_longer_than_a_label_is_found_whole() {
        let long = "12345678901234567890123456789012";
        let digits: Vec<u8> = long.bytes().map(|b| b - b'0').collect();
        assert_eq!(find(&[long], &digits), Some(0));
        assert_eq!(find(&[long], &digits[..31]), None);
    }

    /// From the first place on: a digit before `?`, and what goes on before a star.
    fn is_more_specific(a: &DigitPattern, b: &DigitPattern) -> bool {
        let rank = |pattern: &DigitPattern| {
            let mut rank: Vec<u8> =
                pattern.places().iter().map(|place| u8::from(*place == Place::Any)).collect();
            rank.push(u8::from(pattern.is_open()) * 2);
            rank
        };
        rank(a) < rank(b)
    }

    proptest! {
        #[test]
        fn the_trie_finds_what_trying_every_pattern_finds(
            texts in proptest::collection::btree_set("[0-2?]{0,6}[*]?", 0..40),
            digits in proptest::collection::vec(0_u8..3, 0..8),
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let patterns = patterns(&texts);
            let mut best: Option<usize> = None;
            for (at, pattern) in patterns.iter().enumerate().filter(|(_, pattern)| pattern.matches(&digits)) {
                if best.is_none_or(|best| is_more_specific(pattern, &patterns[best])) {
                    best = Some(at);
                }
            }
            prop_assert_eq!(find(&texts, &digits), best);
        }
    }
}
