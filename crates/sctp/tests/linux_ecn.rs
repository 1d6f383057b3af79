//! ECN (RFC 4960, appendix A) with a Linux kernel as the peer, in either direction, over a link that marks and loses
//! what the test says. The kernel is a guest's; each test says so where it cannot have one.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Seed};
use slantpath_sctp::{
    Acceptance, AssociationId, Chunk, ConnectOptions, Endpoint, Event, Input, Message, Output, Parameter,
    ParsedPacket, PathSnapshot, PortConfig, Ppid, SctpConfig, StreamId, Tsn,
};
use slantpath_testkit::{KernelEnd, KernelLink, KernelPeer, KernelProgram, LinkTreatment, Passage};
use slantpath_wire::ip::{Ecn, Envelope, protocol};
use slantpath_wire::{Checksum, Packet};

/// Each of the size that the kernel's program sends: one to a packet.
const MESSAGES: u32 = 300;
const MESSAGE_BYTES: u32 = 1_000;
const ONE_WAY: Duration = Duration::from_millis(20);
/// Far more than a transfer takes, of the machine's own time.
const PATIENCE: Duration = Duration::from_secs(40);

/// A packet at one end of the link.
#[derive(Clone, Debug)]
struct Seen {
    from: KernelEnd,
    has_come: bool,
    ecn: Ecn,
    chunks: Vec<Chunk>,
}

impl Seen {
    fn of(passage: &Passage) -> Self {
        let packet = Packet::copied(&passage.payload, Checksum::Complete);
        let parsed = ParsedPacket::parse(&packet).expect("a packet, and its checksum right");
        let chunks = parsed.chunks().map(|chunk| chunk.expect("a chunk that can be read")).collect();
        Self { from: passage.from, has_come: passage.has_come, ecn: passage.ecn(), chunks }
    }

    fn data(&self) -> Option<Tsn> {
        self.chunks.iter().find_map(|chunk| if let Chunk::Data(data) = chunk { Some(data.tsn) } else { None })
    }

    fn echo(&self) -> Option<Tsn> {
        self.chunks
            .iter()
            .find_map(|chunk| if let Chunk::Ecne(ecne) = chunk { Some(ecne.lowest_tsn) } else { None })
    }

    fn reduced(&self) -> Option<Tsn> {
        self.chunks
            .iter()
            .find_map(|chunk| if let Chunk::Cwr(cwr) = chunk { Some(cwr.lowest_tsn) } else { None })
    }

    fn sack(&self) -> Option<Tsn> {
        self.chunks.iter().find_map(|chunk| {
            if let Chunk::Sack(sack) = chunk { Some(sack.cumulative_tsn_ack) } else { None }
        })
    }

    /// Tells if the packet offers ECN; `None` if it is not of the handshake.
    fn offer(&self) -> Option<bool> {
        let parameters = match self.chunks.first()? {
            Chunk::Init(init) => &init.parameters,
            Chunk::InitAck(init_ack) => &init_ack.parameters,
            _ => return None,
        };
        Some(parameters.contains(&Parameter::EcnCapable))
    }
}

/// Our side while a transfer lasts.
struct Ours {
    endpoint: Endpoint,
    sender: KernelEnd,
    id: Option<AssociationId>,
    deadline: Option<Instant>,
    received_bytes: u64,
    /// Of our window: how often a mark has reduced it, and from what to what.
    path: Option<PathSnapshot>,
    reductions: Vec<[u64; 2]>,
    is_over: bool,
}

impl Ours {
    fn drain(&mut self, link: &mut KernelLink) {
        let now = link.now();
        loop {
            let mut packet = Packet::default();
            match self.endpoint.poll_output(now, &mut packet) {
                Output::Transmit { source, destination, ip: fields, .. } => {
                    link.send(&Envelope { source, destination, fields }, protocol::SCTP, &packet);
                }
                Output::Event(id, event) => {
                    self.id = Some(id);
                    match (event, self.sender) {
                        (Event::Established { .. }, KernelEnd::Ours) => self.send_all(now, id),
                        (Event::Received(message), _) => self.received_bytes += message.payload.len() as u64,
                        (Event::Closed(_), _) => self.is_over = true,
                        _ => {}
                    }
                }
                Output::Wait(deadline) => {
                    self.deadline = deadline;
                    break;
                }
            }
        }
        let Some(id) = self.id else { return };
        if let Some(path) = self.endpoint.path_snapshots(now, id).next() {
            if let Some(before) = &self.path
                && path.stats.mark_reductions > before.stats.mark_reductions
            {
                self.reductions.push([before.cwnd, path.cwnd]);
            }
            self.path = Some(path);
        }
    }

    fn send_all(&mut self, now: Instant, id: AssociationId) {
        for _ in 0..MESSAGES {
            let message = Message {
                stream: StreamId(0),
                ppid: Ppid(53),
                payload: Bytes::from(vec![0; MESSAGE_BYTES as usize]),
                is_unordered: false,
                context: 0,
                options: None,
            };
            self.endpoint.send(now, id, message).unwrap();
        }
        assert!(self.endpoint.shutdown(now, id));
    }

    fn handle(&mut self, link: &mut KernelLink, input: Input) {
        self.endpoint.handle_input(link.now(), input);
        self.drain(link);
    }
}

/// A transfer that is over.
struct Transfer {
    counts: BTreeMap<String, u64>,
    seen: Vec<Seen>,
    received_bytes: u64,
    /// Of each reduction of our window by a mark, cwnd before and after, in bytes.
    reductions: Vec<[u64; 2]>,
}

impl Transfer {
    /// Packets that have left either end.
    fn left(&self) -> impl Iterator<Item = &Seen> {
        self.seen.iter().filter(|seen| !seen.has_come)
    }
}

/// Sends all messages, or has the kernel send them, and shuts down. Nothing where there is no kernel for it.
fn transfer(sender: KernelEnd, treatment: LinkTreatment) -> Option<Transfer> {
    let (program, treatments) = match sender {
        KernelEnd::Ours => (KernelProgram::Receives, [treatment, LinkTreatment::default()]),
        KernelEnd::Theirs => {
            (KernelProgram::Sends(MESSAGES * MESSAGE_BYTES), [LinkTreatment::default(), treatment])
        }
    };
    let mut link = KernelLink::new(KernelPeer::sctp(program, 1)?, ONE_WAY, treatments);
    let config = SctpConfig { ecn: true, ..SctpConfig::default() };
    let mut endpoint = Endpoint::default();
    let port = PortConfig { port: KernelPeer::PORT, addresses: vec![KernelPeer::OURS], config };
    endpoint.bind(port, Seed::new(1, 0).stream("ours")).unwrap();
    let mut ours = Ours {
        endpoint,
        sender,
        id: None,
        deadline: None,
        received_bytes: 0,
        path: None,
        reductions: Vec::new(),
        is_over: false,
    };
    if sender == KernelEnd::Ours {
        let options = ConnectOptions {
            local_port: KernelPeer::PORT,
            peer_addresses: vec![KernelPeer::THEIRS],
            peer_port: KernelPeer::PORT,
            ..ConnectOptions::default()
        };
        ours.endpoint.connect(link.now(), &options).unwrap();
    } else {
        ours.endpoint.listen(KernelPeer::PORT, Acceptance::InTurn);
    }
    ours.drain(&mut link);
    while !ours.is_over {
        assert!(link.now() < Instant::START + PATIENCE, "it does not end: {:?}", ours.path);
        link.turn(ours.deadline);
        while let Some((Envelope { source, destination, fields: ip }, packet)) = link.receive() {
            ours.handle(&mut link, Input::Packet { source, destination, ip, packet });
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
    let Ours { received_bytes, reductions, .. } = ours;
    Some(Transfer { counts, seen: passages.iter().map(Seen::of).collect(), received_bytes, reductions })
}

/// Holds a transfer to what both ends must do: offer ECN, echo the TSNs of what was marked and nothing else, and answer
/// every echo. Returns the echoed TSNs.
fn assert_agreed(transfer: &Transfer, sender: KernelEnd) -> BTreeSet<u32> {
    let offers: Vec<bool> = transfer.left().filter_map(Seen::offer).collect();
    assert_eq!(offers, [true, true]);
    let tsns = |of: &dyn Fn(&Seen) -> Option<Tsn>, has_come: bool, from_sender: bool| -> Vec<u32> {
        let wanted = |seen: &&Seen| seen.has_come == has_come && (seen.from == sender) == from_sender;
        transfer.seen.iter().filter(wanted).filter_map(of).map(|tsn| tsn.0).collect()
    };
    let marked = tsns(&|seen| seen.data().filter(|_| seen.ecn == Ecn::CongestionExperienced), true, true);
    assert_eq!(marked.len(), 3);
    let (echoes, answers) = (tsns(&Seen::echo, true, false), tsns(&Seen::reduced, false, true));
    assert_eq!(echoes.len(), answers.len(), "each echo is answered");
    let (echoed, answered) = (BTreeSet::from_iter(echoes), BTreeSet::from_iter(answers));
    assert!(echoed.iter().all(|tsn| marked.contains(tsn)), "{echoed:?} of {marked:?}");
    assert!(marked[1..].iter().all(|tsn| echoed.contains(tsn)), "{echoed:?} of {marked:?}");
    assert!(answered.is_subset(&echoed) && answered.contains(&marked[2]), "{answered:?} of {echoed:?}");
    echoed
}

/// Holds a receiver to it that each SACK has an ECNE of the latest mark from that mark on until a CWR has come. Returns
/// how many had one.
fn assert_echo(transfer: &Transfer, receiver: KernelEnd) -> usize {
    // Of each TSN that has come, what is to be echoed once it has; nothing is known of one behind which a CWR came by
    // itself, since a SACK of it may have left before or after that.
    let mut after: BTreeMap<u32, Option<Option<Tsn>>> = BTreeMap::new();
    let (mut pending, mut latest, mut echoes) = (None, None, 0);
    for seen in &transfer.seen {
        if seen.from != receiver && seen.has_come {
            if let (Some(mark), Some(told)) = (pending, seen.reduced())
                && !told.is_before(mark)
            {
                pending = None;
                if let Some(latest) = latest {
                    after.insert(latest, None);
                }
            }
            if let Some(tsn) = seen.data() {
                if seen.ecn == Ecn::CongestionExperienced {
                    pending = Some(tsn);
                }
                latest = Some(tsn.0);
                after.insert(tsn.0, Some(pending));
            }
        }
        if seen.from == receiver
            && !seen.has_come
            && let Some(acknowledged) = seen.sack()
        {
            echoes += usize::from(seen.echo().is_some());
            if let Some(Some(expected)) = after.get(&acknowledged.0) {
                assert_eq!(seen.echo(), *expected, "{seen:?}");
            }
        }
    }
    assert_eq!(pending, None, "every mark is answered");
    echoes
}

/// The most packets of data in flight before each of these echoes came, and after the data of then was acknowledged.
fn in_flight(transfer: &Transfer, sender: KernelEnd, echoed: &BTreeSet<u32>) -> Vec<[u32; 2]> {
    const SENDS: usize = 12;
    let (mut flights, mut acknowledged, mut sent) = (Vec::new(), None, None);
    let (mut open, mut places) = (Vec::new(), Vec::new());
    let mut heard = BTreeSet::new();
    for seen in &transfer.seen {
        if let Some(tsn) = seen.data().filter(|_| seen.from == sender && !seen.has_come) {
            flights.push(tsn.0.wrapping_sub(acknowledged.map_or(tsn.0.wrapping_sub(1), |tsn: Tsn| tsn.0)));
            sent = Some(tsn);
        }
        if seen.from != sender && seen.has_come {
            acknowledged = seen.sack().or(acknowledged);
            let is_over = |at: Tsn| acknowledged.is_some_and(|tsn| !tsn.is_before(at));
            let (over, others): (Vec<_>, Vec<_>) = open.into_iter().partition(|&(_, at)| is_over(at));
            places.extend(over.into_iter().map(|(echo, _)| (echo, flights.len())));
            open = others;
            if let Some(tsn) = seen.echo().filter(|tsn| echoed.contains(&tsn.0) && heard.insert(tsn.0)) {
                open.push((flights.len(), sent.unwrap_or(tsn)));
            }
        }
    }
    let most =
        |from: usize, to: usize| flights[from..to.min(flights.len())].iter().copied().max().unwrap_or(0);
    let of =
        |(echo, over): (usize, usize)| [most(echo.saturating_sub(SENDS), echo), most(over, over + SENDS)];
    places.into_iter().map(of).collect()
}

#[test]
fn the_kernel_echoes_our_marks_until_our_cwr_and_we_reduce_once_a_window() {
    // Two marks in one window, one long after, and a loss later still.
    let treatment = LinkTreatment { marked: vec![12, 14, 150], lost: vec![220] };
    let Some(transfer) = transfer(KernelEnd::Ours, treatment) else { return };
    assert_eq!(transfer.counts["received"], u64::from(MESSAGES * MESSAGE_BYTES));
    assert_agreed(&transfer, KernelEnd::Ours);
    let echoes = assert_echo(&transfer, KernelEnd::Theirs);
    println!("{echoes} SACKs with ECNE, cwnd {:?}", transfer.reductions);
    // Half of the window, and no less than four packets.
    assert_eq!(transfer.reductions.len(), 2);
    for [before, after] in &transfer.reductions {
        assert_eq!(*after, (before / 2).max(4 * 1_468));
    }
    // New data may be marked, and nothing else: one packet of data is retransmitted, at least.
    let (mut highest, mut sent_again): (Option<Tsn>, _) = (None, 0);
    for seen in transfer.left().filter(|seen| seen.from == KernelEnd::Ours) {
        let is_new = seen.data().filter(|tsn| highest.is_none_or(|highest| highest.is_before(*tsn)));
        sent_again += u32::from(seen.data().is_some() && is_new.is_none());
        highest = is_new.or(highest);
        let expected = if is_new.is_some() { Ecn::Capable0 } else { Ecn::NotCapable };
        assert_eq!(seen.ecn, expected, "{seen:?}");
    }
    assert!(sent_again >= 1);
    assert_eq!(transfer.counts["IpExtInCEPkts"], 3);
    let has_come = |seen: &&Seen| seen.from == KernelEnd::Ours && seen.has_come && seen.ecn == Ecn::Capable0;
    assert_eq!(transfer.counts["IpExtInECT0Pkts"], transfer.seen.iter().filter(has_come).count() as u64);
}

#[test]
fn we_echo_the_marks_of_the_kernel_until_its_cwr_and_it_reduces() {
    // The kernel has ECT(0) on its INIT and COOKIE ECHO as well, which are the first two.
    let Some(transfer) =
        transfer(KernelEnd::Theirs, LinkTreatment { marked: vec![14, 16, 152], lost: Vec::new() })
    else {
        return;
    };
    assert_eq!(transfer.received_bytes, u64::from(MESSAGES * MESSAGE_BYTES));
    let echoed = assert_agreed(&transfer, KernelEnd::Theirs);
    let echoes = assert_echo(&transfer, KernelEnd::Ours);
    let flights = in_flight(&transfer, KernelEnd::Theirs, &echoed);
    println!("{echoes} SACKs with ECNE, packets in flight {flights:?}");
    let [before, after] = flights.last().expect("an echo");
    assert!(4 * after <= 3 * before, "{flights:?}");
    let ours = || transfer.left().filter(|seen| seen.from == KernelEnd::Ours);
    assert!(ours().all(|seen| seen.ecn == Ecn::NotCapable), "we send no data");
    assert_eq!(transfer.counts["IpExtInECT0Pkts"], 0);
}
