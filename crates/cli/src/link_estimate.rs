//! Paths of a network as a trace or a capture shows them, as links of a scenario.

use std::fmt::Write as _;
use std::path::Path;

use slantpath_base::{DataRate, Duration, Instant};
use slantpath_trace::PathEstimate;

/// The rate of a path that was never full.
const AMPLE: u64 = 1_000_000_000;
/// The least that a queue is taken to hold.
const QUEUE_BYTES_LEAST: u128 = 150_000;
/// A path's longest round trip beside its shortest from which on there was a queue.
const QUEUED: f64 = 1.25;

/// A path as a link.
pub(crate) struct LinkEstimate {
    /// Name of the link in the scenario.
    pub(crate) name: String,
    /// Delay of each direction at first.
    pub(crate) delay: Duration,
    /// Probability that a packet on the way to the peer is lost.
    pub(crate) loss: f64,
    /// Rate that it carries, if the load filled it, in bit/s.
    pub(crate) rate: Option<u64>,
}

impl LinkEstimate {
    /// A path that carries chunks of so many bits, if the load filled it.
    pub(crate) fn of(number: usize, path: &PathEstimate, known: Duration, full_of_bits: Option<f64>) -> Self {
        let least = path.least_round_trip().unwrap_or(known);
        let first = path.round_trips.first().map_or(least, |(_, round_trip)| *round_trip);
        let rate = path.acknowledged_per_s.zip(full_of_bits).map(|(chunks, bits)| rounded(chunks * bits));
        let lost = if rate.is_some() { path.lost - path.lost_in_queue } else { path.lost };
        Self {
            // So that their order by name is that of the paths.
            name: format!("path-{:02}", number + 1),
            delay: half(if rate.is_some() && is_queued(path) { least } else { first }),
            loss: if path.sent == 0 { 0.0 } else { lost as f64 / path.sent as f64 },
            rate,
        }
    }
}

/// Three digits say all that is known of a rate.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "no rate is negative or that large"
)]
fn rounded(rate: f64) -> u64 {
    let rate = (rate as u64).max(1);
    let digits = rate.ilog10();
    let step = 10_u64.pow(digits.saturating_sub(2));
    (rate + step / 2) / step * step
}

/// Tells if round trips grew by packets that were queued.
fn is_queued(path: &PathEstimate) -> bool {
    let longest = path.longest_round_trip.unwrap_or_default().as_secs_f64();
    path.least_round_trip().is_some_and(|least| longest > least.as_secs_f64() * QUEUED)
}

const fn half(time: Duration) -> Duration {
    Duration::from_nanos(time.as_nanos() / 2)
}

/// A name of a file, as a comment can have it.
pub(crate) fn one_line(path: &Path) -> String {
    path.display().to_string().chars().filter(|letter| !letter.is_control()).collect()
}

/// Writes a link between two hosts.
pub(crate) fn write_link(text: &mut String, [from, to]: [&str; 2], path: &PathEstimate, link: &LinkEstimate) {
    let source = path.source.map_or_else(String::new, |source| format!(" from {source}"));
    let family = if path.address.is_ipv4() { "ipv4" } else { "ipv6" };
    let rate = DataRate::from_bits_per_sec(link.rate.unwrap_or(AMPLE));
    let about = if link.rate.is_some() { "the load filled it" } else { "never full: any that is ample" };
    let mut push = |line: std::fmt::Arguments<'_>| {
        writeln!(text, "{line}").expect("a string takes everything");
    };
    push(format_args!("\n# To {}{source}.", path.address));
    push(format_args!("[links.{}]", link.name));
    push(format_args!("ends = [\"{from}\", \"{to}\"]\nfamily = \"{family}\""));
    push(format_args!("rate = \"{rate}\" # {about}"));
    push(format_args!("delay = \"{}\" # half a round trip", link.delay));
    if let (Some(rate), Some(longest)) = (link.rate, path.longest_round_trip) {
        let waited = longest.saturating_sub(link.delay).saturating_sub(link.delay);
        let bytes = u128::from(waited.as_nanos()) * u128::from(rate) / 8_000_000_000;
        let bytes = bytes.max(QUEUE_BYTES_LEAST);
        push(format_args!("queue = \"{bytes} B\" # as long as the longest round trip says"));
    }
    if link.loss > 0.0 {
        push(format_args!("[links.{}.forward]", link.name));
        push(format_args!("loss = {:.6} # of {} packets", link.loss, path.sent));
    }
}

/// Writes the events of a link while the load lasts.
pub(crate) fn write_changes(text: &mut String, path: &PathEstimate, link: &LinkEstimate) {
    let mut push = |at: Instant, what: String| {
        let at = at.since_start();
        writeln!(text, "\n[[script]]\nat = \"{at}\"\nlink = \"{}\"\n{what}", link.name)
            .expect("a string takes everything");
    };
    if path.round_trips.is_empty() {
        push(Instant::START, "action = \"down\" # nothing ever came back".to_owned());
        return;
    }
    if link.rate.is_none() || !is_queued(path) {
        for (at, round_trip) in path.round_trips.iter().skip(1) {
            push(*at, format!("action = \"set\"\ndelay = \"{}\"", half(*round_trip)));
        }
    }
    for (from, to) in &path.outages {
        push(*from, "action = \"down\"".to_owned());
        if let Some(to) = to {
            push(*to, "action = \"up\"".to_owned());
        }
    }
}
