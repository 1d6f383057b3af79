//! A compact trie over digits: which rule's pattern fits, the most specific first.
//!
//! Most patterns end alone: their rule stands in the leaf itself, so that what is looked at after the first digits
//! is one node or two. A node is 16 bytes, and the children of a node stand side by side: ten thousand rules fit a
//! second-level cache, and the pages that they lie on its table of addresses.

use smallvec::SmallVec;

use crate::sccp::gtt::pattern::{DigitPattern, PatternPlace};
use crate::sccp::gtt::signals::{LABEL_DIGITS, Label, Signals};

/// A rule at the end of its pattern, with what is wanted first: where it leads, and which conditions it sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Candidate {
    pub rule: u32,
    pub group: u32,
    pub conditions: u16,
}

#[derive(Clone, Copy, Debug)]
enum Node {
    /// One pattern ends here, and no other passes. The fields of its [`Candidate`] stand by themselves, as those of
    /// [`Children`] do: as structs they would take more room.
    Leaf { label: Label, is_open: bool, conditions: u16, rule: u32, group: u32 },
    /// Other patterns begin with these digits, and go on with a digit each.
    Branch { label: Label, digits: u16, first: u32 },
    /// Any other node: patterns end here, or go on with `?`.
    Crossing { label: Label, digits: u16, first: u32, ends: u32 },
}

const _: () = assert!(size_of::<Node>() == 16, "a node is 16 bytes");

/// The children for digits, side by side in their order.
#[derive(Clone, Copy, Debug)]
struct Children {
    /// A bit for each digit that has a child.
    digits: u16,
    first: u32,
}

impl Children {
    fn get(self, digit: u8) -> Option<u32> {
        let bit = 1_u16 << (digit & 0xf);
        (self.digits & bit != 0).then(|| self.first + (self.digits & (bit - 1)).count_ones())
    }
}

/// Patterns that end at a node, and its child for `?`.
#[derive(Clone, Debug, Default)]
struct Ends {
    any: Option<u32>,
    exact: Vec<Candidate>,
    open: Vec<Candidate>,
}

/// A node where the search can go on: at its `?`, or with its stars.
#[derive(Clone, Copy, Debug)]
struct Other {
    ends: u32,
    /// Number of digits that lead there.
    at: u8,
    has_any: bool,
}

/// At most one for each place of a pattern and one for its end, so that nothing is allocated.
type Others = SmallVec<[Other; 36]>;

/// Patterns, and what each stands for.
#[derive(Clone, Debug, Default)]
pub(super) struct Trie {
    nodes: Vec<Node>,
    ends: Vec<Ends>,
    /// The node that the first digits lead to, for all of them; [`NO_SHORTCUT`] where something may end on the way.
    shortcuts: Vec<u32>,
}

/// Digits that a shortcut leads over.
const SHORTCUT_DIGITS: usize = 3;
const NO_SHORTCUT: u32 = u32::MAX;

/// Patterns that are to be laid out below a node, whose digits up to the depth are dealt with.
struct Work<'a> {
    node: usize,
    depth: usize,
    patterns: Vec<(&'a DigitPattern, Candidate)>,
}

impl Trie {
    /// Rules that share a pattern are tried in the order that is given here.
    pub(super) fn new(patterns: &[(&DigitPattern, Candidate)]) -> Self {
        let mut trie = Self { nodes: vec![UNBUILT], ..Self::default() };
        let mut work = vec![Work { node: 0, depth: 0, patterns: patterns.to_vec() }];
        while let Some(next) = work.pop() {
            trie.build(next, &mut work);
        }
        let all = 0..1_usize << (4 * SHORTCUT_DIGITS);
        trie.shortcuts = all.map(|digits| trie.shortcut(digits).unwrap_or(NO_SHORTCUT)).collect();
        trie
    }

    /// Finds the node that digits lead to, the first in the lowest bits, if there is one way only and nothing ends on
    /// it.
    fn shortcut(&self, digits: usize) -> Option<u32> {
        let mut node = 0;
        for at in 0..SHORTCUT_DIGITS {
            match self.nodes.get(node as usize) {
                Some(Node::Branch { label, digits: below, first }) if label.len() == 0 => {
                    let children = Children { digits: *below, first: *first };
                    node = children.get((digits >> (4 * at)).to_le_bytes()[0])?;
                }
                _ => return None,
            }
        }
        Some(node)
    }

    fn build<'a>(&mut self, here: Work<'a>, work: &mut Vec<Work<'a>>) {
        let Work { node, depth, patterns } = here;
        let shared = shared_digits(&patterns, depth);
        let label = Label::new(&shared);
        let depth = depth + shared.len();
        if let [(pattern, Candidate { rule, group, conditions })] = patterns[..]
            && pattern.places().len() == depth
        {
            self.nodes[node] = Node::Leaf { label, is_open: pattern.is_open(), conditions, rule, group };
            return;
        }
        let mut ends = Ends::default();
        let mut below: [Vec<(&DigitPattern, Candidate)>; 17] = Default::default();
        for (pattern, candidate) in patterns {
            match pattern.places().get(depth) {
                Some(PatternPlace::Digit(digit)) => below[usize::from(*digit)].push((pattern, candidate)),
                Some(PatternPlace::Any) => below[16].push((pattern, candidate)),
                None if pattern.is_open() => ends.open.push(candidate),
                None => ends.exact.push(candidate),
            }
        }
        let (mut digits, first) = (0, place(self.nodes.len()));
        for (digit, patterns) in below.into_iter().enumerate().filter(|(_, patterns)| !patterns.is_empty()) {
            if digit == 16 {
                ends.any = Some(place(self.nodes.len()));
            } else {
                digits |= 1 << digit;
            }
            work.push(Work { node: self.nodes.len(), depth: depth + 1, patterns });
            self.nodes.push(UNBUILT);
        }
        self.nodes[node] = if ends.any.is_none() && ends.exact.is_empty() && ends.open.is_empty() {
            Node::Branch { label, digits, first }
        } else {
            self.ends.push(ends);
            Node::Crossing { label, digits, first, ends: place(self.ends.len() - 1) }
        };
    }

    /// The first rule whose pattern fits and that `accepts`. From the first digit on, a digit goes before `?`, and
    /// a longer pattern before a shorter one with a star.
    #[inline]
    pub(super) fn find(&self, digits: &[u8], accepts: &impl Fn(Candidate) -> bool) -> Option<Candidate> {
        let signals = Signals::new(digits);
        // Where else to look, the nearest last. Nodes with neither `?` nor star, which are most, are not among them.
        let mut others = Others::new();
        let shortcut = signals.first_three().and_then(|key| self.shortcuts.get(key).copied());
        let (node, at) = match shortcut {
            Some(node) if node != NO_SHORTCUT => (node, SHORTCUT_DIGITS),
            _ => (0, 0),
        };
        let found = self.descend(node, at, &signals, accepts, &mut others);
        if found.is_some() || others.is_empty() {
            return found;
        }
        self.go_back(&signals, accepts, others)
    }

    /// Looks at the other ways.
    #[cold]
    fn go_back(
        &self,
        signals: &Signals,
        accepts: &impl Fn(Candidate) -> bool,
        mut others: Others,
    ) -> Option<Candidate> {
        let mut found = None;
        while found.is_none() {
            let Other { ends, at, has_any } = others.pop()?;
            let here = &self.ends[ends as usize];
            found = match here.any {
                Some(any) if has_any => {
                    if !here.open.is_empty() {
                        others.push(Other { ends, at, has_any: false });
                    }
                    self.descend(any, usize::from(at) + 1, signals, accepts, &mut others)
                }
                _ => choose(&here.open, accepts),
            };
        }
        found
    }

    /// Follows the digits as far as they lead, to a rule that ends with them.
    #[inline]
    fn descend(
        &self,
        mut node: u32,
        mut at: usize,
        signals: &Signals,
        accepts: &impl Fn(Candidate) -> bool,
        others: &mut Others,
    ) -> Option<Candidate> {
        loop {
            let here = *self.nodes.get(node as usize)?;
            let children = match here {
                Node::Leaf { label, is_open, conditions, rule, group } => {
                    let candidate = Candidate { rule, group, conditions };
                    let fits = signals.have(at, label) && (is_open || signals.len() == at + label.len());
                    return (fits && accepts(candidate)).then_some(candidate);
                }
                Node::Branch { label, digits, first } => {
                    if !signals.have(at, label) {
                        return None;
                    }
                    at += label.len();
                    Children { digits, first }
                }
                Node::Crossing { label, digits, first, ends } => {
                    if !signals.have(at, label) {
                        return None;
                    }
                    at += label.len();
                    let here = &self.ends[ends as usize];
                    let is_last = at >= signals.len();
                    let has_any = here.any.is_some() && !is_last;
                    if has_any || !here.open.is_empty() {
                        // A pattern has at most 32 places, so that is how far a number is looked at.
                        others.push(Other { ends, at: at.to_le_bytes()[0], has_any });
                    }
                    if is_last {
                        return choose(&here.exact, accepts);
                    }
                    Children { digits, first }
                }
            };
            node = children.get(signals.get(at)?)?;
            at += 1;
        }
    }
}

const UNBUILT: Node = Node::Branch { label: Label::EMPTY, digits: 0, first: 0 };

fn choose(candidates: &[Candidate], accepts: &impl Fn(Candidate) -> bool) -> Option<Candidate> {
    candidates.iter().copied().find(|candidate| accepts(*candidate))
}

fn place(index: usize) -> u32 {
    u32::try_from(index).expect("four thousand million nodes do not fit memory")
}

/// The digits that all patterns have next, as many as a label holds.
fn shared_digits<T>(patterns: &[(&DigitPattern, T)], depth: usize) -> Vec<u8> {
    let Some((first, _)) = patterns.first() else { return Vec::new() };
    let next = first.places().get(depth..).unwrap_or_default().iter().enumerate();
    next.take(LABEL_DIGITS)
        .map_while(|(at, place)| match place {
            PatternPlace::Digit(digit) => Some((at, *digit)),
            PatternPlace::Any => None,
        })
        .take_while(|(at, digit)| {
            let same = Some(&PatternPlace::Digit(*digit));
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
        let candidates = (0..).map(|rule| Candidate { rule, ..Candidate::default() });
        let numbered: Vec<_> = patterns.iter().zip(candidates).collect();
        Trie::new(&numbered).find(digits, &|_| true).map(|candidate| candidate.rule as usize)
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
                pattern.places().iter().map(|place| u8::from(*place == PatternPlace::Any)).collect();
            rank.push(u8::from(pattern.is_open()) * 2);
            rank
        };
        rank(a) < rank(b)
    }

    proptest! {
        #[test]
        fn the_trie_finds_what_trying_every_pattern_finds(
            texts in proptest::collection::btree_set("[0-2?]{0,6}[*]?|[0-1]{4,18}[*]?", 0..40),
            digits in proptest::collection::vec(0_u8..3, 0..8).prop_union(proptest::collection::vec(0_u8..2, 4..20)),
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
