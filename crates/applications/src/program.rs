//! The application of a program outside of the host: it holds SCTP associations, and is told what happens to them.
//!
//! A program opens a port ([`ProgramConfig`]), which connects to a peer or accepts whoever comes; each association is a
//! socket of its own. It takes events one by one ([`ProgramEvent`]) and acts by the host's commands. What has come in
//! and has not been taken is held here: a program takes all that there is before it lets the host go on.

use std::net::IpAddr;

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_host::{
    MessagePlace, Offer, OutgoingMessage, PathEventKind, Peer, Protocol, SentPart, Served, Socket,
    SocketEvent, SocketId, TransportConfig,
};
use slantpath_sctp as sctp;
use slantpath_wire::ip::IpFields;

use crate::noted::Outbox;

/// A port of SCTP that a program holds.
#[derive(Clone, Debug)]
pub struct ProgramConfig {
    /// SCTP's settings.
    pub sctp: Box<sctp::SctpConfig>,
    /// The host's addresses that it uses, at least one.
    pub local_addresses: Vec<IpAddr>,
    /// The host's port.
    pub local_port: u16,
    /// Whom to connect to, at once; without anybody it listens, and accepts any number of peers.
    pub peer: Option<Peer>,
}

/// A message of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramMessage {
    /// On which stream.
    pub stream: u16,
    /// Payload protocol identifier, which tells the other end the kind of content.
    pub payload_protocol: u32,
    /// True if the message may overtake others of its stream.
    pub is_unordered: bool,
    /// The bytes; at least one.
    pub payload: Bytes,
    /// Options that few messages ask for. A message that has come has none.
    pub options: Option<Box<sctp::SendOptions>>,
    /// Of one that has come: what the IP header said of the packet that brought the last of it. What is sent has the
    /// header that the port's settings say.
    pub ip: Option<IpFields>,
}

/// Why a message was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The send buffer has no room for it now; [`ProgramEvent::Writable`] says when it has.
    #[error("the send buffer has no room")]
    Full,
    /// The message cannot be sent at all.
    #[error("{0}")]
    Never(String),
}

/// Event that a program is told of one of its sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramEvent {
    /// The association is up.
    Connected {
        /// The socket of the port that it came to; `None` for one that this end has opened.
        listener: Option<SocketId>,
        /// Number of streams that can be sent on.
        outbound_streams: u16,
    },
    /// End of the association: in order, or for the reason given. Nothing follows.
    Ended {
        /// Failure that ended it; `None` if it ended in order.
        failure: Option<String>,
        /// Reason of the end as SCTP has it; `None` if there was nothing of SCTP's to end.
        reason: Option<Box<sctp::CloseReason>>,
        /// Number of messages of this end that had not been acknowledged: whether they have arrived is not known. The
        /// count is over all of the association's life, in which the peer may have begun anew.
        unacknowledged: u64,
    },
    /// A message has come.
    Message(ProgramMessage),
    /// Something has happened to the path to this address of the peer.
    Path {
        /// Address of the peer that the path leads to.
        address: IpAddr,
        /// Event that the path has had.
        kind: PathEventKind,
    },
    /// The peer has begun anew: what was sent and not acknowledged may be lost.
    Restarted,
    /// After a message was refused for want of room: there is room again.
    Writable,
    /// A message of this end has been given up, as its options asked.
    Abandoned,
    /// The message of this number was sent for the first time: only if the port's settings have
    /// [`trace_messages`](sctp::SctpConfig::trace_messages).
    Transmitted(u32),
    /// Event of an extension of SCTP: streams or addresses have changed, a request for it was answered, or the peer has
    /// reported an error.
    Sctp(Box<sctp::Event>),
}

/// Kind of a program's socket, by the way it came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// An association that came to this port.
    Accepted(SocketId),
    Listening,
    /// Opened, or opening.
    Open,
    /// Not opened yet.
    ToOpen,
    /// Opened from the port of another socket.
    Called,
}

#[derive(Debug)]
pub(crate) struct Program {
    kind: Kind,
    events: Outbox<ProgramEvent>,
    /// Number of messages sent, which begins at 0 anew after 2^32: it names each message in a trace.
    sent: u32,
    /// Number of messages that have failed: those that had not been acknowledged when the association ended.
    unacknowledged: u64,
    /// Messages among these since the program took them last.
    given_back: GivenBack,
}

/// Messages that were not acknowledged when an association ended or began anew.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenBack {
    /// Messages of which nothing was ever sent, in their order: who sends them elsewhere sends nothing twice.
    pub unsent: Vec<ProgramMessage>,
    /// Number of messages of which something was sent: whether they have arrived is not known.
    pub in_doubt: u64,
}

impl ProgramMessage {
    /// A message that SCTP has given back.
    fn given_back(message: OutgoingMessage) -> Self {
        let OutgoingMessage { stream, unordered, payload_protocol, payload, .. } = message;
        Self { stream, payload_protocol, is_unordered: unordered, payload, options: None, ip: None }
    }
}

impl ProgramConfig {
    /// Configuration of the program's socket.
    pub(crate) fn transport(&self) -> TransportConfig {
        TransportConfig {
            protocol: Protocol::Sctp(self.sctp.clone()),
            local_addresses: self.local_addresses.clone(),
            local_port: self.local_port,
            peer: self.peer.clone(),
        }
    }
}

impl Program {
    pub(crate) fn new(config: &ProgramConfig) -> Self {
        Self::of(if config.peer.is_some() { Kind::ToOpen } else { Kind::Listening })
    }

    const fn of(kind: Kind) -> Self {
        let given_back = GivenBack { unsent: Vec::new(), in_doubt: 0 };
        Self { kind, events: Outbox::new(), sent: 0, unacknowledged: 0, given_back }
    }

    /// The program's application for an association that has come to the port that this one, `own`, listens at.
    pub(crate) fn accept(&self, own: SocketId) -> Option<Self> {
        (self.kind == Kind::Listening).then(|| Self::of(Kind::Accepted(own)))
    }

    /// The program's application for an association that it has opened from a port of its own.
    pub(crate) const fn opened() -> Self {
        Self::of(Kind::Called)
    }

    /// Events for the program.
    pub(crate) const fn events(&mut self) -> &mut Outbox<ProgramEvent> {
        &mut self.events
    }

    /// Takes the oldest event for the program.
    pub(crate) fn poll_event(&mut self) -> Option<ProgramEvent> {
        let event = self.events.poll();
        // Of many associations most are idle: the places for events would be a fifteenth of what each holds.
        self.events.shrink();
        event
    }

    /// Takes the messages that were not acknowledged when the association ended, or began anew.
    pub(crate) fn take_given_back(&mut self) -> GivenBack {
        std::mem::take(&mut self.given_back)
    }

    pub(crate) fn send(
        &mut self,
        now: Instant,
        message: ProgramMessage,
        socket: &mut Socket<'_>,
    ) -> Result<(), Refused> {
        match socket.send_message(now, self.numbered(message)) {
            Offer::Accepted => {
                self.sent = self.sent.wrapping_add(1);
                Ok(())
            }
            Offer::Full => Err(Refused::Full),
            Offer::Refused(reason) => Err(Refused::Never(reason)),
        }
    }

    /// Variant of [`Program::send`] that gives the message's number, or the reason of a refusal in SCTP's own words.
    pub(crate) fn send_sctp(
        &mut self,
        now: Instant,
        message: ProgramMessage,
        socket: &mut Socket<'_>,
    ) -> Result<u32, sctp::SendError> {
        socket.send_sctp(now, self.numbered(message))?;
        let number = self.sent;
        self.sent = number.wrapping_add(1);
        Ok(number)
    }

    fn numbered(&self, message: ProgramMessage) -> sctp::Message {
        let ProgramMessage { stream, payload_protocol, is_unordered, payload, options, ip: _ } = message;
        sctp::Message {
            stream: sctp::StreamId(stream),
            ppid: sctp::Ppid(payload_protocol),
            payload,
            is_unordered,
            context: u64::from(self.sent),
            options,
        }
    }

    /// Opens the association if that has not been done.
    pub(crate) fn serve(&mut self, now: Instant, socket: &mut Socket<'_>) -> Served {
        if self.kind != Kind::ToOpen {
            return Served::Idle(None);
        }
        self.kind = Kind::Open;
        if let Err(failure) = socket.open(now) {
            let unacknowledged = self.unacknowledged;
            self.events.push(ProgramEvent::Ended { failure: Some(failure), reason: None, unacknowledged });
        }
        Served::Again
    }

    pub(crate) fn handle_event(&mut self, event: SocketEvent, socket: &Socket<'_>) {
        let notice = match event {
            SocketEvent::Connected { outbound_streams, .. } => {
                let listener = if let Kind::Accepted(listener) = self.kind { Some(listener) } else { None };
                ProgramEvent::Connected { listener, outbound_streams }
            }
            SocketEvent::Ended { failure, reason } => {
                ProgramEvent::Ended { failure, reason, unacknowledged: self.unacknowledged }
            }
            SocketEvent::Message { stream, place, payload_protocol, payload, ip } => {
                let is_unordered = place == MessagePlace::Unordered;
                let options = None;
                ProgramEvent::Message(ProgramMessage {
                    stream,
                    payload_protocol,
                    is_unordered,
                    payload,
                    options,
                    ip: Some(ip),
                })
            }
            SocketEvent::Path { path, kind } => {
                let Some(&address) = socket.paths().get(usize::from(path)) else { return };
                ProgramEvent::Path { address, kind }
            }
            SocketEvent::Restarted => ProgramEvent::Restarted,
            SocketEvent::Writable => ProgramEvent::Writable,
            SocketEvent::Abandoned(_) => ProgramEvent::Abandoned,
            SocketEvent::Sctp(event) => ProgramEvent::Sctp(event),
            SocketEvent::MessageFailed { unsent } => {
                self.unacknowledged += 1;
                match unsent {
                    Some(message) => self.given_back.unsent.push(ProgramMessage::given_back(*message)),
                    None => self.given_back.in_doubt += 1,
                }
                return;
            }
            SocketEvent::Transmitted { sent: SentPart::Message(number), again: false, .. } => {
                ProgramEvent::Transmitted(number)
            }
            // A program is told no more of a message's fate.
            SocketEvent::Acknowledged(_)
            | SocketEvent::Arrived(_)
            | SocketEvent::Bytes(_)
            | SocketEvent::Transmitted { .. } => return,
        };
        self.events.push(notice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Host, Programs};
    use slantpath_base::Seed;
    use slantpath_interface::{EndSystem as _, InterfaceId};
    use slantpath_wire::Packet;
    use slantpath_wire::ip::{Dscp, Ecn};

    const PORT: u16 = 5_000;
    const NOW: Instant = Instant::START;
    /// A HEARTBEAT to port 20,009 with a tag that nobody has.
    const STRAY: [u8; 40] = [
        69, 0, 0, 40, 0, 0, 64, 0, 64, 132, 38, 80, 10, 0, 0, 2, 10, 0, 0, 1, 19, 136, 78, 41, 1, 2, 3, 4,
        42, 195, 162, 191, 4, 0, 0, 8, 0, 1, 0, 4,
    ];

    /// Fields of the IP headers of all packets.
    const MARKED: IpFields = IpFields { hop_limit: 9, dscp: Dscp::new(46).unwrap(), ecn: Ecn::NotCapable };

    fn address(end: usize) -> IpAddr {
        [[10, 0, 0, 1], [10, 0, 0, 2]][end].into()
    }

    fn host(end: usize) -> Host {
        let mut host = Host::new(vec![(address(end), InterfaceId::new(0))]);
        host.route_by_source();
        host.answer_out_of_the_blue();
        host
    }

    fn open(hosts: &mut [Host; 2], end: usize, local_port: u16, peer_port: Option<u16>) -> SocketId {
        let peer = peer_port.map(|port| Peer { addresses: vec![address(1 - end)], port });
        let local_addresses = vec![address(end)];
        let sctp = Box::new(sctp::SctpConfig { ip: MARKED, ..sctp::SctpConfig::default() });
        let config = ProgramConfig { sctp, local_addresses, local_port, peer };
        hosts[end].add_program(&config, Seed::new(1, 0).stream(&format!("{end}/{local_port}")))
    }

    /// Carries packets until there are none; gives how many there were.
    fn exchange(hosts: &mut [Host; 2]) -> usize {
        let mut carried = 0;
        loop {
            let before = carried;
            for from in [0, 1] {
                let mut packet = Packet::default();
                while let Some(interface) = hosts[from].poll_transmit(NOW, &mut packet) {
                    carried += 1;
                    hosts[1 - from].handle_packet(NOW, interface, &mut packet);
                }
            }
            if carried == before {
                return carried;
            }
        }
    }

    fn events(host: &mut Host) -> Vec<(SocketId, ProgramEvent)> {
        std::iter::from_fn(|| host.next_program_event()).collect()
    }

    fn message(number: u8) -> ProgramMessage {
        let payload = Bytes::copy_from_slice(&[number; 10]);
        ProgramMessage {
            stream: 3,
            payload_protocol: 7,
            is_unordered: false,
            payload,
            options: None,
            ip: None,
        }
    }

    /// Message of `message` as its receiver has it, with the IP header's fields.
    fn come(number: u8) -> ProgramMessage {
        ProgramMessage { ip: Some(MARKED), ..message(number) }
    }

    #[test]
    fn a_port_accepts_many_each_is_a_socket_and_what_comes_in_is_told_of_that_one() {
        let mut hosts = [host(0), host(1)];
        let port = open(&mut hosts, 1, PORT, None);
        let callers = [20_000, 20_001].map(|own| {
            let caller = open(&mut hosts, 0, own, Some(PORT));
            exchange(&mut hosts);
            caller
        });
        let up = |listener| ProgramEvent::Connected { listener, outbound_streams: 16 };
        assert_eq!(events(&mut hosts[0]), callers.map(|caller| (caller, up(None))));
        let accepted = events(&mut hosts[1]);
        let [(first, _), (second, _)] = accepted[..] else { panic!("{accepted:?}") };
        assert_eq!(accepted, [(first, up(Some(port))), (second, up(Some(port)))]);
        assert_ne!(first, second);
        assert_eq!(hosts[1].peer(second).map(|peer| peer.port()), Some(20_001));

        hosts[0].send(NOW, callers[1], message(1)).unwrap();
        exchange(&mut hosts);
        assert_eq!(events(&mut hosts[1]), [(second, ProgramEvent::Message(come(1)))]);
        hosts[1].send(NOW, second, message(2)).unwrap();
        exchange(&mut hosts);
        assert_eq!(events(&mut hosts[0]), [(callers[1], ProgramEvent::Message(come(2)))]);
        assert_eq!(hosts[0].sctp_paths(NOW, callers[1])[0].destination, address(1));

        hosts[0].shut_down(NOW, callers[0]);
        hosts[1].abort(NOW, second);
        exchange(&mut hosts);
        let [first_end, second_end] = hosts.each_mut().map(events);
        assert_eq!(
            first_end[0],
            (
                callers[1],
                ProgramEvent::Ended {
                    failure: Some("the peer has aborted the association: by its user".to_owned()),
                    reason: Some(Box::new(sctp::CloseReason::PeerAborted(vec![
                        sctp::Cause::UserInitiatedAbort(Bytes::new())
                    ]))),
                    unacknowledged: 0,
                }
            )
        );
        let in_order = Some(Box::new(sctp::CloseReason::ShutdownComplete));
        let in_order = ProgramEvent::Ended { failure: None, reason: in_order, unacknowledged: 0 };
        assert_eq!(first_end[1], (callers[0], in_order));
        assert_eq!(second_end.len(), 2, "{second_end:?}");
    }

    #[test]
    fn one_that_cannot_be_opened_is_told_its_end_once_with_the_reason() {
        let mut hosts = [host(0), host(1)];
        // No peer has that port.
        let caller = open(&mut hosts, 0, 20_000, Some(0));
        assert_eq!(exchange(&mut hosts), 0);
        let told = events(&mut hosts[0]);
        let [(ended, ProgramEvent::Ended { failure: Some(_), reason: None, unacknowledged: 0 })] = told[..]
        else {
            panic!("{told:?}")
        };
        assert_eq!(ended, caller);
    }

    #[test]
    fn what_does_not_fit_is_refused_and_told_of_when_it_does() {
        let mut hosts = [host(0), host(1)];
        open(&mut hosts, 1, PORT, None);
        let caller = open(&mut hosts, 0, 20_000, Some(PORT));
        exchange(&mut hosts);
        let large = || ProgramMessage { payload: vec![0; 100_000].into(), ..message(0) };
        let refused = std::iter::repeat_with(|| hosts[0].send(NOW, caller, large())).find_map(Result::err);
        assert_eq!(refused, Some(Refused::Full));
        exchange(&mut hosts);
        let reported = events(&mut hosts[0]);
        assert_eq!(reported.last(), Some(&(caller, ProgramEvent::Writable)));
        let beyond = ProgramMessage { stream: 16, ..message(0) };
        assert!(matches!(hosts[0].send(NOW, caller, beyond), Err(Refused::Never(_))));
    }

    #[test]
    fn what_had_not_been_acknowledged_at_the_end_is_counted() {
        let mut hosts = [host(0), host(1)];
        open(&mut hosts, 1, PORT, None);
        let caller = open(&mut hosts, 0, 20_000, Some(PORT));
        exchange(&mut hosts);
        // Every second packet is acknowledged at once.
        for number in 0..2 {
            hosts[0].send(NOW, caller, message(number)).unwrap();
        }
        exchange(&mut hosts);
        events(&mut hosts[0]);
        for number in 2..5 {
            hosts[0].send(NOW, caller, message(number)).unwrap();
        }
        hosts[0].abort(NOW, caller);
        exchange(&mut hosts);
        assert!(matches!(
            events(&mut hosts[0])[..],
            [(_, ProgramEvent::Ended { failure: Some(_), unacknowledged: 3, .. })]
        ));
    }

    #[test]
    fn who_calls_where_nobody_listens_is_refused_at_once_and_an_answer_is_not_answered() {
        let mut hosts = [host(0), host(1)];
        let caller = open(&mut hosts, 0, 20_000, Some(PORT));
        // An INIT, and an ABORT.
        assert_eq!(exchange(&mut hosts), 2);
        let ended = ProgramEvent::Ended {
            failure: Some("the peer has aborted the association, and does not say why".to_owned()),
            reason: Some(Box::new(sctp::CloseReason::PeerAborted(Vec::new()))),
            unacknowledged: 0,
        };
        assert_eq!(events(&mut hosts[0]), [(caller, ended)]);
        assert_eq!(hosts[1].sctp_stats().out_of_the_blue, 1);
        // What the peer had of an association that this host knows nothing of is ended, once.
        let mut stranger = Packet::copied(&STRAY, slantpath_wire::Checksum::Complete);
        hosts[0].handle_packet(NOW, InterfaceId::new(0), &mut stranger);
        assert!(hosts[0].verified_peer_tag().is_none());
        assert_eq!(exchange(&mut hosts), 1);
    }

    #[test]
    fn a_port_that_listens_calls_others_too_and_of_what_has_ended_nothing_is_kept() {
        let mut hosts = [host(0), host(1)];
        let ports = [open(&mut hosts, 0, PORT, None), open(&mut hosts, 1, PORT, None)];
        let peer = Peer { addresses: vec![address(1)], port: PORT };
        let mut seen = Vec::new();
        for _ in 0..3 {
            let caller = hosts[0].connect(NOW, ports[0], &peer).unwrap();
            exchange(&mut hosts);
            let again = hosts[0].connect(NOW, ports[0], &peer);
            assert_eq!(again, Err(sctp::ConnectError::AlreadyAssociated(address(1))));
            let reported = events(&mut hosts[0]);
            assert_eq!(
                reported,
                [(caller, ProgramEvent::Connected { listener: None, outbound_streams: 16 })]
            );
            let accepted = match events(&mut hosts[1])[..] {
                [(id, ProgramEvent::Connected { listener, .. })] if listener == Some(ports[1]) => id,
                ref other => panic!("{other:?}"),
            };
            assert!(!hosts[0].release(caller) && !hosts[1].release(accepted), "they are up");
            hosts[0].shut_down(NOW, caller);
            exchange(&mut hosts);
            for (host, id) in hosts.iter_mut().zip([caller, accepted]) {
                assert!(
                    matches!(events(host)[..], [(ended, ProgramEvent::Ended { failure: None, .. })] if ended == id)
                );
                assert!(host.release(id) && !host.release(id), "once");
            }
            seen.push((caller, accepted));
        }
        assert_eq!(seen[0], seen[2], "the sockets are used again");
        assert!(!hosts[0].release(ports[0]), "a port stays");

        hosts[1].refuse_callers(ports[1]);
        let caller = hosts[0].connect(NOW, ports[0], &peer).unwrap();
        exchange(&mut hosts);
        let reported = events(&mut hosts[0]);
        assert!(
            matches!(&reported[..], [(id, ProgramEvent::Ended { failure: Some(_), .. })] if *id == caller),
            "{reported:?}"
        );
        assert_eq!(events(&mut hosts[1]), []);
    }

    #[test]
    fn one_that_is_given_up_before_it_is_up_is_told_its_end_whoever_calls_next() {
        let mut hosts = [host(0), host(1)];
        let ports = [open(&mut hosts, 0, PORT, None), open(&mut hosts, 1, PORT, None)];
        let dead = Peer { addresses: vec![[10, 0, 0, 9].into()], port: PORT };
        let good = Peer { addresses: vec![address(1)], port: PORT };
        let given_up = hosts[0].connect(NOW, ports[0], &dead).unwrap();
        assert!(hosts[0].abort(NOW, given_up));
        assert!(!hosts[0].release(given_up), "its end is under way");
        let again = [hosts[0].connect(NOW, ports[0], &dead), hosts[0].connect(NOW, ports[0], &good)];
        let [again, good] = again.map(Result::unwrap);
        exchange(&mut hosts);
        let told = events(&mut hosts[0]);
        let [(first, ProgramEvent::Ended { failure: Some(_), .. }), (second, up)] = &told[..] else {
            panic!("{told:?}")
        };
        assert_eq!((*first, *second), (given_up, good));
        assert_eq!(*up, ProgramEvent::Connected { listener: None, outbound_streams: 16 });
        assert_eq!(hosts[0].peer(again).map(|peer| peer.ip()), Some([10, 0, 0, 9].into()));
        assert!(hosts[0].release(given_up) && !hosts[0].release(again));
    }

    #[test]
    fn what_few_messages_ask_for_and_why_one_is_not_taken_is_sctps_own() {
        let mut hosts = [host(0), host(1)];
        open(&mut hosts, 1, PORT, None);
        let caller = open(&mut hosts, 0, 20_000, Some(PORT));
        exchange(&mut hosts);
        events(&mut hosts[1]);
        let options = sctp::SendOptions { sack_immediately: true, ..sctp::SendOptions::default() };
        let at_once = ProgramMessage { options: Some(Box::new(options)), ..message(1) };
        hosts[0].send_sctp(NOW, caller, at_once).unwrap();
        let mut packet = Packet::default();
        let interface = hosts[0].poll_transmit(NOW, &mut packet).unwrap();
        // Of IP and SCTP; the flags of the DATA chunk: I, beginning and end.
        assert_eq!(packet.contiguous()[20 + 12 + 1], 0b1011);
        hosts[1].handle_packet(NOW, interface, &mut packet);
        exchange(&mut hosts);
        assert!(
            matches!(events(&mut hosts[1])[..], [(_, ProgramEvent::Message(ref came))] if *came == come(1))
        );
        let beyond = ProgramMessage { stream: 16, ..message(0) };
        let refused = hosts[0].send_sctp(NOW, caller, beyond);
        assert_eq!(refused, Err(sctp::SendError::NoSuchStream { stream: sctp::StreamId(16), available: 16 }));
        let gone = SocketId(99);
        assert_eq!(hosts[0].send_sctp(NOW, gone, message(0)), Err(sctp::SendError::NoAssociation));
    }

    #[test]
    fn a_program_that_asks_for_it_is_told_once_when_a_message_is_first_sent() {
        for is_asked in [true, false] {
            let mut hosts = [host(0), host(1)];
            open(&mut hosts, 1, PORT, None);
            let peer = Some(Peer { addresses: vec![address(1)], port: PORT });
            let sctp = sctp::SctpConfig { trace_messages: is_asked, ..sctp::SctpConfig::default() };
            let config = ProgramConfig {
                sctp: Box::new(sctp),
                local_addresses: vec![address(0)],
                local_port: 20_000,
                peer,
            };
            let caller = hosts[0].add_program(&config, Seed::new(1, 0).stream("caller"));
            exchange(&mut hosts);
            events(&mut hosts[0]);
            let numbers = [1, 2].map(|number| hosts[0].send_sctp(NOW, caller, message(number)).unwrap());
            assert_eq!((numbers, events(&mut hosts[0])), ([0, 1], vec![]), "nothing has left yet");
            exchange(&mut hosts);
            let told = numbers.map(|number| (caller, ProgramEvent::Transmitted(number)));
            assert_eq!(events(&mut hosts[0]), if is_asked { told.to_vec() } else { Vec::new() });
        }
    }

    #[test]
    fn only_a_packet_with_the_tag_of_its_association_proves_where_it_comes_from() {
        let mut hosts = [host(0), host(1)];
        open(&mut hosts, 1, PORT, None);
        open(&mut hosts, 0, 20_000, Some(PORT));
        let mut packet = Packet::default();
        let mut proves = Vec::new();
        for from in [0, 1, 0, 1] {
            let interface = hosts[from].poll_transmit(NOW, &mut packet).unwrap();
            hosts[1 - from].handle_packet(NOW, interface, &mut packet);
            proves.push(hosts[1 - from].verified_peer_tag().is_some());
        }
        assert_eq!(proves, [false, true, true, true], "INIT, INIT ACK, COOKIE ECHO, COOKIE ACK");
    }
}
