//! The messages of a number of links, in order of time.

use bytes::Bytes;
use slantpath_base::{DataRate, Deadlines, Duration, Instant, Seed};

use super::arrivals::{Arrivals, Clock};
use super::length::Lengths;
use super::profile::{self, LoadStep, Profile};
use super::routing::Routing;
use super::stamp::LinkNumber;
use crate::PointCode;
use crate::mtp3::{RoutingLabel, ServiceInformation, Sls};
use crate::transfer::Transfer;

/// Sources of the messages' signalling link selections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Number of the message's link modulo 16.
    #[default]
    Link,
    /// Selection that the trace of arrivals gives for each message.
    Trace,
}

/// Settings of a generator of signalling load.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratorConfig {
    /// Number of links: 1 to 256.
    pub links: u16,
    /// The number of the first in stamps, so that messages of another generator with the same destinations and services
    /// can be told from these: a multiple of 16, from where on there are numbers for all links.
    pub first_link: u8,
    /// The share of a link's time that its messages take on a line of `line_rate`: 0 sends nothing, up to 1 loads a
    /// line, more overloads it. Arrivals from a trace bring their own.
    pub erlang_per_link: f64,
    /// Changes of the load, in order of time and none before another has ended. Only constant and Poisson arrivals may
    /// have some.
    pub steps: Vec<LoadStep>,
    /// Line rate that one Erlang stands for: 64 kbit/s for a signalling link of level 2.
    pub line_rate: DataRate,
    /// Lengths of the messages.
    pub lengths: Lengths,
    /// Signalling link selection of the messages.
    pub selection: Selection,
    /// Process by which the messages arrive.
    pub arrivals: Arrivals,
    /// Addressing of the messages: their destinations, by point code or global title.
    pub routing: Routing,
    /// Originating point code of the messages.
    pub origin: PointCode,
    /// Network indicator and priority; the service indicator is the routing's.
    pub service: ServiceInformation,
    /// Instant at which the load begins.
    pub start: Instant,
    /// Instant at which the load ends.
    pub stop: Instant,
}

impl GeneratorConfig {
    /// The load of a link until `end`, over time: Erlang times seconds. Of a trace nothing is known here.
    pub fn erlang_seconds(&self, end: Instant) -> f64 {
        let (mut area, mut from, mut erlang) = (0.0, self.start, self.erlang_per_link);
        for step in self.steps.iter().filter(|step| step.at < end) {
            let settled = step.at.saturating_add(step.over);
            let risen = end.min(settled).saturating_since(step.at).as_secs_f64();
            let whole = step.over.as_secs_f64();
            let slope = if step.over.is_zero() { 0.0 } else { (step.erlang_per_link - erlang) / whole };
            area += erlang * step.at.saturating_since(from).as_secs_f64();
            area += risen * slope.mul_add(0.5 * risen, erlang);
            (from, erlang) = (settled, step.erlang_per_link);
        }
        area + erlang * end.saturating_since(from).as_secs_f64()
    }
}

/// Why a configuration is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GeneratorError {
    /// No link, or more than the stamp can name.
    #[error("{0} links: it can be 1 to 256")]
    Links(u16),
    /// Links whose numbers in stamps are taken, or do not begin with a selection of 0.
    #[error("{links} links from number {first_link} on: numbers are 0 to 255, the first is a multiple of 16")]
    FirstLink {
        /// Number of links that was asked for.
        links: u16,
        /// The number of the first.
        first_link: u8,
    },
    /// A share that is none of both.
    #[error("a share of {0} by global title: it must be above 0 and below 1")]
    Share(f64),
    /// A load that is none.
    #[error("{0} Erlang per link: it must be 0 or more")]
    Erlang(f64),
    /// A step to a load that is none.
    #[error("a step to {erlang} Erlang per link: it must be 0 or more")]
    StepErlang {
        /// Index of the step, counted from 0.
        step: usize,
        /// Load that was asked for, in Erlang per link.
        erlang: f64,
    },
    /// A step that begins before the load, or before the step in front of it has ended.
    #[error("step {0}, counted from 0, begins before the load or before the step in front of it has ended")]
    StepOrder(usize),
    /// Steps of arrivals that have times of their own.
    #[error("only constant and Poisson arrivals have steps")]
    Steps,
    /// A line that carries nothing has no Erlang.
    #[error("a line of rate 0 carries nothing: no load fills it")]
    LineRate,
    /// A mix without a length or with weights that are none.
    #[error("a mix of lengths needs a length, and weights from 0 on with one above it")]
    Weights,
    /// A message that cannot hold label, addresses and stamp, or that level 2 would not take.
    #[error("messages of {octets} octets: with this routing it can be {least} to {most} on the line")]
    Length {
        /// Length that was asked for.
        octets: usize,
        /// Least length that this routing allows.
        least: usize,
        /// Greatest length that this routing allows.
        most: usize,
    },
    /// Nowhere to send to.
    #[error("there is no destination")]
    NoDestination,
    /// On-off arrivals without activity.
    #[error("on-off arrivals need a mean period of activity above 0")]
    NoActivity,
    /// A trace that lacks what it is to say.
    #[error("the trace has no {what} for its message {at}, counted from 0")]
    TraceLacks {
        /// A length, or a signalling link selection.
        what: &'static str,
        /// Of which message.
        at: usize,
    },
    /// Lengths or selections are to come from a trace, and there is none.
    #[error("there is no trace to say the {0} of messages")]
    NoTrace(&'static str),
    /// A trace that is not in order of time.
    #[error("the trace goes back in time at its message {0}, counted from 0")]
    Trace(usize),
}

/// A message that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The link that it loads, as its stamp has it.
    pub link: LinkNumber,
    /// Number of the message on that link, from 0.
    pub number: u64,
    /// Message itself, as a transfer request.
    pub transfer: Transfer,
}

#[derive(Clone, Debug)]
struct LinkLoad {
    clock: Clock,
    lengths: slantpath_base::Stream,
    sent: u64,
}

/// Generator of signalling messages for a number of links.
#[derive(Clone, Debug)]
pub struct Generator {
    config: GeneratorConfig,
    links: Vec<LinkLoad>,
    /// Instants at which the links' next messages are due, for those links that have one before the end.
    due: Deadlines<usize>,
}

impl Generator {
    /// Checks the configuration. Each link draws from the streams `path/<link>/arrivals` and `path/<link>/lengths`, so
    /// that another link changes no other's.
    pub fn new(config: GeneratorConfig, seed: Seed, path: &str) -> Result<Self, GeneratorError> {
        check(&config)?;
        let bits = config.lengths.mean() * 8.0;
        let reference = profile::reference(config.erlang_per_link, &config.steps);
        let gap = bits / config.line_rate.as_bits_per_sec() as f64 / reference;
        let gap = (reference > 0.0).then(|| Duration::from_secs_f64(gap));
        let profile = (!config.steps.is_empty() && reference > 0.0)
            .then(|| Profile::new(config.start, config.erlang_per_link, &config.steps, reference));
        let span = (config.start, config.stop);
        let link = |number: u16| {
            let arrivals = seed.stream(&format!("{path}/{number}/arrivals"));
            let lengths = seed.stream(&format!("{path}/{number}/lengths"));
            LinkLoad {
                clock: Clock::new(config.arrivals.clone(), gap, span, profile.clone(), arrivals),
                lengths,
                sent: 0,
            }
        };
        let links: Vec<LinkLoad> = (0..config.links).map(link).collect();
        let due = Deadlines::default();
        let mut generator = Self { config, links, due };
        (0..generator.links.len()).for_each(|link| generator.wait_for(link));
        Ok(generator)
    }

    /// Gives the instant at which the next message is due; `None` when there is no other.
    pub fn next_due(&self) -> Option<Instant> {
        self.due.earliest()
    }

    fn wait_for(&mut self, link: usize) {
        let due = self.links[link].clock.due().filter(|due| *due < self.config.stop);
        self.due.set(link, due);
    }

    /// The number that the next message of a link has, counted from 0; `None` of a link that it does not have.
    pub fn next_number(&self, link: LinkNumber) -> Option<u64> {
        let own = link.0.checked_sub(self.config.first_link)?;
        Some(self.links.get(usize::from(own))?.sent)
    }

    /// The next message that is due by `now`; among those of one instant that of the lowest link.
    pub fn poll(&mut self, now: Instant) -> Option<Message> {
        self.poll_stamped(now, None)
    }

    /// Variant of [`poll`](Self::poll) for real clocks: the message says the nanoseconds of the sender's own, if its
    /// data have twelve octets.
    pub fn poll_stamped(&mut self, now: Instant, clock: Option<u64>) -> Option<Message> {
        let index = self.due.take_due(now)?;
        let link = &mut self.links[index];
        let traced = link.clock.traced();
        let octets = self.config.lengths.draw(&mut link.lengths, traced.and_then(|message| message.octets));
        let number = link.sent;
        link.sent += 1;
        link.clock.advance();
        self.wait_for(index);
        let own = u8::try_from(index).expect("there are at most 256 links");
        let link = LinkNumber(self.config.first_link + own);
        let sls = match self.config.selection {
            Selection::Link => Sls(link.0 % 16),
            Selection::Trace => traced.and_then(|message| message.sls).unwrap_or(Sls(0)),
        };
        Some(Message { link, number, transfer: self.compose(link, (number, octets), sls, clock) })
    }

    fn compose(
        &self,
        stamped: LinkNumber,
        (number, octets): (u64, usize),
        sls: Sls,
        clock: Option<u64>,
    ) -> Transfer {
        let (dpc, indicator, user_data) = self.config.routing.compose(stamped, number, octets, clock);
        let service = ServiceInformation { indicator, ..self.config.service };
        let label = RoutingLabel { dpc, opc: self.config.origin, sls };
        Transfer { service, label, user_data: Bytes::from(user_data) }
    }
}

fn check(config: &GeneratorConfig) -> Result<(), GeneratorError> {
    if !(1..=256).contains(&config.links) {
        return Err(GeneratorError::Links(config.links));
    }
    let (links, first_link) = (config.links, config.first_link);
    if first_link % 16 != 0 || u16::from(first_link) + links > 256 {
        return Err(GeneratorError::FirstLink { links, first_link });
    }
    if let Routing::Shared { title_share, .. } = &config.routing
        && !(*title_share > 0.0 && *title_share < 1.0)
    {
        return Err(GeneratorError::Share(*title_share));
    }
    if !(config.erlang_per_link.is_finite() && config.erlang_per_link >= 0.0) {
        return Err(GeneratorError::Erlang(config.erlang_per_link));
    }
    if config.line_rate.as_bits_per_sec() == 0 {
        return Err(GeneratorError::LineRate);
    }
    check_steps(config)?;
    let (least, most) = config.routing.lengths().ok_or(GeneratorError::NoDestination)?;
    let check_length = |octets: usize| {
        let fits = (least..=most).contains(&octets);
        if fits { Ok(()) } else { Err(GeneratorError::Length { octets, least, most }) }
    };
    config.lengths.all().into_iter().try_for_each(check_length)?;
    if !config.lengths.has_weights() {
        return Err(GeneratorError::Weights);
    }
    match &config.arrivals {
        Arrivals::OnOff { mean_on, .. } if *mean_on == Duration::ZERO => Err(GeneratorError::NoActivity),
        Arrivals::Trace(messages) => {
            if let Some(at) = messages.windows(2).position(|pair| pair[1].at < pair[0].at) {
                return Err(GeneratorError::Trace(at + 1));
            }
            for (at, message) in messages.iter().enumerate() {
                if config.lengths == Lengths::Trace {
                    check_length(message.octets.ok_or(GeneratorError::TraceLacks { what: "length", at })?)?;
                }
                if config.selection == Selection::Trace && message.sls.is_none() {
                    return Err(GeneratorError::TraceLacks { what: "signalling link selection", at });
                }
            }
            Ok(())
        }
        Arrivals::Constant | Arrivals::OnOff { .. } | Arrivals::Poisson => {
            if config.lengths == Lengths::Trace {
                return Err(GeneratorError::NoTrace("lengths"));
            }
            if config.selection == Selection::Trace {
                return Err(GeneratorError::NoTrace("selections"));
            }
            Ok(())
        }
    }
}

fn check_steps(config: &GeneratorConfig) -> Result<(), GeneratorError> {
    let has_times = matches!(config.arrivals, Arrivals::OnOff { .. } | Arrivals::Trace(_));
    if has_times && !config.steps.is_empty() {
        return Err(GeneratorError::Steps);
    }
    let mut free = config.start;
    for (at, step) in config.steps.iter().enumerate() {
        if !(step.erlang_per_link.is_finite() && step.erlang_per_link >= 0.0) {
            return Err(GeneratorError::StepErlang { step: at, erlang: step.erlang_per_link });
        }
        if step.at < free {
            return Err(GeneratorError::StepOrder(at));
        }
        free = step.at.saturating_add(step.over);
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::load::{ByCode, ByTitle, TracedArrival};
    use crate::mtp2::octets_on_line;
    use crate::mtp3::{NetworkIndicator, ServiceIndicator};
    use crate::sccp::{self, Digits, GlobalTitle, PartyAddress, Ssn};

    pub(crate) fn config() -> GeneratorConfig {
        GeneratorConfig {
            links: 30,
            first_link: 0,
            erlang_per_link: 0.36,
            steps: Vec::new(),
            line_rate: DataRate::from_bits_per_sec(64_000),
            lengths: Lengths::Fixed(270),
            selection: Selection::Link,
            arrivals: Arrivals::Poisson,
            routing: Routing::PointCode(ByCode {
                destinations: vec![PointCode(2)],
                service: ServiceIndicator::ISUP,
            }),
            origin: PointCode(1),
            service: ServiceInformation {
                indicator: ServiceIndicator::ISUP,
                network: NetworkIndicator::National,
                priority: 0,
            },
            start: Instant::START,
            stop: Instant::START + Duration::from_secs(100),
        }
    }

    fn all(config: GeneratorConfig) -> Vec<(Instant, Message)> {
        let mut generator = Generator::new(config, Seed::new(1, 0), "load").expect("a sound configuration");
        let mut messages = Vec::new();
        while let Some(due) = generator.next_due() {
            messages.push((due, generator.poll(due).expect("one is due")));
        }
        messages
    }

    #[test]
    fn the_load_is_what_was_asked_for() {
        let messages = all(config());
        let octets: usize =
            messages.iter().map(|(_, message)| octets_on_line(5 + message.transfer.user_data.len())).sum();
        let erlang = octets as f64 * 8.0 / 64_000.0 / 100.0 / 30.0;
        assert!((erlang - 0.36).abs() < 0.01, "{erlang}");
        assert!(messages.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    }

    #[test]
    fn steps_that_are_none_are_refused_with_the_reason() {
        let at = |seconds| Instant::START + Duration::from_secs(seconds);
        let step = |from, over, erlang_per_link| LoadStep {
            at: at(from),
            over: Duration::from_secs(over),
            erlang_per_link,
        };
        let with = |steps: Vec<LoadStep>| check(&GeneratorConfig { steps, start: at(1), ..config() });
        assert_eq!(with(vec![step(1, 9, 0.5), step(10, 0, 0.0)]), Ok(()));
        assert_eq!(with(vec![step(0, 9, 0.5)]), Err(GeneratorError::StepOrder(0)));
        assert_eq!(with(vec![step(1, 9, 0.5), step(9, 0, 0.5)]), Err(GeneratorError::StepOrder(1)));
        assert_eq!(with(vec![step(1, 9, -0.5)]), Err(GeneratorError::StepErlang { step: 0, erlang: -0.5 }));
        assert_eq!(
            with(vec![step(1, 9, f64::INFINITY)]),
            Err(GeneratorError::StepErlang { step: 0, erlang: f64::INFINITY })
        );
        let second = Duration::from_secs(1);
        for arrivals in [Arrivals::OnOff { mean_on: second, mean_off: second }, Arrivals::Trace(vec![])] {
            let config = GeneratorConfig { arrivals, steps: vec![step(1, 0, 0.5)], ..config() };
            assert_eq!(check(&config), Err(GeneratorError::Steps));
        }
    }

    #[test]
    fn a_step_changes_how_many_messages_come_and_nothing_before_it() {
        let half = Instant::START + Duration::from_secs(50);
        let steps = vec![LoadStep { at: half, over: Duration::ZERO, erlang_per_link: 0.72 }];
        for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
            let even = all(GeneratorConfig { arrivals: arrivals.clone(), ..config() });
            let stepped = all(GeneratorConfig { arrivals, steps: steps.clone(), ..config() });
            let before =
                |messages: &[(Instant, Message)]| messages.iter().filter(|(at, _)| *at < half).count();
            // Areas under a constant load are not rounded as sums of gaps are.
            assert!(before(&even).abs_diff(before(&stepped)) <= 1);
            let ratio = (stepped.len() - before(&stepped)) as f64 / before(&stepped) as f64;
            assert!((ratio - 2.0).abs() < 0.05, "{ratio}");
        }
    }

    #[test]
    fn another_link_changes_no_others_messages() {
        let of_link_3 = |links| {
            let of = all(GeneratorConfig { links, ..config() })
                .into_iter()
                .filter(|(_, m)| m.link == LinkNumber(3));
            of.collect::<Vec<_>>()
        };
        assert_eq!(of_link_3(10), of_link_3(30));
    }

    #[test]
    fn global_titles_are_called_in_turn_in_messages_of_the_length_asked_for() {
        let called = ["4912345", "49876"].map(|digits| PartyAddress {
            global_title: Some(GlobalTitle::TranslationPlanNature {
                translation_type: 0,
                plan: 1,
                nature: 4,
                digits: Digits::parse(digits).expect("digits"),
                filler: 0,
            }),
            ssn: Some(Ssn(6)),
            ..PartyAddress::default()
        });
        let calling = PartyAddress { routes_on_ssn: true, ssn: Some(Ssn(8)), ..PartyAddress::default() };
        let title = ByTitle { translator: PointCode(9), called: called.to_vec(), calling };
        let routing = Routing::GlobalTitle(title);
        for (_, message) in all(GeneratorConfig { routing, links: 2, ..config() }) {
            let transfer = message.transfer;
            assert_eq!(octets_on_line(5 + transfer.user_data.len()), 270);
            assert_eq!(
                (transfer.label.dpc, transfer.service.indicator),
                (PointCode(9), ServiceIndicator::SCCP)
            );
            let read = sccp::Message::parse(&transfer.user_data).expect("unitdata");
            let sccp::Message::Udt { called: read, .. } = read else { panic!("unitdata") };
            assert_eq!(read, called[usize::try_from(message.number % 2).expect("0 or 1")]);
        }
    }

    #[test]
    fn what_cannot_be_sent_is_refused_with_what_can() {
        let error =
            |config| Generator::new(config, Seed::new(1, 0), "load").expect_err("refused").to_string();
        let short = GeneratorConfig { lengths: Lengths::Fixed(12), ..config() };
        assert_eq!(error(short), "messages of 12 octets: with this routing it can be 15 to 279 on the line");
        assert_eq!(error(GeneratorConfig { links: 0, ..config() }), "0 links: it can be 1 to 256");
        for (links, first_link, is_sound) in
            [(16, 240, true), (17, 240, false), (1, 8, false), (256, 0, true)]
        {
            let numbered = GeneratorConfig { links, first_link, ..config() };
            let refused = Err(GeneratorError::FirstLink { links, first_link });
            assert_eq!(check(&numbered), if is_sound { Ok(()) } else { refused });
        }
        for none in [-0.1, f64::NAN, f64::INFINITY] {
            let none = GeneratorConfig { erlang_per_link: none, ..config() };
            let said = error(none.clone());
            assert_eq!(said, format!("{} Erlang per link: it must be 0 or more", none.erlang_per_link));
        }
        let dead = GeneratorConfig { line_rate: DataRate::from_bits_per_sec(0), ..config() };
        assert_eq!(error(dead), "a line of rate 0 carries nothing: no load fills it");
        let back = [3, 2].map(|at| TracedArrival::at(Duration::from_millis(at))).to_vec();
        let trace = GeneratorConfig { arrivals: Arrivals::Trace(back), ..config() };
        assert_eq!(error(trace), "the trace goes back in time at its message 1, counted from 0");
        let trace = Arrivals::Trace(vec![TracedArrival::at(Duration::ZERO)]);
        let lacks = GeneratorConfig { arrivals: trace.clone(), lengths: Lengths::Trace, ..config() };
        assert_eq!(error(lacks), "the trace has no length for its message 0, counted from 0");
        let lacks = GeneratorConfig { arrivals: trace, selection: Selection::Trace, ..config() };
        assert_eq!(
            error(lacks),
            "the trace has no signalling link selection for its message 0, counted from 0"
        );
        let none = GeneratorConfig { lengths: Lengths::Trace, ..config() };
        assert_eq!(error(none), "there is no trace to say the lengths of messages");
        let none = GeneratorConfig { lengths: Lengths::Mix(Vec::new()), ..config() };
        assert_eq!(error(none), "a mix of lengths needs a length, and weights from 0 on with one above it");
    }

    /// Messages of 30 links: of a load, at the times at which it steps.
    fn count(arrivals: &Arrivals, erlang_per_link: f64, steps: &[(u64, f64)]) -> usize {
        let step = |(at, erlang_per_link): &(u64, f64)| LoadStep {
            at: Instant::from_secs(*at),
            over: Duration::ZERO,
            erlang_per_link: *erlang_per_link,
        };
        let steps = steps.iter().map(step).collect();
        all(GeneratorConfig { arrivals: arrivals.clone(), erlang_per_link, steps, ..config() }).len()
    }

    #[test]
    fn a_load_that_is_nearly_nothing_sends_nothing_and_steps_up_to_what_is_asked_for() {
        let on_off = Arrivals::OnOff { mean_on: Duration::from_secs(1), mean_off: Duration::from_secs(1) };
        for nearly_nothing in [0.0, 1e-300, 1e-20, 1e-15, 1e-13, 1e-12, 1e-11] {
            for arrivals in [&Arrivals::Constant, &Arrivals::Poisson, &on_off] {
                assert_eq!(count(arrivals, nearly_nothing, &[]), 0, "{nearly_nothing} {arrivals:?}");
            }
            for arrivals in [&Arrivals::Constant, &Arrivals::Poisson] {
                let named = format!("{nearly_nothing} {arrivals:?}");
                assert_eq!(count(arrivals, nearly_nothing, &[(50, 0.0)]), 0, "{named}");
                // 30 links for 50 of 100 seconds at 0.36 Erlang, of messages of 33.75 ms: 16,000.
                let up = count(arrivals, nearly_nothing, &[(50, 0.36)]);
                assert!(up.abs_diff(16_000) <= 3 * 127, "{named}: {up}");
                // And again nothing.
                let down = count(arrivals, nearly_nothing, &[(50, 0.36), (75, nearly_nothing)]);
                assert!(down.abs_diff(8_000) <= 3 * 90, "{named}: {down}");
            }
        }
        // What is nearly nothing at every time.
        assert_eq!(count(&Arrivals::Poisson, 1e-20, &[(50, 1e-13)]), 0);
        let evenly = count(&Arrivals::Constant, 0.0, &[(50, 0.36)]);
        assert!(evenly.abs_diff(16_000) <= 30, "each link one more or less: {evenly}");
    }

    #[test]
    fn the_load_over_time_is_the_area_under_its_steps_and_ramps() {
        let step = |at, over, erlang_per_link| LoadStep {
            at: Instant::from_secs(at),
            over: Duration::from_secs(over),
            erlang_per_link,
        };
        let table: [(f64, Vec<LoadStep>, u64, f64); 7] = [
            (0.5, vec![], 0, 0.0),
            (0.5, vec![], 100, 50.0),
            (0.5, vec![step(60, 0, 1.0)], 100, 70.0),
            (0.5, vec![step(60, 0, 1.0)], 60, 30.0),
            // 60 s at 0, 20 s from 0 to 1, 20 s at 1; and cut in the middle of the ramp.
            (0.0, vec![step(60, 20, 1.0)], 100, 30.0),
            (0.0, vec![step(60, 20, 1.0)], 70, 2.5),
            (1.0, vec![step(10, 10, 0.0), step(50, 0, 2.0)], 100, 10.0 + 5.0 + 100.0),
        ];
        for (erlang_per_link, steps, end, expected) in table {
            let named = format!("{erlang_per_link} {steps:?} {end}");
            let found = GeneratorConfig { erlang_per_link, steps, ..config() }
                .erlang_seconds(Instant::from_secs(end));
            assert!((found - expected).abs() < 1e-9, "{named}: {found}");
        }
    }

    #[test]
    fn a_trace_has_its_own_load_even_of_none() {
        let trace = Arrivals::Trace(vec![TracedArrival::at(Duration::MAX), TracedArrival::at(Duration::MAX)]);
        assert_eq!(count(&trace, 0.0, &[]), 0, "beyond the end");
        let trace = Arrivals::Trace(vec![TracedArrival::at(Duration::from_secs(99))]);
        assert_eq!(count(&trace, 0.0, &[]), 30);
    }

    #[test]
    fn a_trace_says_lengths_and_selections() {
        let of = |(at, octets, sls)| TracedArrival {
            at: Duration::from_millis(at),
            octets: Some(octets),
            sls: Some(Sls(sls)),
        };
        let trace = [(1, 60, 3), (2, 270, 0), (2, 61, 15)].map(of);
        let messages = all(GeneratorConfig {
            links: 1,
            lengths: Lengths::Trace,
            selection: Selection::Trace,
            arrivals: Arrivals::Trace(trace.to_vec()),
            ..config()
        });
        let seen = messages.iter().map(|(at, message)| TracedArrival {
            at: *at - Instant::START,
            octets: Some(octets_on_line(5 + message.transfer.user_data.len())),
            sls: Some(message.transfer.label.sls),
        });
        assert_eq!(seen.collect::<Vec<_>>(), trace);
    }
}
