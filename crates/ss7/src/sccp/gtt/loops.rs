//! Titles that would travel in circles, found in the tables before anything runs.
//!
//! From every rule that sends a title on to another node for translation, the search follows a title of which only
//! the digits are known that the rules on its way ask for. Where it comes by a rule again, or travels further than
//! a hop counter lets it, the digits that nobody asked for are filled in, and that one title is followed through the
//! real translations: if it circles, the loop is certain and the title is its proof. Where none of the ten fillings
//! circles, a more specific rule stands in the way of all of them, and the loop is only suspected.

use std::collections::{BTreeMap, BTreeSet};

use crate::PointCode;
use crate::sccp::gtt::{Conditions, DigitChange, DigitPattern, PatternPlace, RouteOn, Rule, Translator};
use crate::sccp::{Digits, GlobalTitle, PartyAddress, Ssn};

/// A loop, or what may be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranslationLoop {
    /// The nodes and their rules on the way, until one of them comes again.
    pub path: Vec<(PointCode, String)>,
    /// A called party's digits that travel it, at the first node of the path.
    pub digits: String,
    /// True if that title was seen to circle. If not, other rules may keep every title from doing so.
    pub is_certain: bool,
}

/// Findings of a search for loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopSearch {
    /// Each circle of rules once.
    pub loops: Vec<TranslationLoop>,
    /// True if every way was followed. A search that would take too long says so instead.
    pub is_complete: bool,
}

/// The farthest that a title travels: the highest hop counter.
pub(super) const HOPS: usize = 15;
/// Steps after which the search gives up.
const STEPS: usize = 2_000_000;

/// Searches the tables of all nodes.
pub fn find_loops(nodes: &BTreeMap<PointCode, Translator>) -> LoopSearch {
    let mut search =
        Search { nodes, relays: BTreeMap::new(), found: Vec::new(), circles: BTreeSet::new(), steps: 0 };
    for (code, translator) in nodes {
        let relaying = translator.rules.iter().enumerate().filter(|(number, _)| {
            let group = &translator.groups[translator.targets[*number] as usize];
            group.entities.iter().any(|entity| entity.routing == RouteOn::GlobalTitle)
        });
        search.relays.insert(*code, relaying.map(|(number, _)| number).collect());
    }
    for code in nodes.keys() {
        search.follow(*code, &Title::unknown(), &mut Vec::new());
    }
    LoopSearch { loops: search.found, is_complete: search.steps < STEPS }
}

struct Search<'a> {
    nodes: &'a BTreeMap<PointCode, Translator>,
    /// The rules of each node that send titles on to be translated again.
    relays: BTreeMap<PointCode, Vec<usize>>,
    found: Vec<TranslationLoop>,
    circles: BTreeSet<BTreeSet<(PointCode, usize)>>,
    steps: usize,
}

impl Search<'_> {
    fn follow(&mut self, code: PointCode, title: &Title, path: &mut Vec<(PointCode, usize)>) {
        let (Some(translator), Some(relays)) = (self.nodes.get(&code), self.relays.get(&code).cloned())
        else {
            return;
        };
        for number in relays {
            self.steps += 1;
            if self.steps >= STEPS {
                return;
            }
            let rule = &translator.rules[number];
            let Some(mut next) = title.clone().unified(rule) else { continue };
            if let Some(start) = path.iter().position(|step| *step == (code, number))
                && self.circle(&path[start..], path, &next, path.len() >= HOPS)
            {
                continue;
            }
            next.change(rule);
            path.push((code, number));
            if path.len() <= HOPS {
                let group = &translator.groups[translator.targets[number] as usize];
                for entity in group.entities.iter().filter(|entity| entity.routing == RouteOn::GlobalTitle) {
                    let mut onward = next.clone();
                    onward.ssn = entity.ssn.or(onward.ssn);
                    self.follow(entity.point_code, &onward, path);
                }
            }
            path.pop();
        }
    }

    /// Tells if nothing more is to be learnt on this way: the circle is known, or certain, or was followed to the end.
    fn circle(
        &mut self,
        circle: &[(PointCode, usize)],
        path: &[(PointCode, usize)],
        title: &Title,
        is_last: bool,
    ) -> bool {
        let steps: BTreeSet<_> = circle.iter().copied().collect();
        if self.circles.contains(&steps) {
            return true;
        }
        let proof = (0..10).find(|fill| {
            let (called, calling) = title.original(*fill);
            circles(self.nodes, path[0].0, &called, &calling)
        });
        if proof.is_none() && !is_last {
            return false;
        }
        let (called, _) = title.original(proof.unwrap_or(0));
        let named =
            |(code, number): &(PointCode, usize)| (*code, self.nodes[code].rules[*number].name.clone());
        self.found.push(TranslationLoop {
            path: path.iter().map(named).collect(),
            digits: called.global_title.map(|title| title.digits().to_string()).unwrap_or_default(),
            is_certain: proof.is_some(),
        });
        self.circles.insert(steps);
        true
    }
}

/// Tells if a title that starts at a node comes back as it was, or travels too far.
fn circles(
    nodes: &BTreeMap<PointCode, Translator>,
    start: PointCode,
    called: &PartyAddress,
    calling: &PartyAddress,
) -> bool {
    let mut seen = Vec::new();
    let mut work = vec![(start, called.clone(), Vec::new())];
    while let Some((code, called, way)) = work.pop() {
        let here = (code, called);
        if way.contains(&here) || way.len() > HOPS {
            return true;
        }
        if seen.contains(&here) {
            continue;
        }
        seen.push(here.clone());
        let (code, called) = &here;
        let Some(translation) =
            nodes.get(code).and_then(|translator| translator.translate(called, Some(calling)).ok())
        else {
            continue;
        };
        let onward =
            translation.group.entities.iter().filter(|entity| entity.routing == RouteOn::GlobalTitle);
        for entity in onward {
            let next = translation.rule.address(called, entity);
            work.push((entity.point_code, next, [&way[..], core::slice::from_ref(&here)].concat()));
        }
    }
    false
}

/// A digit that is known, or one of those that are not.
#[derive(Clone, Copy, Debug)]
enum Sign {
    Known(u8),
    Unknown(usize),
}

/// Digits of which some are known.
#[derive(Clone, Debug)]
struct Signs {
    signs: Vec<Sign>,
    /// True if unknown digits may follow.
    is_open: bool,
}

/// An address of which only that is known which the rules on its way asked for.
#[derive(Clone, Debug)]
pub(super) struct Title {
    /// As it set out; what is learnt later is learnt about it.
    first: Signs,
    now: Signs,
    calling: Signs,
    values: Vec<Option<u8>>,
    /// The attributes as they set out, and as they are.
    attributes: [Attributes; 2],
    pub(super) ssn: Option<Ssn>,
    first_ssn: Option<Ssn>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Attributes {
    values: [Option<u8>; 3],
    /// Set by a rule: no longer those that the title set out with.
    is_set: [bool; 3],
}

impl Title {
    pub(super) const fn unknown() -> Self {
        let signs = Signs { signs: Vec::new(), is_open: true };
        let attributes = Attributes { values: [None; 3], is_set: [false; 3] };
        Self {
            first: Signs { signs: Vec::new(), is_open: true },
            now: Signs { signs: Vec::new(), is_open: true },
            calling: signs,
            values: Vec::new(),
            attributes: [attributes, attributes],
            ssn: None,
            first_ssn: None,
        }
    }

    /// Gives the title with all that is known once the rule fits, or `None` if it cannot.
    pub(super) fn unified(mut self, rule: &Rule) -> Option<Self> {
        let Conditions { translation_type, plan, nature, ssn, calling } = &rule.conditions;
        for (at, wanted) in [translation_type, plan, nature].into_iter().enumerate() {
            let Some(wanted) = *wanted else { continue };
            let [first, now] = &mut self.attributes;
            match now.values[at] {
                Some(value) if value != wanted => return None,
                Some(_) => {}
                None => {
                    now.values[at] = Some(wanted);
                    if !now.is_set[at] {
                        first.values[at] = Some(wanted);
                    }
                }
            }
        }
        match (ssn, self.ssn) {
            (Some(wanted), Some(ssn)) if *wanted != ssn => return None,
            (Some(wanted), None) => (self.ssn, self.first_ssn) = (Some(*wanted), Some(*wanted)),
            _ => {}
        }
        self.fit_called(&rule.digits)?;
        if let Some(pattern) = calling {
            let mut signs = self.calling.clone();
            while signs.is_open && signs.signs.len() < pattern.places().len() {
                signs.signs.push(Sign::Unknown(self.values.len()));
                self.values.push(None);
            }
            self.fit(&mut signs, pattern)?;
            self.calling = signs;
        }
        Some(self)
    }

    fn fit_called(&mut self, pattern: &DigitPattern) -> Option<()> {
        // What is learnt about the open end is learnt about the title as it set out, too.
        while self.now.is_open && self.now.signs.len() < pattern.places().len() {
            let sign = Sign::Unknown(self.values.len());
            self.values.push(None);
            self.now.signs.push(sign);
            self.first.signs.push(sign);
        }
        let mut now = self.now.clone();
        self.fit(&mut now, pattern)?;
        if !now.is_open && self.now.is_open {
            self.first.is_open = false;
        }
        self.now = now;
        Some(())
    }

    fn fit(&mut self, signs: &mut Signs, pattern: &DigitPattern) -> Option<()> {
        let places = pattern.places();
        if signs.signs.len() < places.len() || (!pattern.is_open() && signs.signs.len() > places.len()) {
            return None;
        }
        signs.is_open &= pattern.is_open();
        for (sign, place) in signs.signs.iter().zip(places) {
            let PatternPlace::Digit(wanted) = place else { continue };
            match *sign {
                Sign::Known(digit) if digit != *wanted => return None,
                Sign::Known(_) => {}
                Sign::Unknown(at) => match self.values[at] {
                    Some(digit) if digit != *wanted => return None,
                    _ => self.values[at] = Some(*wanted),
                },
            }
        }
        Some(())
    }

    pub(super) fn change(&mut self, rule: &Rule) {
        let change = &rule.change;
        for (at, set) in [change.translation_type, change.plan, change.nature].into_iter().enumerate() {
            if set.is_some() {
                self.attributes[1].values[at] = set;
                self.attributes[1].is_set[at] = true;
            }
        }
        let known =
            |digits: &Digits| digits.values().iter().map(|digit| Sign::Known(*digit)).collect::<Vec<_>>();
        match &change.digits {
            DigitChange::Edit { delete, insert, limit } => {
                while self.now.is_open && self.now.signs.len() < *delete {
                    let sign = Sign::Unknown(self.values.len());
                    self.values.push(None);
                    self.now.signs.push(sign);
                    self.first.signs.push(sign);
                }
                let rest = self.now.signs.get(*delete..).unwrap_or_default();
                self.now.signs = known(insert).into_iter().chain(rest.iter().copied()).collect();
                if self.now.signs.len() >= *limit {
                    self.now.signs.truncate(*limit);
                    self.now.is_open = false;
                }
            }
            DigitChange::Keep => {}
            DigitChange::Replace(digits) => self.now = Signs { signs: known(digits), is_open: false },
        }
    }

    /// The addresses as they set out, called and calling, with a digit for all that is not known.
    fn original(&self, fill: u8) -> (PartyAddress, PartyAddress) {
        let digits = |signs: &Signs| {
            let digit = |sign: &Sign| match *sign {
                Sign::Known(digit) => digit,
                Sign::Unknown(at) => self.values[at].unwrap_or(fill),
            };
            Digits::from_values(signs.signs.iter().map(digit))
        };
        let [translation_type, plan, nature] = self.attributes[0].values;
        // E.164 and international are what a title is that nobody asked about.
        let title = |digits| {
            GlobalTitle::with(
                Some(translation_type.unwrap_or(0)),
                Some(plan.unwrap_or(1)),
                Some(nature.unwrap_or(4)),
                digits,
            )
        };
        let called = PartyAddress {
            ssn: self.first_ssn,
            global_title: Some(title(digits(&self.first))),
            ..PartyAddress::default()
        };
        let calling =
            PartyAddress { global_title: Some(title(digits(&self.calling))), ..PartyAddress::default() };
        (called, calling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sccp::gtt::tests::{conditions_of, entity, group, rule};
    use crate::sccp::gtt::{Entity, Group, TitleChange};

    fn node(rules: Vec<Rule>, groups: Vec<Group>) -> Translator {
        Translator::new(rules, groups).unwrap()
    }

    fn to(code: u32) -> Group {
        group(&format!("to-{code}"), vec![entity(code, RouteOn::GlobalTitle)])
    }

    fn search(nodes: Vec<(u32, Translator)>) -> LoopSearch {
        find_loops(&nodes.into_iter().map(|(code, node)| (PointCode(code), node)).collect())
    }

    #[test]
    fn two_nodes_that_send_a_title_to_each_other_are_a_loop() {
        let one = node(vec![rule("one", "49*", "to-2")], vec![to(2)]);
        let two = node(vec![rule("two", "4917*", "to-1")], vec![to(1)]);
        let found = search(vec![(1, one), (2, two)]);
        assert!(found.is_complete);
        assert_eq!(found.loops.len(), 1);
        assert!(found.loops[0].is_certain);
        assert!(found.loops[0].digits.starts_with("4917"), "{found:?}");
        let path: Vec<_> = found.loops[0].path.iter().map(|(code, name)| (code.0, name.as_str())).collect();
        assert_eq!(path, [(1, "one"), (2, "two")]);
    }

    #[test]
    fn a_title_that_is_at_home_somewhere_is_no_loop() {
        let one = node(
            vec![rule("one", "49*", "to-2"), rule("one-home", "33*", "home")],
            vec![to(2), group("home", vec![entity(1, RouteOn::Ssn)])],
        );
        let two = node(
            vec![rule("two", "33*", "to-1"), rule("two-home", "49*", "home")],
            vec![to(1), group("home", vec![entity(2, RouteOn::Ssn)])],
        );
        assert_eq!(search(vec![(1, one), (2, two)]), LoopSearch { loops: vec![], is_complete: true });
    }

    #[test]
    fn a_loop_through_a_backup_and_a_change_of_digits_is_found() {
        let change = |delete, insert: &str| TitleChange {
            digits: DigitChange::Edit { delete, insert: Digits::parse(insert).unwrap(), limit: 15 },
            ..TitleChange::default()
        };
        let pair = group("pair", vec![entity(9, RouteOn::Ssn), entity(2, RouteOn::GlobalTitle)]);
        let one = node(vec![Rule { change: change(1, "0049"), ..rule("out", "0?*", "pair") }], vec![pair]);
        let two = node(vec![Rule { change: change(4, "0"), ..rule("back", "0049*", "to-1") }], vec![to(1)]);
        let found = search(vec![(1, one), (2, two)]);
        assert!(found.loops.iter().any(|found| found.is_certain), "{found:?}");
    }

    #[test]
    fn a_number_that_grows_on_its_way_round_is_a_loop() {
        let change = TitleChange {
            digits: DigitChange::Edit { delete: 0, insert: Digits::parse("4").unwrap(), limit: 255 },
            ..TitleChange::default()
        };
        let one = node(vec![Rule { change, ..rule("grow", "4*", "to-1") }], vec![to(1)]);
        let found = search(vec![(1, one)]);
        assert!(found.loops[0].is_certain, "{found:?}");
    }

    #[test]
    fn a_more_specific_rule_that_ends_a_title_breaks_the_loop() {
        let home = group("home", vec![entity(2, RouteOn::Ssn)]);
        let mut rules = vec![rule("back", "49*", "to-1")];
        rules.extend((0..10).map(|digit| rule(&format!("home-{digit}"), &format!("49{digit}*"), "home")));
        rules.push(rule("home", "49", "home"));
        let one = node(vec![rule("out", "49?*", "to-2")], vec![to(2)]);
        let two = node(rules, vec![to(1), home]);
        let found = search(vec![(1, one), (2, two)]);
        assert!(found.loops.iter().all(|found| !found.is_certain), "{found:?}");
    }

    #[test]
    fn a_loop_is_certain_where_its_rules_ask_for_the_same_and_none_where_they_ask_for_different_things() {
        let asking = |conditions, name: &str, to_other| {
            let group = to(to_other);
            node(vec![Rule { conditions, ..rule(name, "49*", &group.name) }], vec![group])
        };
        for ((first, same), other) in conditions_of(5).into_iter().zip(conditions_of(5)).zip(conditions_of(6))
        {
            let found = |second| {
                let one = asking(first.clone(), "one", 2);
                search(vec![(1, one), (2, asking(second, "two", 1))]).loops
            };
            let circles = found(same);
            assert!(matches!(circles.as_slice(), [TranslationLoop { is_certain: true, .. }]), "{circles:?}");
            assert_eq!(found(other), [], "{first:?}");
        }
    }

    #[test]
    fn a_subsystem_that_is_set_on_the_way_is_what_the_next_node_is_asked_for() {
        let over = |ssn| {
            let set = Entity { ssn: Some(Ssn(ssn)), ..entity(2, RouteOn::GlobalTitle) };
            let one = node(vec![rule("one", "49*", "set")], vec![group("set", vec![set])]);
            let conditions = Conditions { ssn: Some(Ssn(5)), ..Conditions::default() };
            let two = node(vec![Rule { conditions, ..rule("two", "49*", "to-1") }], vec![to(1)]);
            search(vec![(1, one), (2, two)]).loops.len()
        };
        assert_eq!((over(5), over(6)), (1, 0));
    }

    #[test]
    fn a_condition_that_a_change_defeats_breaks_the_loop() {
        let change = TitleChange { plan: Some(7), ..TitleChange::default() };
        let conditions = Conditions { plan: Some(6), ..Conditions::default() };
        let one = node(
            vec![Rule { change, conditions: conditions.clone(), ..rule("e214", "*", "to-2") }],
            vec![to(2)],
        );
        let two = node(vec![Rule { conditions, ..rule("imsi", "*", "to-1") }], vec![to(1)]);
        assert_eq!(search(vec![(1, one), (2, two)]), LoopSearch { loops: vec![], is_complete: true });
    }
}
