//! The application below an adaptation layer outside the host: it keeps an SCTP association up for M2PA and M3UA.
//!
//! One end opens the association, and again whenever it is lost; the other listens. A message that SCTP's send buffer
//! refuses is kept until there is room, and the layer above is told at once that the association is congested. M2PA
//! then keeps its messages, so that no more than one of them is ever here; M3UA has no queue of its own and hands over
//! what its users send, which follows in order.

use std::collections::VecDeque;
use std::net::IpAddr;

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_host::{
    OutgoingMessage, PathSample, Peer, Protocol, SentPart, Served, Socket, SocketEvent, TransportConfig,
};
use slantpath_sctp as sctp;
use slantpath_wire::transport::{StreamNumber, Transmit, TransportInput};

use crate::carrier_records::CarrierRecords;
use crate::failover::Failover;
use crate::noted::Outbox;
use crate::path_probe::PathProbe;

/// One end of an association.
#[derive(Clone, Debug)]
pub struct AssociationConfig {
    /// SCTP's settings.
    pub sctp: Box<sctp::SctpConfig>,
    /// The host's addresses that it uses.
    pub local_addresses: Vec<IpAddr>,
    /// The host's port.
    pub local_port: u16,
    /// Whom to connect to; a listener has nobody.
    pub peer: Option<Peer>,
    /// Time from a loss, or a failed attempt, until the association is opened again.
    pub reopen_after: Duration,
    /// Least time between two samples of each path's congestion state; `None` if paths are not sampled.
    pub sample_paths: Option<Duration>,
    /// True if the time until the acknowledgement of messages is measured.
    pub measures_delay: bool,
}

/// Counts of the messages of an association's end, and of the association's ups and losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssociationCounters {
    /// Messages given to SCTP.
    pub sent: u64,
    /// Bytes of these messages.
    pub sent_bytes: u64,
    /// Messages received.
    pub received: u64,
    /// Bytes of these messages.
    pub received_bytes: u64,
    /// Number of times that the association came up.
    pub times_up: u64,
    /// Number of times that the association was lost.
    pub times_lost: u64,
    /// Messages thrown away: the association was down when they came, or had no such stream.
    pub discarded_down: u64,
    /// Messages that had not been sent when the association was lost or began anew, and went back to the layer above.
    pub returned: u64,
    /// Messages that had been sent then and were not acknowledged: whether they arrived is not known.
    pub in_doubt: u64,
    /// Messages thrown away because too many had been refused by SCTP's send buffer.
    pub discarded_full: u64,
    /// Messages that SCTP at the far end has for good; only if they are [measured](AssociationConfig::measures_delay).
    pub acknowledged: u64,
    /// Sum of the times from the hand-over by the layer above to the acknowledgement of these messages.
    pub acknowledged_after: Duration,
}

/// Greatest number of messages kept that SCTP's send buffer has refused. The layer above is told of congestion at the
/// first: those that follow are what the users of M3UA send before their congestion control answers. 16,384 messages of
/// 100 bytes are 1.6 MB, beside SCTP's own buffer of 1 MiB.
pub const REFUSED_MAX: usize = 16_384;

/// Conduct after a loss of an end that opens the association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    /// Whenever it is lost.
    Always,
    /// Not before it is asked to.
    Held,
}

#[derive(Debug)]
pub(crate) struct Carrier {
    is_up: bool,
    /// True if this end opens the association; the other listens.
    opens: bool,
    /// Instant at which a lost association is opened again.
    open_at: Option<Instant>,
    opening: Opening,
    reopen_after: Duration,
    /// Messages that SCTP has refused, for want of room or since it ends; oldest first.
    refused: VecDeque<OutgoingMessage>,
    /// Octets of messages that SCTP gave back since the association was lost or began anew, of which it is told next.
    given_back: Vec<Bytes>,
    inputs: Outbox<TransportInput>,
    probe: Option<PathProbe>,
    /// Instants at which the messages not yet acknowledged were handed over, oldest first, if that is measured. Streams
    /// may overtake each other: then a single delay may be that of another message, but the sum of the delays is right.
    handed_over: Option<VecDeque<Instant>>,
    /// Failovers and arrivals since they were taken, if they are kept.
    records: Option<Box<CarrierRecords>>,
    counters: AssociationCounters,
}

impl AssociationConfig {
    /// Configuration of the association's socket.
    pub(crate) fn transport(&self) -> TransportConfig {
        TransportConfig {
            protocol: Protocol::Sctp(self.sctp.clone()),
            local_addresses: self.local_addresses.clone(),
            local_port: self.local_port,
            peer: self.peer.clone(),
        }
    }
}

impl Carrier {
    pub(crate) fn new(config: &AssociationConfig) -> Self {
        let opens = config.peer.is_some();
        Self {
            is_up: false,
            opens,
            open_at: opens.then_some(Instant::START),
            opening: Opening::Always,
            reopen_after: config.reopen_after,
            refused: VecDeque::new(),
            given_back: Vec::new(),
            inputs: Outbox::new(),
            probe: config.sample_paths.map(PathProbe::new),
            handed_over: config.measures_delay.then(VecDeque::new),
            records: None,
            counters: AssociationCounters::default(),
        }
    }

    pub(crate) fn keep_records(&mut self) {
        self.records.get_or_insert_default();
    }

    /// Takes what was recorded since this was last asked.
    pub(crate) fn take_records(&mut self) -> CarrierRecords {
        self.records.as_mut().map(|records| std::mem::take(&mut **records)).unwrap_or_default()
    }

    /// The association begins, or begins anew.
    fn note_begun(&mut self, now: Instant) {
        if let Some(records) = &mut self.records {
            records.deliveries.push((now, None));
        }
    }

    pub(crate) const fn counters(&self) -> AssociationCounters {
        self.counters
    }

    /// Messages that wait for the transport's buffer.
    pub(crate) fn waiting(&self) -> usize {
        self.refused.len()
    }

    /// Inputs for the layer above.
    #[inline]
    pub(crate) const fn inputs(&mut self) -> &mut Outbox<TransportInput> {
        &mut self.inputs
    }

    /// Leaves the association closed until [`Carrier::open_again`]; its end comes as an event.
    pub(crate) fn close(&mut self, now: Instant, socket: &mut Socket<'_>) {
        self.opening = Opening::Held;
        self.open_at = None;
        socket.abort(now);
    }

    /// Opens an association that was closed, if this end opens it.
    pub(crate) fn open_again(&mut self, now: Instant) {
        if std::mem::replace(&mut self.opening, Opening::Always) == Opening::Held && self.opens {
            self.open_at = Some(now);
        }
    }

    pub(crate) fn send(&mut self, now: Instant, transmit: Transmit, socket: &mut Socket<'_>) {
        if !self.is_up {
            self.counters.discarded_down += 1;
            return;
        }
        let message = OutgoingMessage {
            number: transmit.report,
            stream: transmit.stream.0,
            unordered: false,
            payload_protocol: transmit.payload_protocol,
            payload: transmit.octets,
            options: None,
        };
        if self.refused.is_empty() {
            self.note_handed_over(now);
            self.offer(now, message, socket);
            if !self.refused.is_empty() {
                self.inputs.push(TransportInput::Congested(true));
            }
        } else if self.refused.len() < REFUSED_MAX {
            self.note_handed_over(now);
            self.refused.push_back(message);
        } else {
            self.counters.discarded_full += 1;
        }
    }

    fn note_handed_over(&mut self, now: Instant) {
        if let Some(waiting) = &mut self.handed_over {
            waiting.push_back(now);
        }
    }

    fn note_acknowledged(&mut self, now: Instant) {
        if let Some(since) = self.handed_over.as_mut().and_then(VecDeque::pop_front) {
            self.counters.acknowledged += 1;
            self.counters.acknowledged_after = self.counters.acknowledged_after.saturating_add(now - since);
        }
    }

    /// A message is thrown away in front of those that SCTP's send buffer has refused.
    fn forget_refused(&mut self) {
        if let Some(waiting) = &mut self.handed_over
            && let Some(place) = waiting.len().checked_sub(self.refused.len() + 1)
        {
            waiting.remove(place);
        }
    }

    /// Drops the hand-over instants of messages that were not acknowledged: they will not be.
    fn forget_handed_over(&mut self) {
        if let Some(waiting) = &mut self.handed_over {
            waiting.clear();
        }
    }

    /// Gives a message to SCTP, or keeps it in front of all others. Says whether there is room for more.
    fn offer(&mut self, now: Instant, message: OutgoingMessage, socket: &mut Socket<'_>) -> bool {
        match socket.send_over_sctp(now, message.clone()) {
            Ok(()) => {
                self.counters.sent += 1;
                self.counters.sent_bytes += message.payload.len() as u64;
            }
            // Of an association that ends, which is told next, it goes back to the layer above.
            Err(
                sctp::SendError::BufferFull { .. }
                | sctp::SendError::NoAssociation
                | sctp::SendError::ShuttingDown,
            ) => {
                self.refused.push_front(message);
                return false;
            }
            // It has no such stream.
            Err(_) => {
                self.counters.discarded_down += 1;
                self.forget_refused();
            }
        }
        true
    }

    fn offer_refused(&mut self, now: Instant, socket: &mut Socket<'_>) {
        if self.refused.is_empty() {
            return;
        }
        while let Some(message) = self.refused.pop_front() {
            if !self.offer(now, message, socket) {
                return;
            }
        }
        self.inputs.push(TransportInput::Congested(false));
    }

    /// Probes the paths if they are probed and it is time to.
    pub(crate) fn sample(&mut self, now: Instant, socket: &mut Socket<'_>) {
        if let Some(probe) = self.probe.as_mut().filter(|_| self.is_up)
            && probe.begins(now)
        {
            socket.sample_paths(now, |sample| probe.keep(sample));
        }
    }

    /// Earliest instant of the next sample of the paths, if they are probed now.
    #[inline]
    pub(crate) fn next_sample(&self) -> Option<Instant> {
        self.probe.as_ref().filter(|_| self.is_up).map(PathProbe::next)
    }

    /// Takes the samples that were kept since it was last asked.
    pub(crate) fn take_samples(&mut self) -> Vec<PathSample> {
        self.probe.as_mut().map(PathProbe::take).unwrap_or_default()
    }

    /// Opens the association if it is time to.
    pub(crate) fn serve(&mut self, now: Instant, socket: &mut Socket<'_>) -> Served {
        if self.open_at.is_none_or(|at| at > now) {
            return Served::Idle(self.open_at);
        }
        // What keeps an attempt from beginning may be over by the next one.
        self.open_at = socket.open(now).is_err().then(|| now.saturating_add(self.reopen_after));
        Served::Again
    }

    pub(crate) fn handle_event(&mut self, now: Instant, event: SocketEvent, socket: &mut Socket<'_>) {
        match event {
            SocketEvent::Connected { outbound_streams, .. } => {
                self.is_up = true;
                self.note_begun(now);
                self.counters.times_up += 1;
                self.inputs.push(TransportInput::Up { outbound_streams });
            }
            SocketEvent::Acknowledged(_) => self.note_acknowledged(now),
            SocketEvent::Restarted => {
                self.note_begun(now);
                self.forget_handed_over();
                if !self.refused.is_empty() {
                    self.inputs.push(TransportInput::Congested(false));
                }
                self.inputs.push(TransportInput::Restart);
                self.give_back();
            }
            SocketEvent::Message { stream, place, payload_protocol, payload, .. } => {
                if !self.is_up {
                    self.counters.discarded_down += 1;
                    return;
                }
                if let Some(records) = &mut self.records {
                    records.deliveries.push((now, Some(place)));
                }
                self.counters.received += 1;
                self.counters.received_bytes += payload.len() as u64;
                let stream = StreamNumber(stream);
                self.inputs.push(TransportInput::Message { stream, payload_protocol, octets: payload });
            }
            SocketEvent::Transmitted { sent: SentPart::Message(number), again: false, .. } => {
                self.inputs.push(TransportInput::Transmitted(number));
            }
            SocketEvent::Writable => self.offer_refused(now, socket),
            SocketEvent::Ended { .. } => self.ended(now),
            // The layer above hears nothing of paths.
            SocketEvent::Sctp(event) => {
                if let Some(records) = &mut self.records
                    && let sctp::Event::Notice(notice) = &*event
                    && let Some(failover) = Failover::of(now, notice)
                {
                    records.failovers.push((failover, socket.failed_over_with()));
                }
            }
            SocketEvent::MessageFailed { unsent: Some(message) } => self.given_back.push(message.payload),
            SocketEvent::MessageFailed { unsent: None } => self.counters.in_doubt += 1,
            SocketEvent::Arrived(_)
            | SocketEvent::Bytes(_)
            | SocketEvent::Abandoned(_)
            | SocketEvent::Path { .. }
            | SocketEvent::Transmitted { .. } => {}
        }
    }

    fn ended(&mut self, now: Instant) {
        if std::mem::replace(&mut self.is_up, false) {
            self.counters.times_lost += 1;
            self.forget_handed_over();
            self.inputs.push(TransportInput::Down);
            self.give_back();
        }
        if self.opening == Opening::Always && self.opens {
            self.open_at = Some(now.saturating_add(self.reopen_after));
        }
    }

    /// Gives the layer above what was never sent, in its order: what SCTP had, and then what it had refused.
    fn give_back(&mut self) {
        let refused = self.refused.drain(..).map(|message| message.payload);
        for octets in self.given_back.drain(..).chain(refused) {
            self.counters.returned += 1;
            self.inputs.push(TransportInput::Unsent(octets));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Associations, Host, ProgramConfig, Programs};
    use slantpath_base::Seed;
    use slantpath_host::SocketId;
    use slantpath_interface::{EndSystem, InterfaceId};
    use slantpath_wire::transport::AssociationNumber;

    const PORT: u16 = 2905;
    /// By which the far end has acknowledged a message: RFC 9260, section 6.2, as `sack_delay` has it.
    const SACK_DELAY: Duration = Duration::from_millis(200);

    /// Two hosts without a network between them.
    struct Pair {
        now: Instant,
        hosts: [Host; 2],
    }

    const CARRIER: SocketId = SocketId(0);

    impl Pair {
        fn connected() -> Self {
            Self::measuring(None, true)
        }

        fn measuring(sample_paths: Option<Duration>, measures_delay: bool) -> Self {
            let addresses: [IpAddr; 2] = [[10, 0, 0, 1].into(), [10, 0, 0, 2].into()];
            let interface = InterfaceId::new(0);
            let host = |own: usize, peer| {
                let mut host = Host::new(vec![(addresses[own], interface)]);
                host.add_route(addresses[1 - own], interface).unwrap();
                let config = AssociationConfig {
                    sctp: Box::default(),
                    local_addresses: vec![addresses[own]],
                    local_port: PORT,
                    peer,
                    reopen_after: Duration::from_secs(1),
                    sample_paths,
                    measures_delay,
                };
                assert_eq!(host.add_association(&config, Seed::new(1, 0), ["first", "second"][own]), CARRIER);
                host
            };
            let peer = Peer { addresses: vec![addresses[1]], port: PORT };
            let mut pair = Self { now: Instant::START, hosts: [host(0, Some(peer)), host(1, None)] };
            pair.exchange();
            for end in [0, 1] {
                assert!(matches!(pair.poll_input(end), Some(TransportInput::Up { .. })));
            }
            pair
        }

        fn poll_input(&mut self, end: usize) -> Option<TransportInput> {
            self.hosts[end].next_association_input().map(|(_, input)| input)
        }

        fn refused(&self, end: usize) -> usize {
            // A program has none.
            self.hosts[end].association_waiting(CARRIER).unwrap_or_default()
        }

        fn counters(&self, end: usize) -> AssociationCounters {
            self.hosts[end].association_counters(CARRIER).unwrap()
        }

        /// Carries packets until both ends are quiet for good.
        fn exchange(&mut self) {
            loop {
                let mut is_quiet = true;
                for from in [0, 1] {
                    let mut packet = slantpath_wire::Packet::default();
                    while let Some(interface) = self.hosts[from].poll_transmit(self.now, &mut packet) {
                        is_quiet = false;
                        self.hosts[1 - from].handle_packet(self.now, interface, &mut packet);
                    }
                }
                let held = self.refused(0) + self.refused(1) > 0;
                if is_quiet && !held {
                    return;
                }
                if is_quiet {
                    self.now = self.hosts.iter().filter_map(EndSystem::deadline).min().unwrap();
                    let now = self.now;
                    self.hosts.iter_mut().for_each(|host| host.handle_deadline(now));
                }
            }
        }

        /// Advances the time, and handles what becomes due and what follows from it.
        fn pass(&mut self, time: Duration) {
            self.now += time;
            let now = self.now;
            self.hosts.iter_mut().for_each(|host| host.handle_deadline(now));
            self.exchange();
        }

        fn transmit(&mut self, octets: Bytes) {
            self.transmit_on(1, octets);
        }

        fn transmit_on(&mut self, stream: u16, octets: Bytes) {
            let (association, stream) = (AssociationNumber(0), StreamNumber(stream));
            let transmit = Transmit { association, stream, payload_protocol: 3, report: None, octets };
            self.hosts[0].send_on_association(self.now, CARRIER, transmit);
        }

        fn send(&mut self, number: u32) {
            self.transmit(Bytes::copy_from_slice(&number.to_be_bytes()));
        }
    }

    #[test]
    fn a_message_longer_than_the_receive_buffer_arrives_whole_and_in_its_place() {
        let mut pair = Pair::connected();
        let octets: Vec<u8> = (0..1_000_000_u32).map(|at| u8::try_from(at % 251).unwrap()).collect();
        pair.send(1);
        let octets = Bytes::from(octets);
        pair.transmit(octets.clone());
        pair.send(2);
        pair.exchange();
        let received: Vec<Bytes> = std::iter::from_fn(|| pair.poll_input(1))
            .map(|input| match input {
                TransportInput::Message { octets, .. } => octets,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(received.iter().map(Bytes::len).collect::<Vec<_>>(), [4, 1_000_000, 4]);
        assert!(received[1] == octets);
        assert_eq!((pair.counters(1).received, pair.counters(1).received_bytes), (3, 1_000_008));
        assert_eq!((pair.counters(0).sent, pair.counters(0).sent_bytes), (3, 1_000_008));
    }

    #[test]
    fn paths_are_sampled_when_a_packet_comes_of_which_nothing_is_told() {
        let ms = Duration::from_millis;
        let mut pair = Pair::measuring(Some(ms(5)), false);
        let carry = |pair: &mut Pair, from: usize| {
            let mut packet = slantpath_wire::Packet::default();
            while let Some(interface) = pair.hosts[from].poll_transmit(pair.now, &mut packet) {
                pair.hosts[1 - from].handle_packet(pair.now, interface, &mut packet);
            }
        };
        pair.now += ms(10);
        pair.send(1);
        pair.send(2);
        carry(&mut pair, 0);
        // The second packet is acknowledged at once, and this end is told of no acknowledgement.
        let outstanding = |pair: &mut Pair| -> Vec<(Instant, u64)> {
            let (samples, _) = pair.hosts[0].take_association_samples(CARRIER).unwrap();
            samples.iter().map(|sample| (sample.at, sample.outstanding_bytes)).collect()
        };
        let sent = outstanding(&mut pair);
        assert_eq!(sent.last().map(|(at, _)| *at), Some(pair.now));
        assert!(sent.last().is_some_and(|(_, outstanding)| *outstanding > 0), "{sent:?}");
        pair.now += ms(5);
        carry(&mut pair, 1);
        carry(&mut pair, 0);
        assert_eq!(outstanding(&mut pair), [(pair.now, 0)]);
    }

    #[test]
    fn the_time_of_a_message_that_an_association_lost_is_not_that_of_the_next_one() {
        let mut pair = Pair::connected();
        pair.send(0);
        let mut packet = slantpath_wire::Packet::default();
        while pair.hosts[0].poll_transmit(pair.now, &mut packet).is_some() {}
        pair.hosts[0].abort_association(pair.now, CARRIER);
        pair.exchange();
        pair.pass(Duration::from_secs(1));
        pair.pass(Duration::from_secs(1));
        assert_eq!((pair.counters(0).times_up, pair.counters(0).acknowledged), (2, 0));
        pair.send(1);
        pair.exchange();
        pair.pass(SACK_DELAY);
        assert_eq!(pair.counters(0).acknowledged, 1);
        assert!(pair.counters(0).acknowledged_after <= SACK_DELAY, "{:?}", pair.counters(0));
    }

    #[test]
    fn an_association_that_cannot_be_opened_is_tried_again_after_each_pause() {
        let (own, reopen_after) = (IpAddr::from([10, 0, 0, 1]), Duration::from_secs(5));
        let mut host = Host::new(vec![(own, InterfaceId::new(0))]);
        let config = AssociationConfig {
            sctp: Box::default(),
            local_addresses: vec![own],
            local_port: PORT,
            peer: Some(Peer { addresses: Vec::new(), port: PORT }),
            reopen_after,
            sample_paths: None,
            measures_delay: false,
        };
        host.add_association(&config, Seed::new(1, 0), "alone");
        let mut now = Instant::START;
        for _ in 0..3 {
            host.handle_deadline(now);
            assert_eq!(host.poll_transmit(now, &mut slantpath_wire::Packet::default()), None);
            assert_eq!(host.deadline(), Some(now + reopen_after));
            now += reopen_after;
        }
        assert_eq!(
            (host.next_association_input(), host.association_counters(CARRIER).unwrap().times_up),
            (None, 0)
        );
    }

    #[test]
    fn a_message_that_has_no_stream_is_not_waited_for() {
        let mut pair = Pair::connected();
        pair.transmit_on(99, Bytes::from_static(b"astray"));
        assert_eq!((pair.counters(0).sent, pair.counters(0).discarded_down), (0, 1));
        pair.pass(Duration::from_secs(10));
        pair.send(1);
        pair.exchange();
        pair.pass(SACK_DELAY);
        assert_eq!(pair.counters(0).acknowledged, 1);
        assert!(pair.counters(0).acknowledged_after <= SACK_DELAY, "{:?}", pair.counters(0));
    }

    #[test]
    fn what_was_never_sent_comes_back_in_its_order_and_what_was_sent_is_counted() {
        let mut pair = Pair::connected();
        pair.send(0);
        let mut packet = slantpath_wire::Packet::default();
        while pair.hosts[0].poll_transmit(pair.now, &mut packet).is_some() {}
        let mut sent = 1;
        while pair.refused(0) < 5 {
            pair.send(sent);
            sent += 1;
        }
        assert_eq!(pair.poll_input(0), Some(TransportInput::Congested(true)));
        pair.hosts[0].abort_association(pair.now, CARRIER);
        pair.exchange();
        assert_eq!(pair.poll_input(0), Some(TransportInput::Down));
        let unsent = |input| match input {
            TransportInput::Unsent(octets) => u32::from_be_bytes(octets[..].try_into().unwrap()),
            other => panic!("{other:?}"),
        };
        let returned: Vec<u32> = std::iter::from_fn(|| pair.poll_input(0)).map(unsent).collect();
        let AssociationCounters { returned: count, in_doubt, discarded_down, .. } = pair.counters(0);
        assert_eq!((count + in_doubt, discarded_down), (u64::from(sent), 0));
        let first = u32::try_from(in_doubt).unwrap();
        assert!(first > 0 && returned.iter().copied().eq(first..sent), "{first} {sent} {returned:?}");
    }

    #[test]
    fn what_comes_while_the_far_end_shuts_the_association_down_goes_back_to_the_layer_above() {
        let addresses: [IpAddr; 2] = [[10, 0, 0, 1].into(), [10, 0, 0, 2].into()];
        let interface = InterfaceId::new(0);
        let mut hosts = [0, 1].map(|own| {
            let mut host = Host::new(vec![(addresses[own], interface)]);
            host.add_route(addresses[1 - own], interface).unwrap();
            host
        });
        let config = AssociationConfig {
            sctp: Box::default(),
            local_addresses: vec![addresses[0]],
            local_port: PORT,
            peer: Some(Peer { addresses: vec![addresses[1]], port: PORT }),
            reopen_after: Duration::from_secs(1),
            sample_paths: None,
            measures_delay: true,
        };
        assert_eq!(hosts[0].add_association(&config, Seed::new(1, 0), "first"), CARRIER);
        let port = ProgramConfig {
            sctp: Box::default(),
            local_addresses: vec![addresses[1]],
            local_port: PORT,
            peer: None,
        };
        hosts[1].add_program(&port, Seed::new(1, 0).stream("second"));
        let mut pair = Pair { now: Instant::START, hosts };
        pair.exchange();
        let (socket, _) = pair.hosts[1].next_program_event().unwrap();
        let now = pair.now;
        // A SHUTDOWN comes, and its answer has not left.
        pair.hosts[1].shut_down(now, socket);
        let mut packet = slantpath_wire::Packet::default();
        let out = pair.hosts[1].poll_transmit(now, &mut packet).unwrap();
        pair.hosts[0].handle_packet(now, out, &mut packet);
        pair.send(7);
        pair.send(8);
        pair.exchange();
        let told: Vec<_> = std::iter::from_fn(|| pair.poll_input(0)).collect();
        let unsent = |number: u32| TransportInput::Unsent(Bytes::copy_from_slice(&number.to_be_bytes()));
        let up = TransportInput::Up { outbound_streams: 16 };
        assert_eq!(told, [up, TransportInput::Congested(true), TransportInput::Down, unsent(7), unsent(8)]);
        let AssociationCounters { sent, returned, discarded_down, .. } = pair.counters(0);
        assert_eq!((sent, returned, discarded_down), (0, 2, 0));
    }

    #[test]
    fn congestion_is_indicated_before_too_many_are_kept_and_those_are_counted() {
        let mut pair = Pair::connected();
        let mut sent = 0;
        while pair.counters(0).discarded_full < 5 {
            pair.send(sent);
            sent += 1;
            assert!(pair.refused(0) <= REFUSED_MAX);
            if pair.refused(0) == 1 {
                assert_eq!(pair.poll_input(0), Some(TransportInput::Congested(true)));
            }
        }
        // The packets that hold the buffer go out, and so does what was refused, in order.
        pair.exchange();
        assert_eq!(pair.poll_input(0), Some(TransportInput::Congested(false)));
        let received = std::iter::from_fn(|| pair.poll_input(1)).map(|input| match input {
            TransportInput::Message { octets, .. } => u32::from_be_bytes(octets[..].try_into().unwrap()),
            other => panic!("{other:?}"),
        });
        assert!(received.eq(0..sent - 5));
        assert_eq!(pair.counters(0).sent, u64::from(sent - 5));
    }
}
