//! Explanation of a global title in words: which rule takes it at each point, where to, and what may stop it.
//!
//! Tables alone say that offline. A point that runs says besides which of its targets it cannot reach now.

use std::collections::{BTreeSet, VecDeque};

use slantpath_signalling::network::NetworkConfig;
use slantpath_signalling::{ScreeningAction, ScreeningConfig};
use slantpath_ss7::sccp::gtt::{Conditions, Entity, NoTranslation, PatternPlace, RouteOn, Rule, Sharing};
use slantpath_ss7::sccp::{Digits, DigitsError, GlobalTitle, PartyAddress, ReturnCause, Ssn};
use slantpath_ss7::{PointCode, PointCodeFormat, sccp};

/// Translations after which the hop counter of a message is used up (Q.714, section 2.3.1).
const HOPS: usize = 15;
/// Number of translations after which an explanation ends.
const STEPS: usize = 200;
/// Rules that are named where none agrees with a title.
const NAMED: usize = 3;

/// A title that is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TitleQuestion {
    /// Point that is given the message first.
    pub at: PointCode,
    /// Called party, with the title.
    pub called: PartyAddress,
    /// Address of the calling party.
    pub calling: PartyAddress,
}

/// Title as a person writes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenTitle<'a> {
    /// Digits of the called party.
    pub digits: &'a str,
    /// Translation type of the title, if it has one.
    pub translation_type: Option<u8>,
    /// Numbering plan of the title, if it has one.
    pub plan: Option<u8>,
    /// Nature of address of the title, if it has one.
    pub nature: Option<u8>,
    /// Subsystem of the called party, if one is called.
    pub subsystem: Option<u8>,
    /// Digits of the calling party, if it has a title, of the same kind.
    pub calling: Option<&'a str>,
}

/// Why there is no question about a title.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TitleError {
    /// Digits that are none.
    #[error(transparent)]
    Digits(#[from] DigitsError),
    /// No point has that name.
    #[error("there is no point `{name}`; points: {}", known.join(", "))]
    UnknownPoint {
        /// Name that was given.
        name: String,
        /// Names of all points.
        known: Vec<String>,
    },
}

impl WrittenTitle<'_> {
    /// The called and the calling party.
    ///
    /// # Errors
    /// If digits are none.
    pub fn parties(&self) -> Result<(PartyAddress, PartyAddress), DigitsError> {
        let title = |digits| {
            let digits = Digits::parse(digits)?;
            Ok::<_, DigitsError>(GlobalTitle::with(self.translation_type, self.plan, self.nature, digits))
        };
        let called = PartyAddress {
            ssn: self.subsystem.map(Ssn),
            global_title: Some(title(self.digits)?),
            ..PartyAddress::default()
        };
        let calling = self.calling.map(title).transpose()?;
        Ok((called, PartyAddress { global_title: calling, ..PartyAddress::default() }))
    }

    /// The question for it at a point of that name.
    ///
    /// # Errors
    /// If digits are none, or no point has the name.
    pub fn asked_at(&self, network: &NetworkConfig, point: &str) -> Result<TitleQuestion, TitleError> {
        let (called, calling) = self.parties()?;
        let points = || {
            let points = network.points.iter().map(|own| (own.mtp3.name.as_str(), own.mtp3.point_code));
            points.chain(network.m3ua.points.iter().map(|own| (own.name.as_str(), own.code)))
        };
        let at = points().find(|(name, _)| *name == point).map(|(_, code)| code);
        let known = || points().map(|(name, _)| name.to_owned()).collect();
        let at = at.ok_or_else(|| TitleError::UnknownPoint { name: point.to_owned(), known: known() })?;
        Ok(TitleQuestion { at, called, calling })
    }
}

/// Answer about a title.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TitleExplanation {
    /// Lines of words, in their order.
    pub lines: Vec<String>,
    /// True if every way of the title ends at a subsystem.
    pub arrives: bool,
}

/// A reason for which a running point does not reach a subsystem, if there is one.
pub type ReachedNow<'a> = &'a dyn Fn(PointCode, Option<Ssn>) -> Option<ReturnCause>;

/// Explains a title by the tables of all points. `now` is asked about the targets of the first point, if it runs.
pub fn explain_title(
    network: &NetworkConfig,
    question: &TitleQuestion,
    now: Option<ReachedNow<'_>>,
) -> TitleExplanation {
    let names = Names(network);
    let mut explanation = TitleExplanation { lines: Vec::new(), arrives: true };
    let mut ahead = VecDeque::from([(question.at, question.called.clone(), 0_usize)]);
    let mut seen: BTreeSet<(PointCode, String)> = BTreeSet::new();
    let mut steps = 0;
    while let Some((at, called, hops)) = ahead.pop_front() {
        if !seen.insert((at, words_of(&called))) {
            let name = names.point(at);
            explanation.end(format!(
                "   {name} has had it before: it goes in a circle, which the hop counter ends (return cause 12)"
            ));
            continue;
        }
        steps += 1;
        if steps > STEPS || hops > HOPS {
            explanation.end("   there are more translations than a hop counter lets be".to_owned());
            break;
        }
        explanation.lines.push(format!("{steps}. {} has {}", names.point(at), words_of(&called)));
        explanation.lines.extend(screened(names.screening(at), at, &called));
        let Some(sccp) = names.sccp(at).filter(|sccp| !sccp.translator.rules().is_empty()) else {
            explanation.end(format!(
                "   {} translates nothing: {}",
                names.point(at),
                returned(NoTranslation::Nature)
            ));
            continue;
        };
        match sccp.translator.translate(&called, Some(&question.calling)) {
            Err(why) => {
                explanation.end(format!("   no rule takes it: {}", returned(why)));
                let rules = sccp.translator.rules();
                explanation.lines.extend(nearest(rules, &called, &question.calling));
            }
            Ok(translation) => {
                let Rule { name, digits, .. } = translation.rule;
                explanation.lines.push(format!("   `{name}` takes it, by its digits `{digits}`"));
                explanation
                    .lines
                    .extend(sharing(translation.group.sharing, translation.group.entities.len()));
                for entity in &translation.group.entities {
                    let address = translation.rule.address(&called, entity);
                    let reached = now.filter(|_| steps == 1);
                    let failure = reached.and_then(|now| now(entity.point_code, target(entity, &address)));
                    explanation.lines.push(names.onward(at, entity, &address, failure));
                    if entity.routing == RouteOn::GlobalTitle && entity.point_code != at {
                        ahead.push_back((entity.point_code, address, hops + 1));
                    } else if let Some(wrong) = names.missing(entity.point_code, address.ssn) {
                        explanation.end(wrong);
                    }
                }
            }
        }
    }
    explanation
}

impl TitleExplanation {
    /// One way ends without an arrival.
    fn end(&mut self, line: String) {
        self.arrives = false;
        self.lines.push(line);
    }
}

/// The subsystem at an entity whose state matters to whoever translates for it.
fn target(entity: &Entity, address: &PartyAddress) -> Option<Ssn> {
    if entity.routing == RouteOn::Ssn { address.ssn } else { None }
}

fn returned(why: NoTranslation) -> String {
    let (cause, words) = match why {
        NoTranslation::Address => (ReturnCause::NO_TRANSLATION_FOR_ADDRESS, "for this address"),
        NoTranslation::Nature => (ReturnCause::NO_TRANSLATION_FOR_NATURE, "for an address of such nature"),
    };
    format!("no translation {words} (return cause {})", cause.0)
}

/// A title with its attributes.
pub(crate) fn words_of(party: &PartyAddress) -> String {
    let Some(title) = &party.global_title else { return "no title".to_owned() };
    let attributes = title.attributes();
    let of = |name: &str, value: Option<u8>| value.map(|value| format!("{name} {value}"));
    let words = [
        of("translation type", attributes.translation_type),
        of("plan", attributes.plan),
        of("nature", attributes.nature),
        of("subsystem", party.ssn.map(|ssn| ssn.0)),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    format!("{} ({})", title.digits(), words.join(", "))
}

fn sharing(sharing: Sharing, entities: usize) -> Option<String> {
    let words = match sharing {
        Sharing::Dominant => "to the first of these that can be reached:",
        Sharing::LinkSelection => "to one of these for each link selection, by their weights:",
        Sharing::Turns => "to these in turns, by their weights:",
    };
    (entities > 1).then(|| format!("   {words}"))
}

/// Rules and rates that a message with that called party may meet as it comes to a point.
fn screened(config: Option<&ScreeningConfig>, at: PointCode, called: &PartyAddress) -> Vec<String> {
    let mut lines = Vec::new();
    let Some(config) = config else { return lines };
    for rule in &config.rules {
        let Some(is_certain) = rule.criteria.concerns_title(at, called) else { continue };
        let does = match rule.action {
            ScreeningAction::Allow => "lets it pass".to_owned(),
            ScreeningAction::Discard => "discards it".to_owned(),
            ScreeningAction::Reject(cause) => format!("rejects it (return cause {})", cause.0),
        };
        let when = if is_certain { "" } else { ", where all that it asks for fits" };
        lines.push(format!("   screening: `{}` {does}{when}", rule.name));
        if is_certain {
            break;
        }
    }
    for rate in &config.rates {
        if let Some(is_certain) = rate.criteria.concerns_title(at, called) {
            let when = if is_certain && rate.towards.is_none() {
                ""
            } else {
                ", where it comes from or goes to there"
            };
            lines.push(format!(
                "   rate: `{}` lets {} messages a second pass{when}",
                rate.name, rate.messages_per_second
            ));
        }
    }
    lines
}

/// Advice on what would be right: rules that its digits fit and that ask for something else, or the nearest digits.
fn nearest(rules: &[Rule], called: &PartyAddress, calling: &PartyAddress) -> Vec<String> {
    let Some(title) = &called.global_title else { return Vec::new() };
    let digits = title.digits();
    let fitting: Vec<String> = rules
        .iter()
        .filter(|rule| rule.digits.matches(digits.values()))
        .map(|rule| {
            let asked = unmet(&rule.conditions, title, called.ssn, calling).join(", ");
            format!(
                "   did you mean {asked}? So `{}` would take it, by its digits `{}`",
                rule.name, rule.digits
            )
        })
        .collect();
    if !fitting.is_empty() {
        return fitting;
    }
    let common = |rule: &Rule| {
        let pairs = rule.digits.places().iter().zip(digits.values());
        pairs
            .take_while(|(place, digit)| {
                **place == PatternPlace::Any || **place == PatternPlace::Digit(**digit)
            })
            .count()
    };
    let Some(best) = rules.iter().rev().max_by_key(|rule| common(rule)) else { return Vec::new() };
    let (agree, length) = (common(best), digits.values().len());
    let why = if agree == length.min(best.digits.places().len()) {
        format!("whose digits are more or fewer than these {length}")
    } else {
        match agree {
            0 => {
                let begin =
                    rules.iter().take(NAMED).map(|rule| format!("`{}` of `{}`", rule.digits, rule.name));
                let more = if rules.len() > NAMED { ", ..." } else { "" };
                let begin = begin.collect::<Vec<_>>().join(", ");
                return vec![format!("   no rule's digits begin as these do: there is {begin}{more}")];
            }
            1 => "with which it agrees in the first digit alone".to_owned(),
            _ => format!("with which it agrees in the first {agree} digits"),
        }
    };
    vec![format!("   the nearest digits are `{}` of `{}`, {why}", best.digits, best.name)]
}

/// Conditions of a rule that a title does not meet, as the flags that would set them.
fn unmet(wanted: &Conditions, title: &GlobalTitle, ssn: Option<Ssn>, calling: &PartyAddress) -> Vec<String> {
    let attributes = title.attributes();
    let of = |flag: &str, wanted: Option<u8>, given: Option<u8>| {
        wanted.filter(|wanted| Some(*wanted) != given).map(|wanted| format!("`--{flag} {wanted}`"))
    };
    let calls = wanted.calling.as_ref().filter(|pattern| {
        calling.global_title.as_ref().is_none_or(|title| !pattern.matches(title.digits().values()))
    });
    let flags = [
        of("translation-type", wanted.translation_type, attributes.translation_type),
        of("plan", wanted.plan, attributes.plan),
        of("nature", wanted.nature, attributes.nature),
        of("subsystem", wanted.ssn.map(|ssn| ssn.0), ssn.map(|ssn| ssn.0)),
        calls.map(|pattern| format!("`--calling '{pattern}'`")),
    ];
    flags.into_iter().flatten().collect()
}

/// The network's points by their codes.
struct Names<'a>(&'a NetworkConfig);

impl<'a> Names<'a> {
    fn name(&self, code: PointCode) -> Option<&'a str> {
        let points = self.0.points.iter().map(|point| (point.mtp3.point_code, point.mtp3.name.as_str()));
        let served = self.0.m3ua.points.iter().map(|point| (point.code, point.name.as_str()));
        points.chain(served).find(|(own, _)| *own == code).map(|(_, name)| name)
    }

    fn point(&self, code: PointCode) -> String {
        let format = self.0.points.first().map_or(PointCodeFormat::Itu, |point| point.mtp3.format);
        let code_in_words = code.display(format);
        match self.name(code) {
            Some(name) => format!("`{name}` ({code_in_words})"),
            None => format!("{code_in_words}, which is no point of the file,"),
        }
    }

    fn sccp(&self, code: PointCode) -> Option<&'a sccp::NodeConfig> {
        let of_points = self.0.points.iter().map(|point| (point.mtp3.point_code, point.sccp.as_ref()));
        let served = self.0.m3ua.points.iter().map(|point| (point.code, point.sccp.as_ref()));
        of_points.chain(served).find(|(own, _)| *own == code).and_then(|(_, sccp)| sccp)
    }

    fn screening(&self, code: PointCode) -> Option<&'a ScreeningConfig> {
        let point = self.0.points.iter().find(|point| point.mtp3.point_code == code);
        point.map(|point| &point.screening)
    }

    /// Follows where a message goes from a point, for one entity of a group.
    fn onward(
        &self,
        at: PointCode,
        entity: &Entity,
        address: &PartyAddress,
        failure: Option<ReturnCause>,
    ) -> String {
        let point = self.point(entity.point_code);
        let place = if entity.point_code == at { "here".to_owned() } else { format!("at {point}") };
        let ssn = address.ssn.map_or_else(|| "no subsystem".to_owned(), |ssn| format!("subsystem {}", ssn.0));
        let way = match entity.routing {
            RouteOn::GlobalTitle if entity.point_code != at => {
                format!("to {point}, which translates it again, as {}", words_of(address))
            }
            RouteOn::GlobalTitle | RouteOn::Ssn => format!("to {ssn} {place}"),
        };
        let weight = if entity.weight > 1 { format!(", weight {}", entity.weight) } else { String::new() };
        let now = failure
            .map(|cause| format!("; not reached now: {} (return cause {})", cause.name(" "), cause.0))
            .unwrap_or_default();
        format!("   {way}{weight}{now}")
    }

    /// Finds what is wrong with the end of a way, if anything is.
    fn missing(&self, code: PointCode, ssn: Option<Ssn>) -> Option<String> {
        let point = self.point(code);
        let sccp = self.sccp(code);
        let has = |ssn: Ssn| sccp.is_some_and(|sccp| sccp.subsystems.contains_key(&ssn));
        match ssn {
            Some(ssn) if has(ssn) => None,
            Some(ssn) => Some(format!("   {point} has no subsystem {} (return cause 4)", ssn.0)),
            None => Some(format!("   {point} is given no subsystem (return cause 4)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_signalling::network;
    use slantpath_ss7::mtp3::{NetworkIndicator, node};
    use slantpath_ss7::sccp::Subsystem;
    use slantpath_ss7::sccp::gtt::{DigitPattern, Group, TitleChange, Translator};

    fn rule(name: &str, digits: &str, conditions: Conditions) -> Rule {
        let digits = DigitPattern::parse(digits).unwrap();
        let group = name.to_owned();
        Rule { name: name.to_owned(), digits, conditions, change: TitleChange::default(), group }
    }

    fn group(name: &str, code: u32, routing: RouteOn) -> Group {
        let entity = Entity { point_code: PointCode(code), ssn: Some(Ssn(6)), routing, weight: 1 };
        Group { name: name.to_owned(), sharing: Sharing::Dominant, entities: vec![entity] }
    }

    fn point(code: u32, name: &str, rules: Vec<Rule>, groups: Vec<Group>) -> network::PointConfig {
        let mut sccp = sccp::NodeConfig::new(PointCode(code), NetworkIndicator::International);
        sccp.translator = Translator::new(rules, groups).unwrap();
        if code == 3 {
            sccp.subsystems.insert(Ssn(6), Subsystem::default());
        }
        let mtp3 = node::Config::new(name, PointCode(code));
        network::PointConfig {
            mtp3,
            sccp: Some(sccp),
            processor: None,
            screening: ScreeningConfig::default(),
        }
    }

    fn network() -> NetworkConfig {
        let nature = Conditions { nature: Some(4), ..Conditions::default() };
        let first =
            vec![rule("on", "49*", Conditions::default()), rule("back", "33*", Conditions::default())];
        let onward = vec![group("on", 2, RouteOn::GlobalTitle), group("back", 2, RouteOn::GlobalTitle)];
        let second = vec![rule("home", "4917*", nature), rule("circle", "33*", Conditions::default())];
        let home = vec![group("home", 3, RouteOn::Ssn), group("circle", 1, RouteOn::GlobalTitle)];
        let points = vec![
            point(1, "one", first, onward),
            point(2, "two", second, home),
            point(3, "three", vec![], vec![]),
        ];
        NetworkConfig { points, ..NetworkConfig::default() }
    }

    fn told(digits: &str, nature: u8) -> TitleExplanation {
        let title = GlobalTitle::with(Some(0), Some(1), Some(nature), Digits::parse(digits).unwrap());
        let called = PartyAddress { ssn: Some(Ssn(6)), global_title: Some(title), ..PartyAddress::default() };
        let question = TitleQuestion { at: PointCode(1), called, calling: PartyAddress::default() };
        explain_title(&network(), &question, None)
    }

    #[test]
    fn a_title_is_followed_over_two_points_to_its_subsystem() {
        let lines = [
            "1. `one` (0-0-1) has 49171 (translation type 0, plan 1, nature 4, subsystem 6)",
            "   `on` takes it, by its digits `49*`",
            "   to `two` (0-0-2), which translates it again, as 49171 (translation type 0, plan 1, nature 4, subsystem \
             6)",
            "2. `two` (0-0-2) has 49171 (translation type 0, plan 1, nature 4, subsystem 6)",
            "   `home` takes it, by its digits `4917*`",
            "   to subsystem 6 at `three` (0-0-3)",
        ];
        let explanation = told("49171", 4);
        assert_eq!(explanation.lines, lines);
        assert!(explanation.arrives);
    }

    #[test]
    fn a_title_that_no_rule_takes_is_told_what_would_be_right() {
        let last = |digits, nature| told(digits, nature).lines.pop().unwrap();
        assert_eq!(
            last("49171", 3),
            "   did you mean `--nature 4`? So `home` would take it, by its digits `4917*`"
        );
        assert_eq!(
            last("49151", 4),
            "   the nearest digits are `4917*` of `home`, with which it agrees in the first 3 digits"
        );
        assert!(!told("49151", 4).arrives);
        assert_eq!(
            last("45", 4),
            "   the nearest digits are `49*` of `on`, with which it agrees in the first digit alone"
        );
        let none = last("77", 4);
        assert!(none.starts_with("   no rule's digits begin as these do: there is `"), "{none}");
        assert!(none.contains("`49*` of `on`"), "{none}");
    }

    #[test]
    fn a_title_in_a_circle_ends_by_the_hop_counter() {
        let explanation = told("331", 4);
        assert!(explanation.lines.last().unwrap().contains("it goes in a circle"), "{explanation:?}");
        assert!(!explanation.arrives);
    }

    #[test]
    fn a_point_that_runs_says_what_it_does_not_reach() {
        let title = GlobalTitle::with(Some(0), Some(1), Some(4), Digits::parse("49171").unwrap());
        let called = PartyAddress { global_title: Some(title), ..PartyAddress::default() };
        let question = TitleQuestion { at: PointCode(2), called, calling: PartyAddress::default() };
        let now = |_, _| Some(ReturnCause::MTP_FAILURE);
        let explanation = explain_title(&network(), &question, Some(&now));
        let line = "   to subsystem 6 at `three` (0-0-3); not reached now: mtp failure (return cause 5)";
        assert_eq!(explanation.lines.last().unwrap(), line);
    }

    fn asked_in(network: &NetworkConfig, at: u32, now: Option<ReachedNow<'_>>) -> TitleExplanation {
        let title = GlobalTitle::with(Some(0), Some(1), Some(4), Digits::parse("49171").unwrap());
        let called = PartyAddress { ssn: Some(Ssn(6)), global_title: Some(title), ..PartyAddress::default() };
        let calling = PartyAddress::default();
        explain_title(network, &TitleQuestion { at: PointCode(at), called, calling }, now)
    }

    /// Points of codes from 1 on: one in front of subsystem 6 at the point of code 3.
    fn with_rules(rules: Vec<Rule>, groups: Vec<Group>) -> NetworkConfig {
        let points = vec![point(1, "one", rules, groups), point(3, "three", vec![], vec![])];
        NetworkConfig { points, ..NetworkConfig::default() }
    }

    /// The first point is where the message begins: each further one takes one of 15 hops.
    #[test]
    fn a_title_is_translated_sixteen_times_and_not_once_more() {
        let chain = |count: u32| {
            let translating = |code: u32| {
                // The codes leave out that of the end.
                let (own, next) = (code + 9, if code == count { 3 } else { code + 10 });
                let routing = if code == count { RouteOn::Ssn } else { RouteOn::GlobalTitle };
                let rules = vec![rule("on", "49*", Conditions::default())];
                point(own, &format!("point-{code}"), rules, vec![group("on", next, routing)])
            };
            let mut points: Vec<_> = (1..=count).map(translating).collect();
            points.push(point(3, "three", vec![], vec![]));
            NetworkConfig { points, ..NetworkConfig::default() }
        };
        assert!(asked_in(&chain(16), 10, None).arrives);
        let refused = asked_in(&chain(17), 10, None);
        assert!(!refused.arrives);
        assert_eq!(
            refused.lines.last().unwrap(),
            "   there are more translations than a hop counter lets be"
        );
    }

    #[test]
    fn screening_is_told_up_to_the_rule_that_decides_for_certain() {
        use slantpath_signalling::{Gate, RateLimit, ScreeningCriteria, ScreeningRule};
        use slantpath_ss7::mtp3::node::LinkSetId;
        let of_title = || ScreeningCriteria {
            called: Some(DigitPattern::parse("49*").unwrap()),
            ..ScreeningCriteria::default()
        };
        let named = |name: &str, criteria, action| ScreeningRule {
            name: name.to_owned(),
            criteria,
            action,
            copies: false,
        };
        let from_one = ScreeningCriteria { calling_ssns: vec![Ssn(8)], ..ScreeningCriteria::default() };
        let elsewhere = ScreeningCriteria { dpcs: vec![PointCode(2)], ..ScreeningCriteria::default() };
        let rate = |name: &str, towards| RateLimit {
            name: name.to_owned(),
            criteria: of_title(),
            towards,
            messages_per_second: 5,
            burst: 1,
        };
        let mut network = with_rules(
            vec![rule("home", "49*", Conditions::default())],
            vec![group("home", 3, RouteOn::Ssn)],
        );
        network.points[0].screening = ScreeningConfig {
            rules: vec![
                named("other", elsewhere, ScreeningAction::Discard),
                named("first", from_one, ScreeningAction::Allow),
                named("second", of_title(), ScreeningAction::Reject(ReturnCause::UNQUALIFIED)),
                named("third", ScreeningCriteria::default(), ScreeningAction::Discard),
            ],
            rates: vec![rate("slow", None), rate("there", Some(Gate::LinkSet(LinkSetId(0))))],
        };
        assert_eq!(
            asked_in(&network, 1, None).lines[1..5],
            [
                "   screening: `first` lets it pass, where all that it asks for fits",
                "   screening: `second` rejects it (return cause 7)",
                "   rate: `slow` lets 5 messages a second pass",
                "   rate: `there` lets 5 messages a second pass, where it comes from or goes to there",
            ]
        );
    }

    #[test]
    fn a_group_says_how_it_shares_and_a_weight_where_there_is_one() {
        let told = |sharing, weights: &[u32]| {
            let here = group("home", 3, RouteOn::Ssn).entities[0];
            let entities = weights.iter().map(|weight| Entity { weight: *weight, ..here }).collect();
            let own = Group { name: "home".to_owned(), sharing, entities };
            let network = with_rules(vec![rule("home", "49*", Conditions::default())], vec![own]);
            asked_in(&network, 1, None).lines.split_off(2)
        };
        let here = "   to subsystem 6 at `three` (0-0-3)";
        assert_eq!(told(Sharing::Turns, &[1]), [here]);
        let heavy = "   to subsystem 6 at `three` (0-0-3), weight 2";
        for (sharing, words) in [
            (Sharing::Dominant, "   to the first of these that can be reached:"),
            (Sharing::LinkSelection, "   to one of these for each link selection, by their weights:"),
            (Sharing::Turns, "   to these in turns, by their weights:"),
        ] {
            assert_eq!(told(sharing, &[1, 2]), [words, here, heavy]);
        }
    }

    /// A running point knows what it reaches itself, and no subsystem of a point that translates again.
    #[test]
    fn a_point_that_runs_is_asked_for_its_own_targets_alone() {
        let asked = std::cell::RefCell::new(Vec::new());
        let now = |code: PointCode, ssn: Option<Ssn>| {
            asked.borrow_mut().push((code.0, ssn));
            None
        };
        assert!(asked_in(&network(), 1, Some(&now)).arrives);
        assert_eq!(asked.take(), [(2, None)]);
        assert!(asked_in(&network(), 2, Some(&now)).arrives);
        assert_eq!(asked.take(), [(3, Some(Ssn(6)))]);
    }

    #[test]
    fn conditions_that_fail_are_told_as_the_flags_that_meet_them() {
        let last = |digits: &str, conditions| {
            let network =
                with_rules(vec![rule("home", digits, conditions)], vec![group("home", 3, RouteOn::Ssn)]);
            asked_in(&network, 1, None).lines.pop().unwrap()
        };
        let calling = DigitPattern::parse("44*").unwrap();
        let wanted = Conditions {
            translation_type: Some(9),
            plan: Some(7),
            nature: Some(3),
            ssn: Some(Ssn(8)),
            calling: Some(calling),
        };
        assert_eq!(
            last("49*", wanted),
            "   did you mean `--translation-type 9`, `--plan 7`, `--nature 3`, `--subsystem 8`, `--calling '44*'`? So \
             `home` would take it, by its digits `49*`"
        );
        for digits in ["4917", "491711"] {
            let told = format!(
                "   the nearest digits are `{digits}` of `home`, whose digits are more or fewer than these 5"
            );
            assert_eq!(last(digits, Conditions::default()), told);
        }
    }

    #[test]
    fn a_title_is_returned_with_the_cause_of_its_point() {
        let lines = asked_in(&network(), 3, None).lines;
        let nature = "   `three` (0-0-3) translates nothing: no translation for an address of such nature (return \
                      cause 0)";
        assert_eq!(lines.last().unwrap(), nature);
        let lines = told("49151", 4).lines;
        let address = "   no rule takes it: no translation for this address (return cause 1)";
        assert!(lines.iter().any(|line| line == address), "{lines:#?}");
    }
}
