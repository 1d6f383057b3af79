//! Load that sessions and flows of datagrams offer to the slowest link on their way.

use slantpath_base::DataRate;
use slantpath_reader::{Fault, Faults, Place};
use slantpath_scenario::build::workload;
use slantpath_scenario::schema::{Flow, Sessions, sessions};

/// Warns of a load that has no steady state on a way whose slowest link has this rate: the way of what is carried, back
/// that of answers.
pub(crate) fn load_fits(
    name: &str,
    sessions: &Sessions,
    (link, rate): (&str, DataRate),
    faults: &mut Faults,
) {
    let interval = match &sessions.arrivals.0 {
        sessions::Arrivals::Constant(constant) => *constant.interval,
        sessions::Arrivals::Poisson(poisson) => *poisson.mean_interval,
        sessions::Arrivals::Trace(_) => return,
    };
    let Some(sizes) = &sessions.sizes else { return };
    let count = sessions.requests.as_ref().map_or(1.0, |requests| requests.0.mean_count());
    let offered = 8.0 * count * sizes.0.mean().as_bytes() as f64 / interval.as_secs_f64();
    let load = offered / rate.as_bits_per_sec() as f64;
    if load >= 1.0 {
        let message = format!(
            "sessions `{name}` carry {:.4} Mbit/s on average, {:.0} % of what link `{link}` does: \
             ever more are under way",
            offered / 1e6,
            100.0 * load
        );
        let help = "let them be fewer or smaller, or read the results as those of a run that never settles";
        faults.warn(place_of(sessions), Fault::new(message).help(help));
    }
}

/// Warns of datagrams that are more than the slowest link on their way carries, of this rate: nothing holds them back.
pub(crate) fn datagrams_fit(
    name: &str,
    flow: &Flow,
    (link, rate): (&str, DataRate),
    is_ipv6: bool,
    faults: &mut Faults,
) {
    let Some((message, interval)) = workload(flow).mean_spacing() else { return };
    let headers = flow.adaptation.header_bytes() + if is_ipv6 { 40 + 8 } else { 20 + 8 };
    let packet = (message.as_bytes() + headers) as f64;
    let offered = 8.0 * f64::from(*flow.count) * packet / interval.as_secs_f64();
    let load = offered / rate.as_bits_per_sec() as f64;
    if load > 1.0 {
        let message = format!(
            "the packets of flow `{name}` are {:.4} Mbit/s on average, {:.0} % of what link `{link}` carries: \
             the rest is lost",
            offered / 1e6,
            100.0 * load
        );
        let help =
            "let messages be fewer or smaller, or read the results as those of a link that is overloaded";
        faults.warn(flow.transport.place(), Fault::new(message).help(help));
    }
}

fn place_of(sessions: &Sessions) -> Place {
    match &sessions.arrivals.0 {
        sessions::Arrivals::Constant(constant) => constant.interval.place(),
        sessions::Arrivals::Poisson(poisson) => poisson.mean_interval.place(),
        sessions::Arrivals::Trace(trace) => trace.file.place(),
    }
}
