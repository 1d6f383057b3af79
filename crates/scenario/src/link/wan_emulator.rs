//! `[wan_emulators.<name>]`: the delay line that a laboratory puts in the place of a satellite.
//!
//! It is a link by another name and in the words of such a box: what a delay line cannot do is refused, and the rest of
//! the scenario finds a link of its name.

use slantpath_base::{DataRate, DataSize, Duration, Probability};
use slantpath_reader::{
    Awaited, Fault, Faults, Flat, Nested, OneOfOrOwn, Pair, Passing, Setting, Tables, section,
};

use super::discipline::{Discipline, Priority};
use super::own_discipline::AnyDiscipline;
use super::queue_size::QueueSize;
use super::schema::nothing;
use crate::bounds::{PACKET, QUEUE, RATE, WAN_ROUND_TRIP};
use crate::written::{Link, LinkParameters};

section! {
    /// A WAN emulator between two nodes: a delay line with a rate, a loss and a queue, the same in both directions.
    /// Links and emulators share their names.
    pub struct WanEmulator {
        /// The nodes that it joins, first and second.
        ends: Setting<Pair<String>>;
        /// Delay there and back together, of which each direction takes half.
        round_trip: Setting<Duration>, at most WAN_ROUND_TRIP;
        /// Rate that it lets through in each direction.
        rate: Setting<DataRate>, at most RATE;
        /// Bytes around each packet that count for its rate: those of Ethernet without preamble and gap.
        link_overhead: Setting<DataSize> = DataSize::from_bytes(18), at most PACKET;
        /// Probability that a packet is lost.
        loss: Setting<Probability> = Probability::NEVER;
        /// Lets packets of a higher class, by the upper three bits of their DSCP, overtake those that are queued.
        priority: Setting<bool> = false;
        /// Most that is queued for the rate, with `priority` in each class; beyond it, arrivals are dropped.
        queue: Setting<QueueSize> = QueueSize::DEFAULT, at most QUEUE;
    }
}

/// Puts a link in the place of each emulator.
pub(crate) fn expand(emulators: &mut Tables<WanEmulator>, links: &mut Tables<Link>, faults: &mut Faults) {
    let emulators = core::mem::take(emulators);
    for (name, emulator) in emulators.iter() {
        let place = emulator.place();
        if links.names().contains(&name) {
            let fault = Fault::new(format!("a link is called `{name}`, as this emulator is"));
            faults.report(place, fault.help("give one of them another name"));
            continue;
        }
        refuse(emulator, faults);
        let half = Duration::from_nanos(emulator.round_trip.as_nanos() / 2);
        let mut both: LinkParameters = nothing(place);
        both.rate = Some(emulator.rate);
        both.delay = Some(Setting::derived(half, "half of `round_trip`", emulator.round_trip.place()));
        both.port.0.link_overhead = Some(emulator.link_overhead);
        both.port.0.queue = emulator.queue.into();
        both.port.0.discipline =
            emulator.priority.then(|| OneOfOrOwn(AnyDiscipline::Known(Discipline::Priority(Priority {}))));
        both.channel.0.loss = emulator.loss.into();
        let link = Link {
            ends: emulator.ends.clone(),
            family: Awaited::open(),
            addresses: Awaited::open(),
            mtu: Setting::default(DataSize::from_bytes(1_500), place),
            cable: None,
            report_mtu: None,
            both: Passing(Flat(both)),
            forward: Nested(nothing(place)),
            reverse: Nested(nothing(place)),
        };
        links.add(name, link, place);
    }
}

/// Reports what no delay line does; what no link does either is told of its link.
fn refuse(emulator: &WanEmulator, faults: &mut Faults) {
    if emulator.loss.as_f64() >= 1.0 {
        let fault = Fault::new("an emulator that loses every packet is a cut, and no path");
        let help = "let less be lost, or let a `[[script]]` take the link down";
        faults.report(emulator.loss.place(), fault.help(help));
    }
}
