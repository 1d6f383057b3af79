//! `make bench`: every comparison, one table after the other. Words name those that are to be run, `sky` or `pairs`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks through its streams")]

use std::process::ExitCode;

use bytes::Bytes;
use slantpath_base::{Duration, Probability};
use slantpath_benches::dumbbell::{self, Case, Protocol, ns2};
use slantpath_benches::failover;
use slantpath_benches::one_host;
use slantpath_benches::pair::dcsctp::Dcsctp;
use slantpath_benches::pair::rtc_sctp::RtcSctp;
use slantpath_benches::pair::sctp_proto::SctpProto;
use slantpath_benches::pair::slantpath::Slantpath;
use slantpath_benches::pair::{Endpoint, Pair, Settings, Side};
use slantpath_benches::rounds::{Contestant, Failure, Work, medians};
use slantpath_benches::sessions;
use slantpath_benches::signalling::{gtt, m2pa, m3ua, mtp3, network, sccp};
use slantpath_benches::table::{Row, Table};
use slantpath_benches::{sky, sky_runs};
use slantpath_wire::Packet;

const ROUNDS: usize = 5;

fn main() -> ExitCode {
    let comparisons: [Comparison; 18] = [
        ("dumbbells", || dumbbells().map(text)),
        ("hosts", || hosts_of_many_flows().map(text)),
        ("sky", || sky::moving_and_frozen().map(text)),
        ("sky-runs", || sky_runs::runs(|name| eprintln!("{name} …")).map(text)),
        ("sessions", || sessions::sessions().map(text)),
        ("pairs", || pairs().map(text)),
        ("windows", || windows().map(text)),
        ("m2pa", || m2pa_messages().map(text)),
        ("mtp3", || mtp3_messages().map(text)),
        ("mtp3-links", || mtp3_links().map(text)),
        ("sccp", || sccp_messages().map(text)),
        ("translations", || translations().map(text)),
        ("m3ua", || m3ua::codec().map(text)),
        ("m3ua-forwarding", || m3ua::forwarding().map(text)),
        ("m3ua-delays", || m3ua::delays().map(text)),
        ("network-lines", || network::lines().map(text)),
        ("network-associations", || network::associations().map(text)),
        ("failover", || failover::runs().map(text)),
    ];
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [word, name] = &words[..]
        && word == sky_runs::WORD
    {
        return match sky_runs::run_alone(name) {
            Ok(line) => {
                println!("{line}");
                ExitCode::SUCCESS
            }
            Err(failure) => {
                eprintln!("bench: {name}: {failure}");
                ExitCode::FAILURE
            }
        };
    }
    if let Some(word) = words.iter().find(|word| comparisons.iter().all(|(name, _)| name != word)) {
        eprintln!("bench: nothing is called {word}: {}", comparisons.map(|(name, _)| name).join(", "));
        return ExitCode::FAILURE;
    }
    let is_asked_for = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    for (_, comparison) in comparisons.into_iter().filter(|(name, _)| is_asked_for(name)) {
        match comparison() {
            Ok(text) => println!("{text}"),
            Err(failure) => {
                eprintln!("bench: {failure}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// Name of a comparison, and the function that makes it.
type Comparison = (&'static str, fn() -> Result<Text, Failure>);

type Text = Box<dyn core::fmt::Display>;

fn text(table: impl core::fmt::Display + 'static) -> Text {
    Box::new(table)
}

fn dumbbells() -> Result<Table, Failure> {
    let mut rows = Vec::new();
    for case in Case::all() {
        let ours = || Ok(Work::Here { units: dumbbell::slantpath::run(&case).packet_hops() as f64 });
        let mut contestants = vec![Contestant { name: "slantpath", work: Box::new(ours) }];
        if ns2::is_installed() {
            let units = ns2::packet_hops(&case)?;
            let theirs = move || ns2::run(&case).map(|()| Work::ByChild { units });
            contestants.push(Contestant { name: "ns-2.35", work: Box::new(theirs) });
        }
        let speeds = medians(&mut contestants, ROUNDS)?;
        let peer = speeds.get(1).map(|speed| ("ns-2.35".to_owned(), *speed));
        rows.push(Row { case: case.title(), ours: speeds[0], peer });
    }
    Ok(Table { unit: "packet-hops".into(), rows })
}

/// One host with ever more flows of the same total load, beside itself with ten.
fn hosts_of_many_flows() -> Result<Table, Failure> {
    const SECONDS: Duration = Duration::from_secs(40);
    let mut rows = Vec::new();
    for protocol in [Protocol::Tcp, Protocol::Sctp] {
        let counts = [10, 1_000, 10_000];
        let mut contestants = counts.map(|flows| {
            let mut network = one_host::opened(one_host::Case { protocol, flows });
            let work = move || {
                let (before, end) = (network.packet_hops(), network.now().saturating_add(SECONDS));
                network.run_until(end);
                Ok(Work::Here { units: (network.packet_hops() - before) as f64 })
            };
            Contestant { name: "slantpath", work: Box::new(work) }
        });
        let speeds = medians(&mut contestants, ROUNDS)?;
        for (flows, ours) in counts.into_iter().zip(&speeds).skip(1) {
            let case = format!("{flows} {} flows at one host", protocol.name());
            rows.push(Row { case, ours: *ours, peer: Some(("10 flows".to_owned(), speeds[0])) });
        }
    }
    Ok(Table { unit: "packet-hops".into(), rows })
}

fn pairs() -> Result<Table, Failure> {
    let settings = Settings::default();
    let mut rows = Vec::new();
    for (bytes, count) in [(1_024, 80_000), (100, 200_000)] {
        // About a second of work for each.
        let mut contestants = [
            contestant("slantpath", bytes, 10 * count, settings, Slantpath::<Bytes>::new),
            contestant("dcsctp", bytes, count / 2, settings, Dcsctp::new),
            contestant("sctp-proto", bytes, count, settings, SctpProto::new),
        ];
        let speeds = medians(&mut contestants, ROUNDS)?;
        for (peer, speed) in contestants.iter().zip(&speeds).skip(1) {
            let peer = Some((peer.name.to_owned(), *speed));
            rows.push(Row { case: format!("messages of {bytes} bytes"), ours: speeds[0], peer });
        }
    }
    Ok(Table { unit: "messages".into(), rows })
}

/// Against the fastest of the peers: several windows, with and without loss; by us as bytes, and as packets that share
/// the message's payload.
fn windows() -> Result<Table, Failure> {
    const KIB: usize = 1 << 10;
    let mut rows = Vec::new();
    for (bytes, count) in [(1_024, 400_000), (100, 1_000_000)] {
        for (window, name) in [(64 * KIB, "64 KiB"), (KIB * KIB, "1 MiB"), (8 * KIB * KIB, "8 MiB")] {
            // The peer does not come to the end with short messages and a window of 8 MiB.
            if bytes == 100 && window > KIB * KIB {
                continue;
            }
            for percent in [0, 1] {
                let loss = Probability::new(f64::from(percent) / 100.0).expect("a probability");
                let settings = Settings { receive_window_bytes: window, loss, ..Settings::default() };
                let mut contestants = [
                    contestant("as bytes", bytes, count, settings, Slantpath::<Bytes>::new),
                    contestant("as packets", bytes, count, settings, Slantpath::<Packet>::new),
                    contestant("rtc-sctp", bytes, count, settings, RtcSctp::new),
                ];
                let speeds = medians(&mut contestants, ROUNDS)?;
                for (ours, form) in [(speeds[0], "bytes"), (speeds[1], "packets")] {
                    let case = format!("{bytes} bytes, {name}, {percent} % lost, as {form}");
                    rows.push(Row { case, ours, peer: Some(("rtc-sctp".to_owned(), speeds[2])) });
                }
            }
        }
    }
    Ok(Table { unit: "messages".into(), rows })
}

fn m2pa_messages() -> Result<Table, Failure> {
    codec("m2pa", "M2PA messages decoded and encoded", m2pa::vectors()?, m2pa::ours, m2pa::theirs)
}

fn mtp3_messages() -> Result<Table, Failure> {
    codec("mtp3", "MTP3 messages decoded and encoded", mtp3::vectors()?, mtp3::ours, mtp3::theirs)
}

fn mtp3_links() -> Result<Table, Failure> {
    const TIMES: u32 = 20_000_000;
    let node = mtp3::node()?;
    let map = mtp3::hash_map(&node);
    let units = f64::from(TIMES);
    let ours = || {
        core::hint::black_box(mtp3::look_up(&node, TIMES));
        Ok(Work::Here { units })
    };
    let theirs = || {
        core::hint::black_box(mtp3::look_up_hashed(&map, TIMES));
        Ok(Work::Here { units })
    };
    let mut contestants = [
        Contestant { name: "slantpath", work: Box::new(ours) },
        Contestant { name: "HashMap", work: Box::new(theirs) },
    ];
    let speeds = medians(&mut contestants, ROUNDS)?;
    let case = format!("link by SLS, {} destinations", mtp3::DESTINATIONS);
    let peer = Some(("HashMap".to_owned(), speeds[1]));
    Ok(Table { unit: "look-ups".into(), rows: vec![Row { case, ours: speeds[0], peer }] })
}

fn sccp_messages() -> Result<Table, Failure> {
    codec("sccp", "SCCP messages decoded and encoded", sccp::vectors()?, sccp::ours, sccp::theirs)
}

/// Our codec and a peer's on the same messages, each so many times.
fn codec(
    peer: &'static str,
    unit: &str,
    vectors: Vec<(&'static str, Vec<u8>)>,
    ours: fn(&[u8], usize) -> Result<usize, Failure>,
    theirs: fn(&[u8], usize) -> Result<usize, Failure>,
) -> Result<Table, Failure> {
    const TIMES: usize = 2_000_000;
    let mut rows = Vec::new();
    for (name, octets) in vectors {
        let contestant = |name, run: fn(&[u8], usize) -> Result<usize, Failure>| {
            let octets = octets.clone();
            let work = move || run(&octets, TIMES).map(|_| Work::Here { units: TIMES as f64 });
            Contestant { name, work: Box::new(work) }
        };
        let speeds = medians(&mut [contestant("slantpath", ours), contestant(peer, theirs)], ROUNDS)?;
        rows.push(Row { case: name.to_owned(), ours: speeds[0], peer: Some((peer.to_owned(), speeds[1])) });
    }
    Ok(Table { unit: unit.to_owned(), rows })
}

fn translations() -> Result<Table, Failure> {
    const TIMES: usize = 5_000_000;
    let table = gtt::Table::new()?;
    let mut contestants = [
        Contestant {
            name: "slantpath",
            work: Box::new(|| table.translate(TIMES).map(|_| Work::Here { units: TIMES as f64 })),
        },
        Contestant {
            name: "ordered map",
            work: Box::new(|| table.look_up(TIMES / 10).map(|_| Work::Here { units: TIMES as f64 / 10.0 })),
        },
        Contestant {
            name: "with an entity",
            work: Box::new(|| table.route(TIMES).map(|_| Work::Here { units: TIMES as f64 })),
        },
    ];
    let speeds = medians(&mut contestants, ROUNDS)?;
    let peer = Some(("ordered map".to_owned(), speeds[1]));
    let rows = vec![
        Row { case: format!("{} rules", gtt::RULES), ours: speeds[0], peer: peer.clone() },
        Row { case: format!("{} rules, entity by SLS", gtt::RULES), ours: speeds[2], peer },
    ];
    Ok(Table { unit: "translations of global titles".into(), rows })
}

fn contestant<E: Endpoint + 'static>(
    name: &'static str,
    bytes: usize,
    count: usize,
    settings: Settings,
    new: fn(Side, &Settings) -> E,
) -> Contestant<'static> {
    let work = move || {
        let mut pair = Pair::connected(new(Side::Client, &settings), new(Side::Server, &settings))?;
        pair.transfer(bytes, count, &settings)?;
        Ok(Work::Here { units: count as f64 })
    };
    Contestant { name, work: Box::new(work) }
}
