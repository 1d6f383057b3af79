//! ECN (RFC 3168) with a Linux kernel as the peer, in either direction, over a link that marks and loses what the test
//! says. The kernel is this machine's; each test says so where it cannot have one.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use slantpath_base::{Duration, Instant, Seed};
use slantpath_tcp::{
    ConnectionId, Endpoint, Event, Flags, Input, Output, Segment, SequenceNumber, Snapshot, TcpConfig,
};
use slantpath_testkit::{KernelEnd, KernelLink, KernelPeer, KernelProgram, LinkTreatment, Passage};
use slantpath_wire::ip::{Ecn, protocol};
use slantpath_wire::{Checksum, Packet};

use crate::pair::chance;

/// Length of one transfer in bytes: in segments of 1,448 bytes some 400 of them.
const BYTES: u32 = 600_000;
const ONE_WAY: Duration = Duration::from_millis(20);
/// Far more than a transfer takes, of the machine's own time.
const PATIENCE: Duration = Duration::from_secs(40);
const SETUP: Flags = Flags(Flags::ECE.0 | Flags::CWR.0);

/// A segment at one end of the link.
#[derive(Clone, Copy, Debug)]
struct Seen {
    from: KernelEnd,
    has_come: bool,
    ecn: Ecn,
    sequence: SequenceNumber,
    acknowledgment: SequenceNumber,
    flags: Flags,
    len: u32,
}

impl Seen {
    fn of(passage: &Passage) -> Self {
        let packet = Packet::copied(&passage.payload, Checksum::Complete);
        let (segment, data) = Segment::parse(&packet, passage.header.source, passage.header.destination)
            .expect("a segment, and its checksum right");
        Self {
            from: passage.from,
            has_come: passage.has_come,
            ecn: passage.ecn(),
            sequence: segment.sequence,
            acknowledgment: segment.acknowledgment,
            flags: segment.flags,
            len: u32::try_from(data.len()).expect("less than IP carries"),
        }
    }

    const fn is_data(&self) -> bool {
        self.len > 0
    }

    fn end(&self) -> SequenceNumber {
        self.sequence.plus(self.len)
    }

    fn setup(&self) -> Flags {
        Flags(self.flags.0 & SETUP.0)
    }
}

/// A transfer that is over.
struct Transfer {
    counts: BTreeMap<String, u64>,
    seen: Vec<Seen>,
    /// The last of our side before it was gone.
    snapshot: Snapshot,
    received_bytes: u64,
    /// Our slow-start threshold after each reduction by a mark, in bytes.
    reduced_to: Vec<u64>,
}

impl Transfer {
    /// Segments that have left an end.
    fn left(&self, from: KernelEnd) -> impl Iterator<Item = &Seen> {
        self.seen.iter().filter(move |seen| seen.from == from && !seen.has_come)
    }
}

/// Our side while a transfer lasts.
struct Ours {
    endpoint: Endpoint,
    id: Option<ConnectionId>,
    sender: KernelEnd,
    bytes: u32,
    deadline: Option<Instant>,
    received_bytes: u64,
    snapshot: Option<Snapshot>,
    reduced_to: Vec<u64>,
    is_over: bool,
}

impl Ours {
    fn drain(&mut self, link: &mut KernelLink) {
        let now = link.now();
        loop {
            let mut packet = Packet::default();
            match self.endpoint.poll_output(now, &mut packet) {
                Output::Transmit(envelope) => link.send(&envelope, protocol::TCP, &packet),
                Output::Event(id, event) => {
                    self.id = Some(id);
                    match (event, self.sender) {
                        (Event::Connected, KernelEnd::Ours) => {
                            self.endpoint.write(now, id, vec![0; self.bytes as usize].into()).unwrap();
                            self.endpoint.close(now, id).unwrap();
                        }
                        (Event::PeerClosed, KernelEnd::Theirs) => self.endpoint.close(now, id).unwrap(),
                        (Event::Data(bytes), _) => self.received_bytes += bytes.len() as u64,
                        (Event::Closed, _) => self.is_over = true,
                        (Event::Reset(cause), _) => panic!("{cause:?}"),
                        _ => {}
                    }
                }
                Output::Wait(deadline) => {
                    self.deadline = deadline;
                    break;
                }
            }
        }
        if let Some(snapshot) = self.id.and_then(|id| self.endpoint.snapshot(id)) {
            let before = self.snapshot.map_or(0, |before| before.mark_reductions);
            if snapshot.mark_reductions > before {
                self.reduced_to.push(snapshot.ssthresh_bytes);
            }
            self.snapshot = Some(snapshot);
        }
    }

    fn handle(&mut self, link: &mut KernelLink, input: Input<'_>) {
        self.endpoint.handle_input(link.now(), input);
        self.drain(link);
    }
}

/// Sends so many bytes, or has the kernel send them, and closes. Nothing where there is no kernel for it.
fn transfer(
    sender: KernelEnd,
    bytes: u32,
    config: TcpConfig,
    tcp_ecn: u8,
    treatment: LinkTreatment,
) -> Option<Transfer> {
    let (program, treatments) = match sender {
        KernelEnd::Ours => (KernelProgram::Receives, [treatment, LinkTreatment::default()]),
        KernelEnd::Theirs => (KernelProgram::Sends(bytes), [LinkTreatment::default(), treatment]),
    };
    let mut link = KernelLink::new(KernelPeer::tcp(program, tcp_ecn)?, ONE_WAY, treatments);
    let mut ours = Ours {
        endpoint: Endpoint::default(),
        id: None,
        sender,
        bytes,
        deadline: None,
        received_bytes: 0,
        snapshot: None,
        reduced_to: Vec::new(),
        is_over: false,
    };
    if sender == KernelEnd::Ours {
        let from = SocketAddr::new(KernelPeer::OURS, 40_000);
        let to = SocketAddr::new(KernelPeer::THEIRS, KernelPeer::PORT);
        let mut stream = Seed::new(1, 0).stream("ours");
        ours.id = Some(ours.endpoint.connect(link.now(), from, to, config, &mut stream).unwrap());
    } else {
        ours.endpoint.listen(KernelPeer::PORT, config, chance()).unwrap();
    }
    ours.drain(&mut link);
    while !ours.is_over {
        assert!(link.now() < Instant::START + PATIENCE, "it does not end: {:?}", ours.snapshot);
        link.turn(ours.deadline);
        while let Some((envelope, mut packet)) = link.receive() {
            let (source, destination, ip) = (envelope.source, envelope.destination, envelope.fields);
            ours.handle(&mut link, Input::Packet { source, destination, ip, packet: &mut packet });
        }
        if ours.deadline.is_some_and(|at| at <= link.now()) {
            ours.handle(&mut link, Input::Deadline);
        }
    }
    // What is still on its way to the kernel arrives.
    let until = link.now() + ONE_WAY + ONE_WAY;
    while link.now() < until {
        link.turn(Some(until));
    }
    let (counts, passages) = link.end();
    let Ours { snapshot, received_bytes, reduced_to, .. } = ours;
    let seen = passages.iter().map(Seen::of).collect();
    Some(Transfer { counts, seen, snapshot: snapshot.expect("a connection"), received_bytes, reduced_to })
}

/// Our side of a transfer, with a stack that Linux talks to.
fn config() -> TcpConfig {
    TcpConfig {
        ecn: true,
        mss_bytes: 1_448,
        maximum_segment_lifetime: Duration::ZERO,
        ..TcpConfig::default()
    }
}

fn marked(numbers: &[usize]) -> LinkTreatment {
    LinkTreatment { marked: numbers.to_vec(), lost: Vec::new() }
}

/// Control bits of ECN in the two SYNs of a transfer, caller's first.
fn agreement(transfer: &Transfer, caller: KernelEnd, listener: KernelEnd) -> [Flags; 2] {
    [caller, listener].map(|end| {
        let syn = transfer.left(end).next().expect("a SYN");
        assert!(syn.flags.contains(Flags::SYN));
        assert_eq!(syn.ecn, Ecn::NotCapable);
        syn.setup()
    })
}

/// Holds both ends to what RFC 3168 says of packets that may be marked: new data, and nothing else.
fn assert_who_may_be_marked(transfer: &Transfer) -> usize {
    let mut sent_again = 0;
    for end in [KernelEnd::Ours, KernelEnd::Theirs] {
        let mut highest = None;
        for seen in transfer.left(end) {
            let is_new = seen.is_data()
                && highest.is_none_or(|highest: SequenceNumber| !seen.sequence.is_before(highest));
            if is_new {
                highest = Some(seen.end());
            }
            sent_again += usize::from(seen.is_data() && !is_new);
            let expected = if is_new { Ecn::Capable0 } else { Ecn::NotCapable };
            assert_eq!(seen.ecn, expected, "{seen:?}");
        }
    }
    sent_again
}

/// Holds a receiver whose data has all come in order to what RFC 3168, section 6.1.3, says of ECE: from a mark up to
/// the segment with CWR. Returns how many acknowledgements had it.
fn assert_echo(transfer: &Transfer, receiver: KernelEnd) -> usize {
    // Whether what is acknowledged up to a place is to be echoed.
    let mut echoed_from: Vec<(SequenceNumber, bool)> = Vec::new();
    let (mut is_echoing, mut echoes) = (false, 0);
    for seen in &transfer.seen {
        if seen.flags.contains(Flags::SYN) {
            continue;
        }
        if seen.from != receiver && seen.has_come && seen.is_data() {
            if seen.flags.contains(Flags::CWR) {
                is_echoing = false;
            }
            if seen.ecn == Ecn::CongestionExperienced {
                is_echoing = true;
            }
            echoed_from.push((seen.end(), is_echoing));
        }
        if seen.from == receiver && !seen.has_come {
            let of = echoed_from.iter().rev().find(|(end, _)| !seen.acknowledgment.is_before(*end));
            let expected = of.is_some_and(|(_, is_echoing)| *is_echoing);
            assert_eq!(seen.flags.contains(Flags::ECE), expected, "{seen:?}");
            echoes += usize::from(expected);
        }
    }
    assert!(!is_echoing, "every mark is answered");
    echoes
}

/// The most that was in flight over `SENDS` segments of data until a sender heard of a mark, and after all that was in
/// flight when it reduced its window had been acknowledged, in bytes.
#[derive(Clone, Copy, Debug)]
struct Reduction {
    before: u32,
    after: u32,
}

const SENDS: usize = 16;

/// Holds a sender to one reduction a window (RFC 3168, section 6.1.2), of which it tells by CWR on new data.
fn reductions(transfer: &Transfer, sender: KernelEnd) -> Vec<Reduction> {
    // After each segment of data, what was in flight.
    let mut in_flight: Vec<u32> = Vec::new();
    let mut acknowledged = None;
    // Of each reduction how many segments had left before its first echo, where it was told, and how many had left when
    // that was acknowledged.
    let mut echo = None;
    let mut told: Option<(usize, SequenceNumber)> = None;
    let mut places = Vec::new();
    for seen in transfer.seen.iter().filter(|seen| !seen.flags.contains(Flags::SYN)) {
        if seen.from == sender && !seen.has_come && seen.is_data() {
            if seen.flags.contains(Flags::CWR) {
                assert!(told.is_none(), "it reduces before the last window is acknowledged: {seen:?}");
                told = Some((echo.take().expect("an echo comes first"), seen.sequence));
            }
            in_flight.push(seen.end().distance_from(acknowledged.unwrap_or(seen.sequence)));
        }
        if seen.from != sender && seen.has_come {
            acknowledged = Some(seen.acknowledgment);
            if let Some((at_echo, _)) = told.take_if(|(_, at)| !seen.acknowledgment.is_before(*at)) {
                places.push((at_echo, in_flight.len()));
            }
            if told.is_none() && seen.flags.contains(Flags::ECE) {
                echo.get_or_insert(in_flight.len());
            }
        }
    }
    assert!(told.is_none(), "what was in flight at the last reduction is acknowledged");
    let most =
        |from: usize, to: usize| in_flight[from..to.min(in_flight.len())].iter().copied().max().unwrap_or(0);
    let of = |(echo, over): (usize, usize)| Reduction {
        before: most(echo.saturating_sub(SENDS), echo),
        after: most(over, over + SENDS),
    };
    places.into_iter().map(of).collect()
}

/// Two marks in one window, and one long after.
const MARKS: [usize; 3] = [12, 14, 250];

/// Holds what the kernel has received to what we have sent and the link has marked.
fn assert_counted(transfer: &Transfer, marked: u64) {
    let has_come = |ecn| {
        let of = |seen: &&Seen| seen.from == KernelEnd::Ours && seen.has_come && seen.ecn == ecn;
        transfer.seen.iter().filter(of).count() as u64
    };
    let counted = |name: &str| transfer.counts[&format!("IpExtIn{name}Pkts")];
    assert_eq!(counted("CE"), marked);
    assert_eq!(has_come(Ecn::CongestionExperienced), marked);
    assert_eq!(counted("ECT0"), has_come(Ecn::Capable0));
    assert_eq!(counted("ECT1"), 0);
    assert_eq!(counted("NoECT"), has_come(Ecn::NotCapable));
}

#[test]
fn the_kernel_echoes_our_marks_and_we_reduce_once_a_window() {
    let Some(transfer) = transfer(KernelEnd::Ours, BYTES, config(), 1, marked(&MARKS)) else { return };
    assert_eq!(agreement(&transfer, KernelEnd::Ours, KernelEnd::Theirs), [SETUP, Flags::ECE]);
    assert_eq!(transfer.counts["received"], u64::from(BYTES));
    assert_eq!(assert_who_may_be_marked(&transfer) as u64, transfer.snapshot.retransmissions);
    assert_counted(&transfer, MARKS.len() as u64);
    let echoes = assert_echo(&transfer, KernelEnd::Theirs);
    assert!(echoes >= 2, "{echoes}");
    let reductions = reductions(&transfer, KernelEnd::Ours);
    println!("{echoes} echoes, {reductions:?}, thresholds {:?}", transfer.reduced_to);
    assert_eq!((reductions.len(), transfer.snapshot.mark_reductions), (2, 2));
    for (reduction, &threshold) in reductions.iter().zip(&transfer.reduced_to) {
        assert!(
            threshold.abs_diff(u64::from(reduction.before) / 2) <= 2 * 1_448,
            "{reduction:?} to {threshold}"
        );
        assert!(u64::from(reduction.after) <= threshold + 2 * 1_448, "{reduction:?} to {threshold}");
    }
}

#[test]
fn we_echo_the_marks_of_the_kernel_and_it_reduces_once_a_window() {
    let Some(transfer) = transfer(KernelEnd::Theirs, BYTES, config(), 1, marked(&MARKS)) else { return };
    assert_eq!(agreement(&transfer, KernelEnd::Theirs, KernelEnd::Ours), [SETUP, Flags::ECE]);
    assert_eq!(transfer.received_bytes, u64::from(BYTES));
    assert_eq!(assert_who_may_be_marked(&transfer) as u64, transfer.counts["TcpRetransSegs"]);
    assert_counted(&transfer, 0);
    let echoes = assert_echo(&transfer, KernelEnd::Ours);
    assert!(echoes >= 2, "{echoes}");
    let reductions = reductions(&transfer, KernelEnd::Theirs);
    let delivered = transfer.counts["TcpExtTCPDeliveredCE"];
    println!("{echoes} echoes, {reductions:?}, {delivered} segments acknowledged with one");
    assert_eq!(reductions.len(), 2);
    for reduction in reductions {
        assert!(reduction.after <= reduction.before / 2 + 3 * 1_448, "{reduction:?}");
    }
    assert!(delivered >= echoes as u64, "it has read our echoes: {delivered} of {echoes}");
}

#[test]
fn neither_end_lets_be_marked_what_it_sends_again() {
    for sender in [KernelEnd::Ours, KernelEnd::Theirs] {
        let treatment = LinkTreatment { lost: vec![40, 120], ..marked(&[15]) };
        let Some(transfer) = transfer(sender, BYTES, config(), 1, treatment) else { return };
        let sent_again = assert_who_may_be_marked(&transfer) as u64;
        assert!(sent_again >= 2, "{sent_again}");
        let (received, counted) = match sender {
            KernelEnd::Ours => (transfer.counts["received"], transfer.snapshot.retransmissions),
            KernelEnd::Theirs => (transfer.received_bytes, transfer.counts["TcpRetransSegs"]),
        };
        println!("{sender:?}: {sent_again} segments retransmitted");
        assert_eq!((received, counted), (u64::from(BYTES), sent_again));
        assert_counted(&transfer, u64::from(sender == KernelEnd::Ours));
    }
}

#[test]
fn nothing_may_be_marked_where_one_end_does_not_want_it() {
    let none = Flags::default();
    let without = TcpConfig { ecn: false, ..config() };
    for (sender, ours, tcp_ecn, expected, is_used) in [
        (KernelEnd::Ours, config(), 0, [SETUP, none], false),
        // Linux's default: it agrees, and does not ask.
        (KernelEnd::Ours, config(), 2, [SETUP, Flags::ECE], true),
        (KernelEnd::Ours, without, 1, [none, none], false),
        (KernelEnd::Theirs, config(), 2, [none, none], false),
        (KernelEnd::Theirs, without, 1, [SETUP, none], false),
    ] {
        let Some(transfer) = transfer(sender, 20_000, ours, tcp_ecn, marked(&[3])) else { return };
        let listener = if sender == KernelEnd::Ours { KernelEnd::Theirs } else { KernelEnd::Ours };
        assert_eq!(agreement(&transfer, sender, listener), expected, "{sender:?}, {tcp_ecn}");
        let can_be_marked = transfer.seen.iter().any(|seen| seen.ecn != Ecn::NotCapable);
        assert_eq!(can_be_marked, is_used, "{sender:?}, {tcp_ecn}");
        assert_counted(&transfer, u64::from(is_used));
    }
}
