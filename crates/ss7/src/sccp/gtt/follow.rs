//! Endings of titles, read from the tables of all nodes before anything runs.
//!
//! [`find_dead_ends`] looks at each rule that sends titles on: whether the node behind it has any rule for them.
//! [`follow`] takes one called party through the real translations to wherever its messages may end.

use std::collections::{BTreeMap, BTreeSet};

use crate::PointCode;
use crate::mtp3::Sls;
use crate::sccp::gtt::loops::{HOPS, Title};
use crate::sccp::gtt::{Entity, NoTranslation, RouteOn, Share, Shared, Translator};
use crate::sccp::{PartyAddress, Ssn};

/// Steps after which following one called party ends.
const STEPS: usize = 100_000;

/// A rule whose titles find no rule where it sends them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadEnd {
    /// The node that translates.
    pub at: PointCode,
    /// Name of the rule at that node.
    pub rule: String,
    /// The node that should translate again.
    pub to: PointCode,
}

/// Outcomes for the messages of a called party.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// They come to that subsystem, or to none that is named.
    Arrives(Option<Ssn>),
    /// There is no translation.
    Fails(NoTranslation),
}

/// One place where messages for a called party end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Node at which they end.
    pub at: PointCode,
    /// Outcome for the messages there.
    pub outcome: Outcome,
    /// The nodes that translated on the way there, with their rules.
    pub path: Vec<(PointCode, String)>,
    /// True if they come here only while another entity cannot be reached.
    pub is_backup: bool,
}

/// Everything that was found about one called party.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// Each place and outcome once, those that are no backup first.
    pub endings: Vec<Ending>,
    /// True if every way was followed to its end. Ways that are too many, or longer than a hop counter lets them be,
    /// are not: [`find_loops`](super::find_loops) tells of circles.
    pub is_complete: bool,
}

/// Every rule that sends titles on to a node which has no rule that fits any of them.
pub fn find_dead_ends(nodes: &BTreeMap<PointCode, Translator>) -> Vec<DeadEnd> {
    let mut found = Vec::new();
    for (code, translator) in nodes {
        for (rule, group) in translator.rules.iter().zip(&translator.targets) {
            let Some(mut title) = Title::unknown().unified(rule) else { continue };
            title.change(rule);
            let entities = &translator.groups[*group as usize].entities;
            for entity in entities.iter().filter(|entity| entity.routing == RouteOn::GlobalTitle) {
                let mut onward = title.clone();
                onward.ssn = entity.ssn.or(onward.ssn);
                let rules = nodes.get(&entity.point_code).into_iter().flat_map(|next| &next.rules);
                if !rules.into_iter().any(|next| onward.clone().unified(next).is_some()) {
                    found.push(DeadEnd { at: *code, rule: rule.name.clone(), to: entity.point_code });
                }
            }
        }
    }
    found
}

/// Follows messages in sequence with these link selections, one after the other and with no other traffic, from the
/// node that translates first, while every entity can be reached, and then with each that cannot.
pub fn follow(
    nodes: &BTreeMap<PointCode, Translator>,
    start: PointCode,
    called: &PartyAddress,
    calling: &PartyAddress,
    selections: &[Sls],
) -> Followed {
    let mut followed = Followed { endings: Vec::new(), is_complete: true };
    let mut steps = 0;
    let mut shared: BTreeMap<(PointCode, usize), Shared> = BTreeMap::new();
    for sls in selections {
        let mut seen: BTreeSet<(PointCode, Vec<u8>, bool)> = BTreeSet::new();
        let mut ahead = vec![(start, called.clone(), Vec::new(), false)];
        while let Some((code, called, path, is_backup)) = ahead.pop() {
            steps += 1;
            if steps > STEPS || path.len() > HOPS {
                followed.is_complete = false;
                continue;
            }
            let mut octets = Vec::new();
            called.emit(&mut octets);
            if !seen.insert((code, octets, is_backup)) {
                continue;
            }
            let none = Err(NoTranslation::Nature);
            let translation = nodes.get(&code).map_or(none, |node| node.translate(&called, Some(calling)));
            let translation = match translation {
                Ok(translation) => translation,
                Err(error) => {
                    followed.note(Ending { at: code, outcome: Outcome::Fails(error), path, is_backup });
                    continue;
                }
            };
            let path = [&path[..], &[(code, translation.rule.name.clone())]].concat();
            let share = Share { sls: *sls, in_sequence: true };
            let shared = shared.entry((code, translation.group_number)).or_default();
            let first = translation.group.select(share, shared, |_| true);
            for entity in &translation.group.entities {
                let address = translation.rule.address(&called, entity);
                let is_backup = is_backup || !first.is_some_and(|first| core::ptr::eq(first, entity));
                if ends_at(entity, code) {
                    let (at, outcome) = (entity.point_code, Outcome::Arrives(address.ssn));
                    followed.note(Ending { at, outcome, path: path.clone(), is_backup });
                } else {
                    ahead.push((entity.point_code, address, path.clone(), is_backup));
                }
            }
        }
    }
    followed.endings.sort_by_key(|ending| ending.is_backup);
    followed
}

/// Tells if nobody translates behind an entity of a node.
fn ends_at(entity: &Entity, node: PointCode) -> bool {
    entity.routing == RouteOn::Ssn || entity.point_code == node
}

impl Followed {
    /// Keeps an ending, or its better way there.
    fn note(&mut self, ending: Ending) {
        let alike = |known: &&mut Ending| (known.at, known.outcome) == (ending.at, ending.outcome);
        match self.endings.iter_mut().find(alike) {
            Some(known) if known.is_backup && !ending.is_backup => *known = ending,
            Some(_) => {}
            None => self.endings.push(ending),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sccp::gtt::tests::{conditions_of, entity, group, rule, titled};
    use crate::sccp::gtt::{Conditions, Group, Rule, Sharing, TitleChange, numbering_plan};

    fn nodes(tables: Vec<(u32, Vec<Rule>, Vec<Group>)>) -> BTreeMap<PointCode, Translator> {
        let table = |(code, rules, groups)| (PointCode(code), Translator::new(rules, groups).unwrap());
        tables.into_iter().map(table).collect()
    }

    fn ends(nodes: &BTreeMap<PointCode, Translator>, digits: &str, links: u8) -> Vec<(u32, Outcome, bool)> {
        let selections: Vec<Sls> = (0..links).map(Sls).collect();
        let followed = follow(nodes, PointCode(1), &titled(digits), &PartyAddress::default(), &selections);
        assert!(followed.is_complete);
        followed.endings.iter().map(|ending| (ending.at.0, ending.outcome, ending.is_backup)).collect()
    }

    const SIX: Outcome = Outcome::Arrives(Some(Ssn(6)));

    #[test]
    fn a_node_without_a_rule_for_what_it_gets_is_a_dead_end() {
        let onward = || group("on", vec![entity(2, RouteOn::GlobalTitle)]);
        let home = || group("home", vec![entity(3, RouteOn::Ssn)]);
        let dead = |next: Vec<Rule>, change: TitleChange| {
            let first = Rule { change, ..rule("first", "49*", "on") };
            let nodes = nodes(vec![(1, vec![first], vec![onward()]), (2, next, vec![home()])]);
            find_dead_ends(&nodes).len()
        };
        let keep = TitleChange::default;
        assert_eq!(dead(vec![], keep()), 1);
        assert_eq!(dead(vec![rule("a", "33*", "home")], keep()), 1);
        assert_eq!(dead(vec![rule("a", "33*", "home"), rule("b", "4912", "home")], keep()), 0);
        let e214 = |digits| {
            let conditions = Conditions { plan: Some(numbering_plan::E214), ..Conditions::default() };
            vec![Rule { conditions, ..rule("a", digits, "home") }]
        };
        let change = |plan| TitleChange { plan: Some(plan), ..TitleChange::default() };
        assert_eq!(dead(e214("49*"), change(numbering_plan::E214)), 0);
        assert_eq!(dead(e214("49*"), change(numbering_plan::E164)), 1);
    }

    #[test]
    fn a_node_whose_rules_ask_for_what_no_title_has_that_comes_there_is_a_dead_end() {
        let asking = |conditions, name: &str, group: &str| Rule { conditions, ..rule(name, "49*", group) };
        for ((first, same), other) in conditions_of(5).into_iter().zip(conditions_of(5)).zip(conditions_of(6))
        {
            let dead = |second| {
                let onward = group("on", vec![entity(2, RouteOn::GlobalTitle)]);
                let home = group("home", vec![entity(3, RouteOn::Ssn)]);
                let one = vec![asking(first.clone(), "first", "on")];
                let nodes =
                    nodes(vec![(1, one, vec![onward]), (2, vec![asking(second, "a", "home")], vec![home])]);
                find_dead_ends(&nodes).len()
            };
            assert_eq!((dead(same), dead(other)), (0, 1), "{first:?}");
        }
    }

    #[test]
    fn a_node_that_is_not_there_is_a_dead_end() {
        let onward = group("on", vec![entity(2, RouteOn::GlobalTitle)]);
        let nodes = nodes(vec![(1, vec![rule("first", "49*", "on")], vec![onward])]);
        let end = DeadEnd { at: PointCode(1), rule: "first".into(), to: PointCode(2) };
        assert_eq!(find_dead_ends(&nodes), [end]);
    }

    #[test]
    fn a_title_is_followed_over_two_nodes_and_over_a_backup() {
        let onward = group("on", vec![entity(2, RouteOn::GlobalTitle), entity(3, RouteOn::Ssn)]);
        let home = group("home", vec![entity(4, RouteOn::Ssn)]);
        let nodes = nodes(vec![
            (1, vec![rule("first", "49*", "on")], vec![onward]),
            (2, vec![rule("second", "491*", "home")], vec![home]),
        ]);
        assert_eq!(ends(&nodes, "4912", 1), [(4, SIX, false), (3, SIX, true)]);
        let fails = Outcome::Fails(NoTranslation::Address);
        assert_eq!(ends(&nodes, "4922", 1), [(2, fails, false), (3, SIX, true)]);
        assert_eq!(ends(&nodes, "3322", 1), [(1, fails, false)]);
    }

    #[test]
    fn what_is_shared_follows_the_weights_of_the_link_selections_in_use() {
        let heavy = Entity { weight: 3, ..entity(2, RouteOn::Ssn) };
        let entities = vec![heavy, entity(3, RouteOn::Ssn)];
        let shared = Group { sharing: Sharing::LinkSelection, ..group("shared", entities) };
        let nodes = nodes(vec![(1, vec![rule("first", "49*", "shared")], vec![shared])]);
        // Two link selections are too few for the second, whose share is a quarter.
        assert_eq!(ends(&nodes, "49", 2), [(2, SIX, false), (3, SIX, true)]);
        assert_eq!(ends(&nodes, "49", 3), [(2, SIX, false), (3, SIX, false)]);
    }

    #[test]
    fn a_circle_is_left_to_the_search_for_loops() {
        let back = |name: &str, to| group(name, vec![entity(to, RouteOn::GlobalTitle)]);
        let nodes = nodes(vec![
            (1, vec![rule("there", "4*", "a")], vec![back("a", 2)]),
            (2, vec![rule("back", "4*", "b")], vec![back("b", 1)]),
        ]);
        assert_eq!(ends(&nodes, "49", 1), []);
    }
}
