//! The messages of a load in a scenario are those of the scenario's own flow.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use clap::Parser as _;
use slantpath_live::{Host, Program, ProgramEvent, ProgramMessage, Programs as _, SocketId};
use slantpath_results::CellValue;
use slantpath_runner::{ProgramEnd, run};

use super::super::client;
use super::*;
use crate::arguments::{Arguments, Command};

/// Three flows that share a link of 2 Mbit/s, and fill its queue at times.
const LAB: &str = r#"
[scenario]
name = "lab"
duration = "3 s"
[probes]
messages = true
[nodes]
a = { kind = "host" }
b = { kind = "host" }
[links.lab]
ends = ["a", "b"]
rate = "2 Mbit/s"
delay = "20 ms"
queue = "100 kB"
[sctp.default]
extensions = ["partial-reliability"]
send_buffer = "6 kB"
[sctp.kinds]
extensions = ["interleaving", "partial-reliability"]
stream_scheduling = "priority"
send_buffer = "64 kB"
[flows.bursts]
transport = "sctp"
from = "a"
to = "b"
end = "2 s"
count = 2
streams = 3
application = { kind = "bursts", message_size = "100 B", burst_size = "300 B", interval = "50 ms", jitter = "30 ms" }
[flows.kinds]
transport = "sctp"
profile = "kinds"
from = "a"
to = "b"
end = "2 s"
streams = 3
stream_values = [2, 1, 0]
[flows.kinds.application]
kind = "mixed"
classes.commands = { stream = 1, message_size = "80 B", interval = "70 ms", unordered = true }
classes.files = { stream = 2, message_size = "4 kB", messages = 2, interval = "50 ms" }
classes.telemetry = { stream = 0, message_size = "200 B", interval = "30 ms", lifetime = "30 ms" }
[flows.played]
transport = "sctp"
from = "a"
to = "b"
when_blocked = "queue"
application = { kind = "trace", file = "played.csv" }
"#;

/// Of varying sizes, the second two at once, the rest more than the link carries for a while.
fn played() -> String {
    let more = (0..60).map(|line| format!("{} ms,{} B\n", 300 + 10 * line, 16 + 97 * (line * 7 % 50)));
    format!("# at,size\n0 ms,16 B\n\n35 ms,5000 B\n35 ms,70 B\n{}", more.collect::<String>())
}

fn lab(trace: &str) -> Scenario {
    let trace = trace.to_owned();
    let files = move |name: &str| match name {
        "played.csv" => Ok(trace.clone()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    Scenario::parse("lab.toml", LAB, &[], Arc::new(files)).expect("a scenario")
}

fn said(flow: &str, more: &[&str]) -> LoadArguments {
    let words = ["slantpath", "load", "10.0.0.9", "--one-way", "--like", "lab.toml", "--flow", flow];
    let parsed = Arguments::try_parse_from([&words, more].concat()).expect("a command");
    let Command::Load(said) = parsed.command else { panic!("a load") };
    said
}

/// The number of a message, when it was due in nanoseconds, from when the first one was, and its size.
type Row = (u64, u64, u64);

/// Associations come up in another order where they share a port: what counts is the time from then on.
fn from_the_first(rows: &mut [Row]) {
    let first = rows.iter().map(|row| row.1).min().unwrap_or_default();
    for row in rows {
        row.1 -= first;
    }
}

/// The messages of the scenario's own flow, and how long each took to be delivered, if it ever was.
fn of_flow(scenario: &Scenario, name: &str) -> (Vec<Row>, Vec<Option<f64>>) {
    let output = run(scenario, &RunOptions::default()).expect("a run");
    let table = output.table("messages").expect("it was asked for");
    let cell = |name: &str, row: usize| table.column(name).expect("a column").at(row);
    let rows = (0..table.rows()).filter(|row| cell("flow", *row) == CellValue::Text(name));
    let all = rows.map(|row| {
        let [number, size] = ["number", "size_bytes"].map(|name| match cell(name, row) {
            CellValue::U64(number) => number,
            other => panic!("{name} is a number, not {other:?}"),
        });
        let CellValue::F64(due) = cell("sent_s", row) else { panic!("every message was due") };
        let delay = match cell("delay_s", row) {
            CellValue::F64(delay) => Some(delay),
            _ => None,
        };
        ((number, Duration::from_secs_f64(due).as_nanos(), size), delay)
    });
    let (mut rows, delays): (Vec<Row>, _) = all.unzip();
    from_the_first(&mut rows);
    (rows, delays)
}

/// Keeps what comes, by the number that a load gives it.
#[derive(Default)]
struct Keeper {
    /// Of each association by the port that it came from.
    ports: BTreeMap<SocketId, u16>,
    messages: BTreeMap<(u16, u64), (Row, ProgramMessage)>,
}

impl Program for Keeper {
    fn handle_event(&mut self, _: Instant, host: &mut Host, socket: SocketId, event: ProgramEvent) {
        match event {
            ProgramEvent::Connected { .. } => {
                self.ports.insert(socket, host.peer(socket).expect("it is up").port());
            }
            ProgramEvent::Message(message) => {
                let word = |from: usize| message.payload[from..from + 8].try_into().expect("eight bytes");
                let [which, due] = [0, 8].map(|from| u64::from_be_bytes(word(from)));
                let row = (which >> 16, due, message.payload.len() as u64);
                self.messages.insert((self.ports[&socket], which >> 16), (row, message));
            }
            _ => {}
        }
    }

    fn handle_deadline(&mut self, _: Instant, _: &mut Host) {}

    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn stop(&mut self, _: Instant, _: &mut Host) {}

    fn is_over(&self) -> bool {
        false
    }
}

/// The messages of the load that is like a flow, where the flow would be: of each association in their order.
fn of_load(scenario: &Scenario, flow: &str) -> Vec<Vec<(Row, ProgramMessage)>> {
    let said = said(flow, &[]);
    let like = Like::of(Path::new("lab.toml"), scenario.clone(), &said).expect("a flow");
    let arguments = like.arguments(&said).expect("arguments");
    let addresses = ["10.0.0.8".parse().expect("an address")];
    let config = client::config(&arguments, Some(&like), &addresses, 20_000, false).expect("a load");
    let sit = |[from, to]: [ProgramEnd; 2]| {
        let mut host = from.host;
        let program =
            LoadClient::open(LoadClientConfig { port: from.port, ..config.clone() }, &mut host, from.stream);
        let from = Station { host, program };
        let mut host = to.host;
        host.add_program(&to.port, to.stream);
        (from, Station { host, program: Keeper::default() })
    };
    let mut go_on = |_: Instant, station: &mut Station<LoadClient>| {
        if station.program.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let ran = run_with_programs(scenario, &like.request, &RunOptions::default(), sit, &mut go_on);
    let (mut from, to, now) = ran.expect("a run");
    let report = from.program.report(&mut from.host, now);
    assert_eq!(report.failures, Vec::<String>::new());
    let mut all: BTreeMap<u16, Vec<(Row, ProgramMessage)>> = BTreeMap::new();
    for ((port, _), message) in to.program.messages {
        all.entry(port).or_default().push(message);
    }
    all.into_values().collect()
}

fn rows(messages: &[(Row, ProgramMessage)]) -> Vec<Row> {
    let mut rows: Vec<Row> = messages.iter().map(|(row, _)| *row).collect();
    from_the_first(&mut rows);
    rows
}

#[test]
fn a_trace_is_played_by_a_load_as_by_its_flow() {
    let scenario = lab(&played());
    let (own, delays) = of_flow(&scenario, "played");
    assert_eq!(own.len(), 63);
    // The send buffer is full for a while, and the timetable is kept.
    assert!(delays.iter().flatten().any(|delay| *delay > 0.3), "{delays:?}");
    let load = of_load(&scenario, "played");
    assert_eq!(load.iter().map(|messages| rows(messages)).collect::<Vec<_>>(), [own]);
}

#[test]
fn bursts_with_jitter_come_at_the_instants_of_each_of_the_flows() {
    let scenario = lab(&played());
    let own = ["bursts.0", "bursts.1"].map(|name| of_flow(&scenario, name).0);
    assert!(own[0].len() > 100 && own[0] != own[1], "{own:?}");
    let load = of_load(&scenario, "bursts");
    assert_eq!(load.len(), 2);
    for (own, load) in own.iter().zip(&load) {
        // The load goes on for as long as its association took to come up: a flow ends at its time.
        assert_eq!(&rows(load)[..own.len()], own);
    }
    let streams: Vec<u16> = load[0].iter().take(7).map(|(_, message)| message.stream).collect();
    assert_eq!(streams, [0, 1, 2, 0, 1, 2, 0]);
}

#[test]
fn each_kind_of_messages_keeps_its_size_its_instants_its_stream_and_its_order() {
    let scenario = lab(&played());
    let (own, delays) = of_flow(&scenario, "kinds");
    let load = of_load(&scenario, "kinds").remove(0);
    // Telemetry is given up that is too old when its turn comes, in both, and nothing else.
    let missing = own.iter().zip(&delays).filter(|(_, delay)| delay.is_none());
    assert!(missing.clone().count() > 0 && missing.clone().all(|(row, _)| row.2 == 200), "{delays:?}");
    let last = own.last().expect("a message").0;
    let came: Vec<Row> = rows(&load).into_iter().take_while(|row| row.0 <= last).collect();
    let (came_in_both, missed): (Vec<Row>, Vec<Row>) = own.into_iter().partition(|row| came.contains(row));
    assert_eq!(came, came_in_both);
    assert!(!missed.is_empty() && missed.iter().all(|row| row.2 == 200), "{missed:?}");
    for ((.., size), message) in &load {
        let kind = match size {
            80 => (1, true),
            4_000 => (2, false),
            200 => (0, false),
            other => panic!("no kind has {other} bytes"),
        };
        assert_eq!((message.stream, message.is_unordered), kind);
    }
}

#[test]
fn a_kind_of_messages_for_which_there_is_no_room_slides_and_holds_up_no_other() {
    let changes = ["sctp.kinds.send_buffer=6 kB".to_owned()];
    let scenario = lab(&played()).with("a test", &changes).expect("a scenario");
    let load = rows(&of_load(&scenario, "kinds")[0]);
    let dues = |size| load.iter().filter(move |row| row.2 == size).map(|row| row.1 / 1_000);
    let is_on_time = |size, interval_us| dues(size).all(|due| due % interval_us == 0);
    assert!(is_on_time(80, 70_000) && !is_on_time(4_000, 50_000), "{load:?}");
    assert!(dues(80).count() > 25 && dues(4_000).count() > 25, "{load:?}");
}

#[test]
fn the_settings_of_a_flow_are_those_of_the_load_on_the_wire() {
    let said = said("kinds", &[]);
    let like = Like::of(Path::new("lab.toml"), lab(&played()), &said).expect("a flow");
    let values = like.sctp(Carriage::Raw).stream_values;
    assert_eq!(values.into_values().collect::<Vec<_>>(), [2, 1, 0]);
    assert_eq!((like.when_blocked(), like.options.reliability), (WhenBlocked::Wait, Reliability::Full));
    let limited = lab(&played()).with("a test", &["flows.played.max_retransmissions=3".to_owned()]);
    let said = self::said("played", &[]);
    let like = Like::of(Path::new("lab.toml"), limited.expect("a scenario"), &said).expect("a flow");
    assert_eq!(
        (like.when_blocked(), like.options.reliability),
        (WhenBlocked::Queue, Reliability::Retransmissions(3))
    );
}

/// A flow over two links, of which one kind of messages names the second, and asks for SACKs at once.
fn over_two_links() -> Scenario {
    let text = r#"
[scenario]
name = "two"
duration = "12 s"
[nodes]
a = { kind = "host" }
b = { kind = "host" }
[links.geo]
ends = ["a", "b"]
rate = "2 Mbit/s"
delay = "280 ms"
[links.leo]
ends = ["a", "b"]
rate = "2 Mbit/s"
delay = "25 ms"
[links.alternative]
ends = ["a", "b"]
rate = "2 Mbit/s"
delay = "25 ms"
[flows.f]
transport = "sctp"
from = "a"
to = "b"
primary = "geo"
destination = "geo"
start = "5 s"
connect = "0 s"
end = "10 s"
[flows.f.application]
kind = "mixed"
classes.files = { stream = 0, message_size = "1 kB", interval = "1 s" }
[flows.f.application.classes.signalling]
stream = 0
message_size = "100 B"
interval = "100 ms"
destination = "leo"
sack_immediately = true
"#;
    let files = |_: &str| Err(io::Error::from(io::ErrorKind::NotFound));
    Scenario::parse("two.toml", text, &[], Arc::new(files)).expect("a scenario")
}

#[test]
fn the_addresses_of_the_peer_stand_for_the_links_that_messages_name() {
    let peers =
        ["10.0.0.9", "10.0.0.10", "10.0.0.11"].map(|text| text.parse::<IpAddr>().expect("an address"));
    let mut said = said("f", &[]);
    said.peers = peers.to_vec();
    let like = Like::of(Path::new("two.toml"), over_two_links(), &said).expect("a flow");
    let (workload, options) = like.messages_to(&peers);
    // The primary link is the first, and the others follow by name.
    let [files, signalling] = [0, 1].map(|kind| workload.classes()[kind].options);
    assert_eq!(
        [options, files].map(|of| (of.destination, of.sack_immediately)),
        [(Some(peers[0]), false); 2]
    );
    assert_eq!((signalling.destination, signalling.sack_immediately), (Some(peers[2]), true));
    // In simulation they are the addresses of the scenario.
    let arguments = like.arguments(&said).expect("arguments");
    let own = ["10.0.0.8".parse().expect("an address")];
    let config = client::config(&arguments, Some(&like), &own, 20_000, false).expect("a load");
    let report = like.simulate(&config).expect("a run");
    assert_eq!((report.sent, report.failures.as_slice()), (55, &[][..]), "{report:?}");
    let chunks: Vec<u64> = report.paths.iter().map(|path| path.data_chunks).collect();
    assert_eq!(report.paths.iter().filter(|path| path.is_primary).count(), 1);
    let of_primary = report.paths.iter().find(|path| path.is_primary).expect("the one").data_chunks;
    assert!(chunks.contains(&0) && of_primary < 10 && chunks.iter().sum::<u64>() == 55, "{chunks:?}");
    // Nothing stands for the second link.
    said.peers.truncate(2);
    assert_eq!(
        Like::of(Path::new("two.toml"), over_two_links(), &said).err().as_deref(),
        Some(
            "flow `f`: messages go to `leo` of its receiver, for which none of 2 addresses stands: give one for each \
             of its links, in this order: geo, alternative, leo"
        )
    );
}

#[test]
fn what_does_not_fit_into_the_messages_of_a_load_is_refused_with_what_to_do() {
    let refused = |scenario: &Scenario, flow: &str, more: &[&str]| {
        Like::of(Path::new("lab.toml"), scenario.clone(), &said(flow, more)).err()
    };
    let short = lab("0 ms,900 B\n1 ms,15 B\n2 ms,8 B\n");
    assert_eq!(
        refused(&short, "played", &[]).as_deref(),
        Some(
            "flow `played`: message 2 of its trace, `1 ms,15 B`, is too short: those of a load need 16 B for their \
             number, kind and time; write 16 B or more in each line of the file"
        )
    );
    let with = |changes: &[&str]| {
        let changes: Vec<String> = changes.iter().map(|change| (*change).to_owned()).collect();
        lab(&played()).with("a test", &changes).expect("a scenario")
    };
    let kind = with(&["flows.kinds.application.classes.telemetry.message_size=15 B"]);
    let error = refused(&kind, "kinds", &[]).expect("it is too short");
    assert!(error.contains("messages of kind `telemetry` have 15 B: "), "{error}");
    let bursts =
        with(&["flows.bursts.application.message_size=10 B", "flows.bursts.application.burst_size=20 B"]);
    let error = refused(&bursts, "bursts", &[]).expect("they are too short");
    assert!(
        error.contains("messages have 10 B: ") && error.ends_with("`message_size` be 16 B or more"),
        "{error}"
    );
    // What is left for the last message of a transfer; another end has no such message.
    let bulk = LAB.replace(
        "{ kind = \"trace\", file = \"played.csv\" }",
        "{ kind = \"bulk\", message_size = \"100 B\", total = \"1012 B\" }",
    );
    let files = |_: &str| Err(io::Error::from(io::ErrorKind::NotFound));
    let bulk = Scenario::parse("lab.toml", &bulk, &[], Arc::new(files)).expect("a scenario");
    let error = refused(&bulk, "played", &[]).expect("its last message is too short");
    assert!(error.ends_with("let `total` be a multiple of `message_size`"), "{error}");
    assert_eq!(refused(&bulk, "played", &["--count", "7"]), None);
}
