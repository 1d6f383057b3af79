//! Records of emulations: a run is written while it runs, and repeated from what is written.

use std::cell::RefCell;
use std::io;
use std::net::IpAddr;
use std::rc::Rc;

use slantpath_base::{Duration, Instant};
use slantpath_net::InterfaceId;
use slantpath_runner::{
    Attachment, EmulationRecording, EmulationReplay, Files, InterfaceReport, Outside, RepeatError,
    Repetition, ReplayFault, RunOptions, RunOutput, Scenario, Turn, files_in, read_whole_record,
    run_attached_without_records,
};
use slantpath_wire::Packet;
use slantpath_wire::ip::IpHeader;

use crate::attached::datagram;
use crate::cells::cells;

/// Two attached nodes, and two hosts with an association over the same link, which goes down and gets slower.
const LAB: &str = r#"
[scenario]
name = "lab"
duration = "10 s"
seed = 7

[nodes]
near.kind = "attached"
far.kind = "attached"
server.kind = "host"
client.kind = "host"
left.kind = "router"
right.kind = "router"

[links.core]
ends = ["left", "right"]
rate = "1 Mbit/s"
delay = "40 ms"
loss = "2 %"
queue = "20 packets"

[links.access]
ends = ["near", "left"]
rate = "10 Mbit/s"
delay = "1 ms"

[links.exit]
ends = ["right", "far"]
rate = "10 Mbit/s"
delay = "1 ms"

[links.serving]
ends = ["left", "server"]
rate = "10 Mbit/s"
delay = "1 ms"

[links.asking]
ends = ["right", "client"]
rate = "10 Mbit/s"
delay = "1 ms"

[flows.data]
from = "server"
to = "client"
transport = "sctp"
application = { kind = "bulk", message_size = "1 kB", total = "600 kB" }

[[script]]
at = "1 s"
link = "core"
action = "down"

[[script]]
at = "1500 ms"
link = "core"
action = "up"

[[script]]
at = "2 s"
link = "core"
action = "set"
delay = "60 ms"
rate = "500 kbit/s"
"#;

/// A file that a test reads when it has been written.
#[derive(Clone, Default)]
struct Disk {
    file: Rc<RefCell<Vec<u8>>>,
    /// Length of the longest write.
    longest: Rc<RefCell<usize>>,
    /// Number of writes that succeed, if not all do.
    room: Option<usize>,
}

impl io::Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(room) = &mut self.room {
            *room = room.checked_sub(1).ok_or_else(|| io::Error::other("the disk is full"))?;
        }
        self.file.borrow_mut().extend_from_slice(bytes);
        let mut longest = self.longest.borrow_mut();
        *longest = bytes.len().max(*longest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Two programs: one sends a datagram every 20 ms, the other sends each back after 3 ms. Turns are as long as a clock's
/// are: now longer, now shorter.
struct Programs {
    interfaces: Vec<(InterfaceId, IpAddr)>,
    coming: Vec<(Instant, usize, Vec<u8>)>,
    next: Instant,
    turn: u64,
    end: Instant,
}

/// Nodes stand in the order of their names.
const FAR: usize = 0;
const NEAR: usize = 1;

impl Programs {
    fn until(end: Instant) -> Self {
        Self { interfaces: Vec::new(), coming: Vec::new(), next: Instant::from_millis(5), turn: 0, end }
    }
}

impl Outside for Programs {
    fn begin(&mut self, attachments: &[Attachment]) -> io::Result<()> {
        let own = attachments.iter().map(|node| &node.interfaces[0]);
        self.interfaces = own.map(|own| (own.id, own.addresses[0])).collect();
        Ok(())
    }

    fn wait(&mut self, turn: &mut Turn<'_>) -> io::Result<Option<Instant>> {
        if turn.now >= self.end {
            return Ok(None);
        }
        self.turn += 1;
        let until = turn.now + Duration::from_micros(700 + 300 * (self.turn % 4));
        // All is out at the end.
        while self.next < until && self.next + Duration::from_millis(700) < self.end {
            let tag = u8::try_from(self.turn % 251).unwrap();
            let packet = datagram(self.interfaces[NEAR].1, self.interfaces[FAR].1, tag);
            self.coming.push((self.next, NEAR, packet));
            self.next += Duration::from_millis(20);
        }
        // No packet: it is refused, and is not recorded.
        assert!(turn.inject(until, self.interfaces[NEAR].0, vec![9]).is_err());
        for (at, place, packet) in self.coming.extract_if(.., |(at, ..)| *at < until) {
            turn.inject(at, self.interfaces[place].0, packet).unwrap();
        }
        Ok(Some(until))
    }

    fn depart(&mut self, at: Instant, interface: InterfaceId, packet: Packet) -> io::Result<()> {
        if interface == self.interfaces[FAR].0 {
            let packet = packet.observed();
            let (header, len) = IpHeader::parse(&packet).unwrap();
            let back = datagram(header.destination, header.source, packet[len + 8]);
            self.coming.push((at + Duration::from_millis(3), FAR, back));
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<Vec<InterfaceReport>> {
        Ok(vec![InterfaceReport::default(); self.interfaces.len()])
    }
}

fn parse(text: &str, overrides: &[&str], files: Files) -> Scenario {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    Scenario::parse("record", text, &overrides, files).unwrap_or_else(|error| panic!("{error}"))
}

fn here() -> Files {
    files_in(".".as_ref())
}

/// Runs and records; gives what came out, and the record.
fn recorded(scenario: &Scenario, end: Instant) -> (RunOutput, Disk) {
    let disk = Disk::default();
    let mut programs = Programs::until(end);
    let mut recording = EmulationRecording::begin(scenario, ".", disk.clone(), &mut programs).unwrap();
    let output = run_attached_without_records(scenario, &RunOptions::default(), &mut recording).unwrap();
    recording.finish(&output.digest).unwrap();
    (output, disk)
}

/// Repeats a record over the scenario that stands in it.
fn repeated(record: &[u8], files: Files) -> Result<Repetition, RepeatError> {
    let replay = EmulationReplay::open(record)?;
    let scenario =
        Scenario::parse("record", &replay.run().scenario, &[], files).expect("it is the one that ran");
    replay.repeat(&scenario)
}

#[test]
fn a_recorded_run_is_the_run_and_is_repeated_packet_for_packet() {
    let scenario = parse(LAB, &[], here());
    let end = Instant::from_secs(4);
    let (output, disk) = recorded(&scenario, end);
    let alone =
        run_attached_without_records(&scenario, &RunOptions::default(), &mut Programs::until(end)).unwrap();
    assert_eq!(alone.digest, output.digest);
    assert!(cells(&output, "flows", "delivered_bytes")[0].unwrap() > 20_000.0);
    let record = disk.file.borrow();
    let repetition = repeated(&record, here()).unwrap();
    assert_eq!((&repetition.difference, repetition.is_cut), (&None, false));
    assert_eq!(repetition.digest, output.digest);
    assert!(repetition.until >= end);
    assert!(repetition.packets_in > 200 && repetition.packets_out > 100, "{repetition:?}");
    let [far, near] = &repetition.interfaces[..] else { panic!("two interfaces") };
    // What came back is what had come out.
    assert_eq!(
        (far.to.packets + near.to.packets, far.from.packets),
        (repetition.packets_out, far.to.packets)
    );
    // What one way loses is seen at both of its ends.
    assert_eq!((near.from.offered, near.from.lost), (165, 165 - far.to.packets));
    assert_eq!((near.from.lost, near.from.delays), (far.to.lost, far.to.delays));
    assert!(near.from.lost > 0, "{near:?}");
    let delays = near.from.delays.unwrap();
    assert!(delays.mean_s > 0.042 && delays.p99_s >= delays.mean_s, "{delays:?}");
    // Blocks are of a second, or of as much as the buffer holds.
    assert!(*disk.longest.borrow() < 200_000);
}

#[test]
fn a_changed_byte_is_found_and_a_record_that_is_cut_is_repeated_up_to_there() {
    let scenario = parse(LAB, &["flows.data.application.total=\"2 kB\""], here());
    let (_, disk) = recorded(&scenario, Instant::from_millis(1_700));
    let record = disk.file.borrow();
    for place in 0..record.len() {
        let mut changed = record.clone();
        changed[place] ^= 1 << (place % 8);
        assert!(read_whole_record(&changed[..]).is_err(), "byte {place}");
    }
    let whole = repeated(&record, here()).unwrap();
    let cut = repeated(&record[..record.len() - 1], here()).unwrap();
    assert!(cut.is_cut && cut.difference.is_none() && cut.packets_in > 20);
    assert!(
        cut.until < whole.until && cut.until >= Instant::from_secs(1),
        "{} of {}",
        cut.until,
        whole.until
    );
}

#[test]
fn the_first_difference_is_named() {
    let scenario = parse(LAB, &[], here());
    let (_, disk) = recorded(&scenario, Instant::from_secs(1));
    let over = |overrides: &[&str]| {
        let replay = EmulationReplay::open(io::Cursor::new(disk.file.borrow().clone())).unwrap();
        replay.repeat(&parse(LAB, overrides, here())).unwrap()
    };
    let later = over(&["links.exit.delay=2 ms"]).difference.unwrap().to_string();
    assert!(later.starts_with("first difference at 0.0") && later.contains("`far` at `exit`: "), "{later}");
    assert!(later.contains(" goes at "), "{later}");
    // Nothing that an attached node sees, but the run is another one.
    let unseen = over(&["flows.data.start=9 s", "links.core.rate=1 Mbit/s"]);
    assert!(unseen.difference.is_some(), "{unseen:?}");
}

#[test]
fn over_another_network_the_same_packets_fare_otherwise() {
    let scenario = parse(LAB, &[], here());
    let (_, disk) = recorded(&scenario, Instant::from_secs(4));
    let before = repeated(&disk.file.borrow(), here()).unwrap();
    let elsewhere = |overrides: &[&str]| {
        let replay = EmulationReplay::open(io::Cursor::new(disk.file.borrow().clone())).unwrap();
        replay.repeat_elsewhere(&parse(LAB, overrides, here()))
    };
    let after = elsewhere(&["links.exit.delay=501 ms", "links.core.loss=30 %"]).unwrap();
    assert_eq!((after.packets_in, &after.difference), (before.packets_in, &None));
    let [was, is] = [&before, &after].map(|repetition| repetition.interfaces[NEAR].from);
    assert_eq!(is.offered, was.offered);
    assert!(is.lost > was.lost + 20, "{is:?} {was:?}");
    assert!(is.delays.unwrap().mean_s > was.delays.unwrap().mean_s + 0.2, "{is:?} {was:?}");
    let none = elsewhere(&["nodes.far.kind=host"]);
    assert!(matches!(none, Err(RepeatError::Record(ReplayFault::UnknownInterface { .. }))), "{none:?}");
}

#[test]
fn a_record_that_cannot_be_written_ends_the_run() {
    let scenario = parse(LAB, &[], here());
    let disk = Disk { room: Some(3), ..Disk::default() };
    let mut programs = Programs::until(Instant::from_secs(9));
    let mut recording = EmulationRecording::begin(&scenario, ".", disk, &mut programs).unwrap();
    let error = run_attached_without_records(&scenario, &RunOptions::default(), &mut recording).unwrap_err();
    assert_eq!(error.to_string(), "the record of the run: the disk is full");
    assert!(programs.next < Instant::from_secs(4));
}

/// An attached node on a ship, one behind a teleport, and hosts at both.
const BENT_PIPE: &str = r#"
    [scenario]
    name = "bent-pipe"
    duration = "400 s"

    [sky]
    topology = "sky.toml"

    [sky.access.all]
    rate = "5 Mbit/s"

    [nodes]
    deck = { kind = "router", site = "ship" }
    near = { kind = "attached" }
    crew = { kind = "host" }
    teleport = { kind = "router", site = "teleport" }
    far = { kind = "attached" }
    server = { kind = "host" }

    [links.cabin]
    ends = ["deck", "near"]
    rate = "1 Gbit/s"
    delay = "1 ms"

    [links.mess]
    ends = ["deck", "crew"]
    rate = "1 Gbit/s"
    delay = "1 ms"

    [links.fibre]
    ends = ["teleport", "server"]
    rate = "1 Gbit/s"
    delay = "5 ms"

    [links.exit]
    ends = ["teleport", "far"]
    rate = "1 Gbit/s"
    delay = "5 ms"

    [flows.reports]
    from = "crew"
    to = "server"
    transport = "sctp"
    application = { kind = "constant-rate", message_size = "512 B", interval = "200 ms" }
"#;

const SHIP_AND_TELEPORT: &str = r#"
    [topology]
    name = "ship"
    epoch = "2026-03-01T00:00:00Z"
    span = "1 h"

    [constellations.oneweb]
    satellites = { kind = "preset", preset = "oneweb" }

    [sites.ship]
    latitude = "50 deg"
    longitude = "-10 deg"

    [sites.teleport]
    latitude = "51.5 deg"
    longitude = "-4 deg"
    relay = "gateway"
"#;

#[test]
fn a_run_with_handovers_is_repeated() {
    let files: Files = std::sync::Arc::new(|_| Ok(SHIP_AND_TELEPORT.to_owned()));
    let scenario = parse(BENT_PIPE, &[], files.clone());
    let (output, disk) = recorded(&scenario, Instant::from_secs(300));
    assert!(cells(&output, "antennas", "handovers")[0].unwrap() >= 2.0);
    let repetition = repeated(&disk.file.borrow(), files).unwrap();
    assert_eq!((repetition.difference, repetition.digest), (None, output.digest));
    assert!(repetition.packets_out > 1_000, "{}", repetition.packets_out);
}
