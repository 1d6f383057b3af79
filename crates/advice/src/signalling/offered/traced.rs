//! Load that a trace offers: its mean, and the ten seconds in which most comes.

use std::collections::BTreeMap;

use slantpath_base::Duration;
use slantpath_ss7::load::{GeneratorConfig, Selection, TracedArrival};
use slantpath_ss7::mtp3::Sls;

/// Over how long a load is looked at. Queues take what exceeds a line for less.
const WINDOW: Duration = Duration::from_secs(10);

/// The course of a trace's load.
#[derive(Debug, PartialEq)]
pub(super) struct Traced {
    /// Octets of a message, on average.
    pub(super) octets: f64,
    /// Changes of the load: the time, counted from the start of the load, and the octets a second from then on.
    pub(super) steps: Vec<(Duration, f64)>,
}

/// Octets on the line of each message.
fn octets_of(config: &GeneratorConfig, message: &TracedArrival) -> f64 {
    let own = message.octets.filter(|_| config.lengths == slantpath_ss7::load::Lengths::Trace);
    own.map_or_else(|| config.lengths.mean(), |octets| octets as f64)
}

/// The load of a link that plays a trace for so long; nothing if no message comes.
pub(super) fn course(
    config: &GeneratorConfig,
    messages: &[TracedArrival],
    lasts: Duration,
) -> Option<Traced> {
    let messages = &messages[..messages.partition_point(|message| message.at < lasts)];
    let last = messages.last()?.at;
    let all: f64 = messages.iter().map(|message| octets_of(config, message)).sum();
    let octets = all / messages.len() as f64;
    // The window that begins with each message.
    let (mut within, mut next) = (0.0, 0);
    let (mut at, mut most) = (Duration::ZERO, 0.0);
    for first in messages {
        while let Some(message) = messages.get(next).filter(|message| message.at < first.at + WINDOW) {
            within += octets_of(config, message);
            next += 1;
        }
        if within > most {
            (at, most) = (first.at, within);
        }
        within -= octets_of(config, first);
    }
    // Less than ten seconds say nothing of what comes in the long run.
    let mean = all / last.max(WINDOW).as_secs_f64();
    let peak = most / WINDOW.as_secs_f64();
    let steps = vec![(Duration::ZERO, mean), (at, peak), (at.saturating_add(WINDOW), mean)];
    Some(Traced { octets, steps })
}

/// The selections that messages of a trace have, each with its share of the octets.
pub(super) fn selections(config: &GeneratorConfig, messages: &[TracedArrival]) -> Vec<(Sls, f64)> {
    debug_assert_eq!(config.selection, Selection::Trace);
    let mut octets: BTreeMap<u8, f64> = BTreeMap::new();
    for message in messages {
        *octets.entry(message.sls.unwrap_or(Sls(0)).0).or_default() += octets_of(config, message);
    }
    let all: f64 = octets.values().sum();
    octets.into_iter().map(|(sls, octets)| (Sls(sls), octets / all)).collect()
}

#[cfg(test)]
mod tests {
    use slantpath_base::{DataRate, Instant};
    use slantpath_ss7::PointCode;
    use slantpath_ss7::load::{self, ByCode, Lengths};
    use slantpath_ss7::mtp3::{NetworkIndicator, ServiceIndicator, ServiceInformation};

    use super::*;

    fn config(lengths: Lengths) -> GeneratorConfig {
        let service = ServiceIndicator::ISUP;
        GeneratorConfig {
            links: 2,
            first_link: 0,
            erlang_per_link: 0.1,
            steps: Vec::new(),
            line_rate: DataRate::from_bits_per_sec(64_000),
            lengths,
            selection: Selection::Trace,
            arrivals: load::Arrivals::Poisson,
            routing: load::Routing::PointCode(ByCode { destinations: vec![PointCode(2)], service }),
            origin: PointCode(1),
            service: ServiceInformation {
                indicator: service,
                network: NetworkIndicator::National,
                priority: 0,
            },
            start: Instant::START,
            stop: Instant::START,
        }
    }

    fn message(at_s: u64, octets: usize, sls: u8) -> TracedArrival {
        TracedArrival { at: Duration::from_secs(at_s), octets: Some(octets), sls: Some(Sls(sls)) }
    }

    #[test]
    fn a_trace_has_a_mean_and_a_peak_of_ten_seconds() {
        let messages = [
            message(0, 100, 1),
            message(21, 150, 3),
            message(29, 150, 1),
            message(40, 200, 3),
            message(90, 270, 7),
        ];
        let seconds = Duration::from_secs;
        let course = |lengths, lasts| course(&config(lengths), &messages, seconds(lasts)).expect("messages");
        // The last one comes after the end.
        let traced = course(Lengths::Trace, 90);
        assert_eq!(traced.octets, 150.0);
        assert_eq!(traced.steps, [(seconds(0), 15.0), (seconds(21), 30.0), (seconds(31), 15.0)]);
        // Lengths that the trace does not say.
        let traced = course(Lengths::Fixed(60), 90);
        assert_eq!(traced.octets, 60.0);
        assert_eq!(traced.steps, [(seconds(0), 6.0), (seconds(21), 12.0), (seconds(31), 6.0)]);
        // One message is no rate of its own.
        assert_eq!(course(Lengths::Trace, 1).steps[0], (seconds(0), 10.0));
        assert_eq!(super::course(&config(Lengths::Trace), &messages, Duration::ZERO), None);
    }

    #[test]
    fn selections_share_by_octets() {
        let messages = [message(0, 100, 1), message(1, 150, 3), message(2, 150, 1)];
        let shares = selections(&config(Lengths::Trace), &messages);
        assert_eq!(shares, [(Sls(1), 250.0 / 400.0), (Sls(3), 150.0 / 400.0)]);
    }
}
