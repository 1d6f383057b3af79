//! The cases that are counted, each deterministic.

use std::sync::Arc;

use bytes::Bytes;
use slantpath_base::{Duration, Instant};

use slantpath_cc::Algorithm;
use slantpath_results::CellValue;
use slantpath_runner::{Files, RunOptions, Scenario, run};

use crate::dumbbell::{self, Governed, Protocol};
use crate::one_host;
use crate::pair::slantpath::Slantpath;
use crate::pair::{Pair, Settings, Side};
use crate::rounds::Failure;
use crate::signalling::network::{self, By};

/// Work of a case that is prepared. It returns the number of units that it did. The objects that it works on outlive a
/// call, so that nothing that was prepared is taken down while it is measured: of ten thousand flows that was a
/// twentieth of it.
pub type Work = Box<dyn FnMut() -> u64>;

/// Case whose costs are counted.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// In the ledger and on the command line.
    pub name: &'static str,
    /// Unit by whose number the counts are divided.
    pub unit: &'static str,
    prepare: fn() -> Result<Work, Failure>,
}

const HOP: &str = "packet-hop";
const RFCS: Governed = Governed::ByTheRfcs;

impl Case {
    /// All cases, in the order of the table.
    pub const ALL: [Self; 24] = [
        Self { name: "tcp-dumbbell-10", unit: HOP, prepare: || Ok(dumbbell(Protocol::Tcp, RFCS, 10)) },
        Self { name: "tcp-dumbbell-100", unit: HOP, prepare: || Ok(dumbbell(Protocol::Tcp, RFCS, 100)) },
        Self { name: "tcp-watched-10", unit: HOP, prepare: || Ok(watched()) },
        Self { name: "tcp-new-reno", unit: HOP, prepare: || Ok(by_time(Algorithm::Standard)) },
        Self { name: "tcp-cubic", unit: HOP, prepare: || Ok(by_time(Algorithm::Cubic)) },
        Self { name: "tcp-hybla", unit: HOP, prepare: || Ok(by_time(Algorithm::Hybla)) },
        Self { name: "tcp-bbr", unit: HOP, prepare: || Ok(by_time(Algorithm::Bbr)) },
        Self { name: "tcp-bbr3", unit: HOP, prepare: || Ok(by_time(Algorithm::Bbr3)) },
        Self { name: "tcp-backlog", unit: HOP, prepare: || Ok(by_time(Algorithm::Backlog)) },
        Self { name: "sctp-dumbbell-10", unit: HOP, prepare: || Ok(dumbbell(Protocol::Sctp, RFCS, 10)) },
        Self { name: "tcp-link", unit: HOP, prepare: || one_link("rate = \"20 Mbit/s\"") },
        Self { name: "tcp-on-demand", unit: HOP, prepare: || one_link(ON_DEMAND) },
        Self { name: "ss7-gateways", unit: "MSU", prepare: gateways },
        Self { name: "tcp-host-10", unit: HOP, prepare: || Ok(one_host(Protocol::Tcp, 10)) },
        Self { name: "tcp-host-10000", unit: HOP, prepare: || Ok(one_host(Protocol::Tcp, 10_000)) },
        Self { name: "sctp-host-10", unit: HOP, prepare: || Ok(one_host(Protocol::Sctp, 10)) },
        Self { name: "sctp-host-10000", unit: HOP, prepare: || Ok(one_host(Protocol::Sctp, 10_000)) },
        Self { name: "m2pa-4-links", unit: "MSU", prepare: || Ok(pairs_of_points(By::Associations, 1, 0)) },
        Self { name: "m2pa-60-links", unit: "MSU", prepare: || Ok(pairs_of_points(By::Associations, 15, 0)) },
        Self { name: "mtp2-4-links", unit: "MSU", prepare: || Ok(pairs_of_points(By::Lines, 1, 0)) },
        Self { name: "mtp2-60-links", unit: "MSU", prepare: || Ok(pairs_of_points(By::Lines, 15, 0)) },
        Self { name: "mtp2-320-idle-pairs", unit: "MSU", prepare: || Ok(pairs_of_points(By::Lines, 1, 320)) },
        Self { name: "sctp-pair-1024", unit: "message", prepare: || pair(1_024) },
        Self { name: "sctp-pair-100", unit: "message", prepare: || pair(100) },
    ];

    /// The case of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|case| case.name == name)
    }

    /// Builds what the case runs on.
    ///
    /// # Errors
    /// If it cannot be built.
    pub fn prepare(&self) -> Result<Work, Failure> {
        (self.prepare)()
    }
}

/// Ten seconds of a dumbbell with 20 ms one way.
fn dumbbell(protocol: Protocol, governed: Governed, flows: usize) -> Work {
    let case = dumbbell::Case { protocol, governed, flows, delay_ms: 20, seconds: 10 };
    let mut network = dumbbell::slantpath::build(&case);
    Box::new(move || {
        network.run_until(Instant::from_secs(case.seconds.into()));
        network.packet_hops()
    })
}

/// Prepares a dumbbell of ten TCP flows, with what each packet's journey takes: what links cost that are asked for more
/// than to carry packets.
fn watched() -> Work {
    let case =
        dumbbell::Case { protocol: Protocol::Tcp, governed: RFCS, flows: 10, delay_ms: 20, seconds: 10 };
    let mut network = dumbbell::slantpath::build(&case);
    network.watch_journeys();
    Box::new(move || {
        network.run_until(Instant::from_secs(case.seconds.into()));
        network.packet_hops()
    })
}

/// Prepares a dumbbell of ten TCP flows whose losses are found by time.
fn by_time(algorithm: Algorithm) -> Work {
    dumbbell(Protocol::Tcp, Governed::ByTime(algorithm), 10)
}

/// A terminal that asks for 20 Mbit/s, of which it has two for good.
const ON_DEMAND: &str = r#"access = { system = "satellite", permanent = "2 Mbit/s", most = "20 Mbit/s" }
[access.satellite]
carriers = 2
carrier_rate = "40 Mbit/s"
frame = "20 ms"
slots = 100
slot_overhead = "10 us"
hop = "20 ms"
ask_every = "100 ms"
plan_every = "100 ms""#;

/// Ten TCP flows for twenty seconds over one link that sends as its last key says.
fn one_link(sends: &str) -> Result<Work, Failure> {
    const FILE: &str = r#"
[scenario]
name = "one-link"
duration = "20 s"
[probes]
messages = false
[nodes]
terminal = { kind = "host" }
hub = { kind = "host" }
[flows.bulk]
transport = "tcp"
from = "terminal"
to = "hub"
count = 10
content = "pattern"
application = { kind = "bulk", message_size = "64 KiB", total = "unlimited" }
[links.satellite]
ends = ["terminal", "hub"]
delay = "20 ms"
"#;
    let no_files: Files = Arc::new(|_: &str| Err(std::io::ErrorKind::NotFound.into()));
    let scenario = Scenario::parse("one-link.toml", &format!("{FILE}{sends}\n"), &[], no_files)?;
    Ok(Box::new(move || run(&scenario, &RunOptions::default()).expect("nobody stops it").packet_hops))
}

/// MSUs of a load over lines of MTP2, a gateway, eight associations of M2PA over a satellite, and the other gateway,
/// into the load's account.
fn gateways() -> Result<Work, Failure> {
    const FILE: &str = include_str!("../../../scenarios/ss7-eight-associations.toml");
    let no_files: Files = Arc::new(|_: &str| Err(std::io::ErrorKind::NotFound.into()));
    let scenario = Scenario::parse("ss7-eight-associations.toml", FILE, &[], no_files)?;
    Ok(Box::new(move || {
        let output = run(&scenario, &RunOptions::default()).expect("nobody stops it");
        let load = output.table("signalling_load").expect("there is a load");
        let delivered = load.column("delivered_messages").expect("it is counted");
        let each = (0..load.rows()).map(|row| match delivered.at(row) {
            CellValue::U64(messages) => messages,
            other => panic!("{other:?} is no count"),
        });
        each.sum()
    }))
}

/// Ten seconds of a host whose flows all have been opened, after so long that what they keep has grown.
fn one_host(protocol: Protocol, flows: u16) -> Work {
    let mut network = one_host::opened(one_host::Case { protocol, flows });
    network.run_until(network.now() + Duration::from_secs(30));
    let before = network.packet_hops();
    Box::new(move || {
        network.run_until(network.now() + Duration::from_secs(10));
        network.packet_hops() - before
    })
}

/// A minute of pairs of signalling points, from nothing on.
fn pairs_of_points(by: By, pairs: usize, idle_pairs: usize) -> Work {
    let case = network::Case { by, pairs, idle_pairs, duration: Duration::from_secs(60) };
    Box::new(move || case.run().expect("no message is lost"))
}

/// Messages from one endpoint to another in memory as bytes, after enough of them that all buffers have grown: how many
/// packets are on their way at the same time reaches its highest late.
fn pair(bytes: usize) -> Result<Work, Failure> {
    const MESSAGES: usize = 20_000;
    const ROUNDS_BEFORE: usize = 4;
    let settings = Settings::default();
    let new = |side| Slantpath::<Bytes>::new(side, &settings);
    let mut pair = Pair::connected(new(Side::Client), new(Side::Server))?;
    for _ in 0..ROUNDS_BEFORE {
        pair.transfer(bytes, MESSAGES, &settings)?;
    }
    Ok(Box::new(move || {
        pair.transfer(bytes, MESSAGES, &settings).expect("as before");
        MESSAGES as u64
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_does_its_work_and_has_a_name_of_its_own() {
        for case in Case::ALL.iter().filter(|case| case.unit == "message") {
            let mut work = case.prepare().expect("it is prepared");
            assert_eq!(work(), 20_000, "{}", case.name);
        }
        for case in Case::ALL {
            assert_eq!(Case::named(case.name).map(|named| named.unit), Some(case.unit));
            assert_eq!(Case::ALL.iter().filter(|other| other.name == case.name).count(), 1);
        }
    }
}
