//! Path, delay and handovers between two nodes over a span, with times and reasons: the answers that people ask for.

use core::fmt;
use core::ops::ControlFlow;

use slantpath_base::{Duration, Instant};

use crate::contact::{Contact, ContactCause, ContactId, ContactKind, ContactPlan};
use crate::network::ContactNodeId;
use crate::route::{Metric, Path, Refresh, RouteConfig, Router};

/// Route that is followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RouteChoice {
    /// The longer of the two routes that share no relaying node and whose delays have the least sum: a multihomed
    /// host's second path.
    Disjoint,
    /// The shorter of these two: its first path. It is that of least delay unless that one leaves no second, or
    /// only a worse one, where there is one; and that of least delay where there are no two.
    DisjointFirst,
    /// Along given nodes, both ends included, whenever all their contacts hold.
    Fixed(Vec<ContactNodeId>),
    /// Route of least delay.
    #[default]
    LeastDelay,
    /// Fewest links, then least delay.
    LeastHops,
}

/// Why a path began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A contact of the old path ended.
    Ended {
        /// Contact that ended.
        contact: ContactId,
        /// Cause of its end.
        cause: ContactCause,
    },
    /// A contact of the new path began.
    Began {
        /// Contact that began.
        contact: ContactId,
        /// Cause of its beginning.
        cause: ContactCause,
    },
    /// Delays had drifted until, at a change elsewhere, another path was shorter.
    Shorter,
    /// The plan begins.
    Start,
}

/// One stretch of time with one path, or with none.
#[derive(Clone, Debug, PartialEq)]
pub struct Leg {
    /// Instant at which it begins.
    pub start: Instant,
    /// Instant at which it ends.
    pub end: Instant,
    /// The path; none in a gap.
    pub path: Option<Path>,
    /// Why it began: every change at its start that concerns it.
    pub reasons: Vec<Reason>,
    /// Delay over the leg; none in a gap.
    pub delay: Option<DelayRange>,
}

/// Delay over a leg.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayRange {
    /// At its start.
    pub start: Duration,
    /// At its end.
    pub end: Duration,
    /// The least: read at least every second, and at sixteen points.
    pub min: Duration,
    /// The greatest, read likewise.
    pub max: Duration,
}

/// Course of the route from one node to another over a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Node at which the route begins.
    pub from: ContactNodeId,
    /// Node at which the route ends.
    pub to: ContactNodeId,
    /// The legs, in order and without holes: gaps are legs without a path.
    pub legs: Vec<Leg>,
}

/// Figures that sum a timeline up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Time with a path.
    pub connected: Duration,
    /// Time without a path.
    pub disconnected: Duration,
    /// Changes of path.
    pub path_changes: usize,
    /// Changes of the satellite that serves either end, both at once counted once. A pause between two is no
    /// handover of its own, and none at all if the same satellites serve after it.
    pub handovers: usize,
    /// Least delay of any path.
    pub delay_min: Duration,
    /// Greatest delay of any path.
    pub delay_max: Duration,
    /// Mean delay over the connected time, seconds.
    pub delay_mean_s: f64,
    /// Fewest links of a path.
    pub hops_min: usize,
    /// Most links of a path.
    pub hops_max: usize,
}

/// Follows the route between two nodes through a plan: at every change the one that is best at that instant.
pub fn follow(
    plan: &ContactPlan,
    from: ContactNodeId,
    to: ContactNodeId,
    selection: &RouteChoice,
) -> Timeline {
    follow_refreshing(plan, from, to, selection, Refresh::All)
}

/// As [`follow`], with the delays read anew as the last argument says.
pub fn follow_refreshing(
    plan: &ContactPlan,
    from: ContactNodeId,
    to: ContactNodeId,
    selection: &RouteChoice,
    refresh: Refresh,
) -> Timeline {
    let go_on = &mut |_, _| ControlFlow::Continue(());
    follow_while(plan, (from, to), selection, refresh, go_on).expect("nothing breaks it off")
}

/// As [`follow_refreshing`], telling after each step how many changes of contacts are done, out of all; `None` if
/// `progress` breaks it off.
pub fn follow_while(
    plan: &ContactPlan,
    ends: (ContactNodeId, ContactNodeId),
    selection: &RouteChoice,
    refresh: Refresh,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Option<Timeline> {
    let metric = if *selection == RouteChoice::LeastHops { Metric::Hops } else { Metric::Delay };
    let router = Router::new(plan, &[ends.1], RouteConfig { metric, refresh, ..RouteConfig::default() });
    follow_router(router, ends, selection, progress)
}

/// As [`follow_while`], over some of the contacts only.
pub fn follow_within(
    plan: &ContactPlan,
    ends: (ContactNodeId, ContactNodeId),
    selection: &RouteChoice,
    refresh: Refresh,
    is_usable: &dyn Fn(&Contact) -> bool,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Option<Timeline> {
    let metric = if *selection == RouteChoice::LeastHops { Metric::Hops } else { Metric::Delay };
    let router =
        Router::within(plan, &[ends.1], RouteConfig { metric, refresh, ..RouteConfig::default() }, is_usable);
    follow_router(router, ends, selection, progress)
}

fn follow_router(
    mut router: Router<'_>,
    (from, to): (ContactNodeId, ContactNodeId),
    selection: &RouteChoice,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Option<Timeline> {
    let plan = router.plan();
    let end = Instant::START + plan.span();
    let mut legs: Vec<Leg> = Vec::new();
    let mut at = Instant::START;
    while at < end {
        let path = choose(&router, from, to, selection);
        let until = router.next_change().unwrap_or(end).min(end);
        match legs.last_mut() {
            Some(leg) if leg.path == path => leg.end = until,
            last => {
                let reasons = reasons(plan, at, last.and_then(|leg| leg.path.as_ref()), path.as_ref());
                legs.push(Leg { start: at, end: until, path, reasons, delay: None });
            }
        }
        if router.step().is_none() {
            break;
        }
        let (done, all) = router.progress();
        if progress(done, all).is_break() {
            return None;
        }
        at = until;
    }
    for leg in &mut legs {
        leg.delay = leg.path.as_ref().map(|path| delay_range(plan, path, leg.start, leg.end));
    }
    Some(Timeline { from, to, legs })
}

fn choose(
    router: &Router<'_>,
    from: ContactNodeId,
    to: ContactNodeId,
    selection: &RouteChoice,
) -> Option<Path> {
    match selection {
        RouteChoice::Fixed(nodes) => router.fixed_path(nodes),
        RouteChoice::LeastDelay | RouteChoice::LeastHops => router.path(from, 0),
        RouteChoice::Disjoint => router.disjoint_pair(from, to).map(|pair| pair.1),
        RouteChoice::DisjointFirst => {
            router.disjoint_pair(from, to).map_or_else(|| router.path(from, 0), |pair| Some(pair.0))
        }
    }
}

fn reasons(plan: &ContactPlan, at: Instant, old: Option<&Path>, new: Option<&Path>) -> Vec<Reason> {
    if at == Instant::START {
        return vec![Reason::Start];
    }
    let contacts = |path: Option<&Path>| path.map_or_else(Vec::new, |path| path.contacts.clone());
    let ended = contacts(old).into_iter().filter(|&id| plan.contact(id).end == at);
    let began = contacts(new).into_iter().filter(|&id| plan.contact(id).start == at);
    let mut reasons: Vec<Reason> = ended
        .map(|contact| Reason::Ended { contact, cause: plan.contact(contact).closes })
        .chain(began.map(|contact| Reason::Began { contact, cause: plan.contact(contact).opens }))
        .collect();
    if reasons.is_empty() {
        reasons.push(Reason::Shorter);
    }
    reasons
}

fn delay_range(plan: &ContactPlan, path: &Path, start: Instant, end: Instant) -> DelayRange {
    let span = (end - start).as_nanos();
    let steps = (span / 1_000_000_000).max(16);
    let at = |step: u64| {
        // The last reading is just inside: the leg is open at its end.
        let offset = u128::from(span) * u128::from(step) / u128::from(steps);
        start + Duration::from_nanos(u64::try_from(offset).unwrap_or(span))
    };
    let read = |step| path.delay(plan, at(step));
    let (mut min, mut max) = (Duration::MAX, Duration::ZERO);
    for step in 0..=steps {
        let delay = read(step);
        (min, max) = (min.min(delay), max.max(delay));
    }
    DelayRange { start: read(0), end: read(steps), min, max }
}

impl Timeline {
    /// The leg of an instant. The last one includes the end of the plan: what is sampled there is what led up to it.
    pub fn leg_at(&self, now: Instant) -> Option<&Leg> {
        let index = self.legs.partition_point(|leg| leg.end <= now);
        self.legs.get(index).or_else(|| self.legs.last().filter(|leg| leg.end == now))
    }

    /// The delay at an instant, if there is a path then.
    pub fn delay_at(&self, plan: &ContactPlan, now: Instant) -> Option<Duration> {
        self.leg_at(now)?.path.as_ref().map(|path| path.delay(plan, now))
    }

    /// Delay at regular times: what a figure is drawn from. Gaps give `None`.
    pub fn samples(&self, plan: &ContactPlan, every: Duration) -> Vec<(Instant, Option<Duration>)> {
        let every = every.as_nanos().max(1);
        let count = plan.span().as_nanos() / every;
        let at = |step: u64| Instant::from_nanos(step * every);
        (0..=count).map(at).map(|now| (now, self.delay_at(plan, now))).collect()
    }

    /// Sums the timeline up.
    pub fn summary(&self, plan: &ContactPlan) -> Summary {
        let mut summary = Summary { delay_min: Duration::MAX, hops_min: usize::MAX, ..Summary::default() };
        let mut weighted = 0.0;
        for leg in &self.legs {
            let length = leg.end - leg.start;
            let (Some(path), Some(delay)) = (&leg.path, &leg.delay) else {
                summary.disconnected += length;
                continue;
            };
            summary.connected += length;
            summary.delay_min = summary.delay_min.min(delay.min);
            summary.delay_max = summary.delay_max.max(delay.max);
            summary.hops_min = summary.hops_min.min(path.contacts.len());
            summary.hops_max = summary.hops_max.max(path.contacts.len());
            weighted += mean_nanos(plan, path, leg) * length.as_secs_f64();
        }
        summary.path_changes = self.legs.len().saturating_sub(1);
        let paths: Vec<&Path> = self.legs.iter().filter_map(|leg| leg.path.as_ref()).collect();
        let is_handover = |pair: &&[&Path]| serving(plan, pair[0]) != serving(plan, pair[1]);
        summary.handovers = paths.windows(2).filter(is_handover).count();
        if summary.connected.is_zero() {
            (summary.delay_min, summary.hops_min) = (Duration::ZERO, 0);
        } else {
            summary.delay_mean_s = weighted * 1e-9 / summary.connected.as_secs_f64();
        }
        summary
    }

    /// The stretches without a path.
    pub fn gaps(&self) -> Vec<(Instant, Instant)> {
        self.legs.iter().filter(|leg| leg.path.is_none()).map(|leg| (leg.start, leg.end)).collect()
    }
}

/// Simpson's rule over the leg.
fn mean_nanos(plan: &ContactPlan, path: &Path, leg: &Leg) -> f64 {
    let length = leg.end - leg.start;
    let at =
        |share: u64| path.delay_nanos(plan, leg.start + Duration::from_nanos(length.as_nanos() / 8 * share));
    let odd: f64 = [1, 3, 5, 7].map(at).iter().sum();
    let even: f64 = [2, 4, 6].map(at).iter().sum();
    (at(0) + 4.0 * odd + 2.0 * even + at(8)) / 24.0
}

/// The satellites that serve both ends of a path: behind cables, those that serve their gateways.
fn serving(plan: &ContactPlan, path: &Path) -> [Option<ContactNodeId>; 2] {
    let satellite = |id: &ContactId| {
        let contact = plan.contact(*id);
        matches!(contact.kind, ContactKind::Ground { .. }).then_some(contact.a)
    };
    [path.contacts.iter().find_map(satellite), path.contacts.iter().rev().find_map(satellite)]
}

impl Reason {
    /// The reason in words, with the names of its nodes.
    pub fn describe(&self, plan: &ContactPlan) -> String {
        let name = |contact: &Contact| {
            format!("{} - {}", plan.names()[contact.b.index()], plan.names()[contact.a.index()])
        };
        match self {
            Self::Ended { contact, cause } => format!("{} ended: {cause}", name(plan.contact(*contact))),
            Self::Began { contact, cause } => format!("{} began: {cause}", name(plan.contact(*contact))),
            Self::Shorter => "another path had become shorter".to_owned(),
            Self::Start => "the plan begins".to_owned(),
        }
    }
}

/// A timeline as a table for the terminal: times, delay, links, path and reasons.
pub struct TimelineTable<'a> {
    /// Timeline that is shown.
    pub timeline: &'a Timeline,
    /// The plan behind it.
    pub plan: &'a ContactPlan,
}

impl fmt::Display for TimelineTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:>12} {:>12} {:>10} {:>10} {:>5}  path; why",
            "from (s)", "to (s)", "min (ms)", "max (ms)", "links"
        )?;
        for leg in &self.timeline.legs {
            let (start, end) = (leg.start.since_start().as_secs_f64(), leg.end.since_start().as_secs_f64());
            write!(f, "{start:>12.3} {end:>12.3} ")?;
            match (&leg.path, &leg.delay) {
                (Some(path), Some(delay)) => {
                    let names: Vec<&str> =
                        path.nodes.iter().map(|node| self.plan.names()[node.index()].as_str()).collect();
                    let (min, max) = (delay.min.as_millis_f64(), delay.max.as_millis_f64());
                    write!(f, "{min:>10.3} {max:>10.3} {:>5}  {}", path.contacts.len(), names.join(" > "))?;
                }
                _ => write!(f, "{:>10} {:>10} {:>5}  no path", "-", "-", "-")?,
            }
            let reasons: Vec<String> = leg.reasons.iter().map(|reason| reason.describe(self.plan)).collect();
            writeln!(f, "; {}", reasons.join(", "))?;
        }
        Ok(())
    }
}
