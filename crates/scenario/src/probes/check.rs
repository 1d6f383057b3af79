//! Probes: links and flows that exist, intervals that are some.

use slantpath_base::Duration;
use slantpath_profiles::Interval;
use slantpath_reader::{Fault, Faults, Tables, Written};

use super::schema::{DelayPrecision, Probes};
use crate::link::wiring::Wiring;
use crate::schema::Transport;
use crate::written::Flow;
use slantpath_net::Sampling;
use slantpath_reader::resolve;

pub(crate) fn check(
    probes: &Probes,
    (wiring, has_sky): (Wiring<'_, Written>, bool),
    flows: &Tables<Flow>,
    faults: &mut Faults,
) {
    for link in &*probes.captures {
        wiring.check_is_link(link, probes.captures.place(), faults);
    }
    for flow in &*probes.timelines {
        let found = resolve(flows, flow, "flow", probes.timelines.place(), faults);
        if let Some(transport) = found.map(|flow| *flow.transport).filter(|own| *own != Transport::Sctp) {
            let name = transport.as_str().to_uppercase();
            let fault = Fault::new(format!("flow `{flow}` goes over {name}, which has one path"));
            faults.report(probes.timelines.place(), fault.help("name flows over SCTP"));
        }
    }
    let help = "write an interval like \"100 ms\"";
    if probes.queues.0 == Some(Sampling::Every(Duration::ZERO)) {
        let fault = Fault::new("a probe cannot sample all the time").help(help);
        faults.report(probes.queues.place(), fault);
    }
    if *probes.intervals == Interval::Every(Duration::ZERO) {
        let fault = Fault::new("an interval lasts some time").help("write a time like \"1 s\"");
        faults.report(probes.intervals.place(), fault);
    }
    if *probes.deadline == Interval::Every(Duration::ZERO) {
        let fault = Fault::new("no message arrives at once").help("write a time like \"800 ms\"");
        faults.report(probes.deadline.place(), fault);
    }
    if let DelayPrecision::Within(ratio) = *probes.delays
        && (probes.delays.histogram().is_none() || ratio.as_f64() > DelayPrecision::COARSEST)
    {
        let fault = Fault::new(format!("a histogram is not made to a precision of {ratio}"));
        faults.report(probes.delays.place(), fault.help("write a part between \"0.001 %\" and \"10 %\""));
    }
    if *probes.sky == Interval::Every(Duration::ZERO) {
        let fault = Fault::new("a probe cannot sample all the time").help("write an interval like \"10 s\"");
        faults.report(probes.sky.place(), fault);
    }
    if *probes.sky != Interval::Off && !has_sky {
        let fault = Fault::new("there is no sky of which places could be recorded");
        faults.report(probes.sky.place(), fault.help("leave it out, or add `[sky]`"));
    }
    if *probes.paths == Interval::Every(Duration::ZERO) {
        let fault = Fault::new("a probe cannot sample all the time").help(help);
        faults.report(probes.paths.place(), fault);
    }
}
