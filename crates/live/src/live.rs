//! The loop around a host: wait, hand over what has come, serve what is due, send.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};

use rustix::thread::{Timespec, nanosleep};
use slantpath_base::{Duration, Instant, Lateness};
use slantpath_host::Peer;
use slantpath_interface::{AddressNews, EndSystem, InterfaceId};
use slantpath_wire::ip::IpHeader;
use slantpath_wire::pcapng::Direction;
use slantpath_wire::{Checksum, Packet};

use crate::clock::Clock;
use crate::config::{Binding, Carriage, LiveConfig, OpenError, check_addresses};
use crate::departures::{Absence, Departures};
use crate::moderation::Moderation;
use crate::record::{Digest, Recorder};
use crate::sockets::readiness::Readiness;
use crate::sockets::routes::RouteTable;
use crate::sockets::watch::{OwnAddressChange, Presence};
use crate::sockets::{End, Ready, Received, Receiver, Report, Sockets, Transmitter, Unsent};
use crate::tap::{Capturing, HostCapture, Observer as _};
use crate::udp_ports::{Key, UdpPorts};

mod reports;

/// Counts of what has passed a live host's sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveCounters {
    /// Packets that came in.
    pub packets_received: u64,
    /// Packets that went out.
    pub packets_sent: u64,
    /// Packets that the system would not send, after a second attempt.
    pub packets_not_sent: u64,
    /// Packets that were longer than their first link carries.
    pub packets_too_long: u64,
    /// Packets for SCTP ports that are another program's, or nobody's.
    pub packets_of_others: u64,
    /// Messages about packets that were sent, by routers.
    pub reports: u64,
    /// Calls of the system that read packets.
    pub receive_calls: u64,
    /// Calls of the system that wrote packets.
    pub send_calls: u64,
    /// Calls of the system that waited.
    pub wait_calls: u64,
}

/// Why a step has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Something was done.
    Worked,
    /// Nothing has come, and nothing is due: the time that was asked for is over, or a signal has come.
    Idle,
}

/// Stage of the host: before or after it has been drained for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    AtStart,
    Running,
}

/// A host on the operating system's sockets.
#[derive(Debug)]
pub struct Live<H> {
    host: H,
    clock: Clock,
    sockets: Sockets,
    /// Settings with which it was opened; the ports are in order.
    config: LiveConfig,
    route_table: RouteTable,
    udp_ports: UdpPorts,
    receiver: Receiver,
    transmitter: Transmitter,
    lateness: Lateness,
    counters: LiveCounters,
    recorder: Option<Recorder>,
    digest: Digest,
    capture: Capturing,
    progress: Progress,
    /// For an event loop outside.
    readiness: Option<Readiness>,
    /// Changes of own addresses, oldest first; bounded.
    changes: VecDeque<OwnAddressChange>,
    departures: Departures,
    moderation: Moderation,
    // Kept for their memory.
    ready: Vec<Ready>,
    received: Vec<Received>,
    reported: Vec<Report>,
    unsent: Vec<Unsent>,
}

impl<H: EndSystem> Live<H> {
    /// Opens the sockets and starts the clock. The host has these addresses, each at the interface with the number of
    /// its place.
    pub fn open(config: &LiveConfig, mut host: H) -> Result<Self, OpenError> {
        let sockets = Sockets::open(config)?;
        let failed = |error| OpenError::System { what: "asking for routes".to_owned(), error };
        let route_table = RouteTable::open().map_err(failed)?;
        host.ask_for_routes();
        let mut config = config.clone();
        config.ports.sort_unstable();
        let remote_port = match config.carriage {
            Carriage::Raw => 0,
            Carriage::Udp { remote_port, .. } => remote_port,
        };
        Ok(Self {
            host,
            clock: Clock::start(),
            sockets,
            config,
            route_table,
            udp_ports: UdpPorts::new(remote_port),
            receiver: Receiver::default(),
            transmitter: Transmitter::default(),
            lateness: Lateness::default(),
            counters: LiveCounters::default(),
            recorder: None,
            digest: Digest::default(),
            capture: Capturing::default(),
            progress: Progress::AtStart,
            readiness: None,
            changes: VecDeque::new(),
            departures: Departures::default(),
            moderation: Moderation::default(),
            ready: Vec::new(),
            received: Vec::new(),
            reported: Vec::new(),
            unsent: Vec::new(),
        })
    }

    /// Settings with which it was opened, with the addresses and ports that were added.
    pub const fn config(&self) -> &LiveConfig {
        &self.config
    }

    /// Takes packets for one more SCTP port.
    ///
    /// # Errors
    /// If the port is in use.
    pub fn add_port(&mut self, port: u16) -> Result<(), OpenError> {
        self.add_ports(&[port]).pop().expect("what has become of one port")
    }

    /// Takes packets for more SCTP ports, each another one, and gives what has become of each: one question for all.
    pub fn add_ports(&mut self, ports: &[u16]) -> Vec<Result<(), OpenError>> {
        let is_own = |port: &u16| self.config.ports.binary_search(port).is_ok();
        let others: Vec<u16> = ports.iter().copied().filter(|port| !is_own(port)).collect();
        let mut claimed = self.sockets.claim(&others).into_iter();
        let mut outcomes = Vec::with_capacity(ports.len());
        for &port in ports {
            let Err(place) = self.config.ports.binary_search(&port) else {
                let address = self.config.addresses[0];
                outcomes.push(Err(OpenError::PortInUse { protocol: "SCTP", address, port }));
                continue;
            };
            let outcome = claimed.next().expect("one for each that is not its own");
            if outcome.is_ok() {
                self.config.ports.insert(place, port);
            }
            outcomes.push(outcome);
        }
        outcomes
    }

    /// Leaves an SCTP port to other programs, if it had it: what comes for it from now on is not the host's.
    pub fn remove_port(&mut self, port: u16) {
        if let Ok(place) = self.config.ports.binary_search(&port) {
            self.config.ports.remove(place);
            self.sockets.release(port);
        }
    }

    /// Takes packets to one more own address, for all ports, and gives the interface that it has. The host has to be
    /// told of it by a [command](Self::command), since it may be for some of its ports alone.
    ///
    /// # Errors
    /// If the machine has no such address, or a port is in use there.
    pub fn add_address(&mut self, address: IpAddr) -> Result<InterfaceId, OpenError> {
        let known = self.sockets.ends.iter().position(|end| end.address == address);
        if let Some(end) = known {
            return Ok(interface(end));
        }
        check_addresses(&[address])?;
        let end = self.sockets.add(address, &self.config)?;
        self.sockets.watch.follow(address);
        if let Some(readiness) = &mut self.readiness {
            let failed = |error| OpenError::System { what: format!("waiting at {address}"), error };
            readiness.add(self.sockets.ends[end].socket.as_fd()).map_err(failed)?;
        }
        self.route_table.forget();
        self.config.addresses.push(address);
        self.capture.note_address(address, interface(end));
        Ok(interface(end))
    }

    /// Writes down what the host is told from now on: before the first step, all of it.
    pub fn record(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// Writes down what all that was sent comes to: the run is over.
    pub fn end_record(&mut self) {
        let now = self.now();
        if let Some(recorder) = &mut self.recorder {
            recorder.digest(now, &self.digest);
        }
    }

    /// Takes what has been written down since this was last asked.
    pub fn take_record(&mut self) -> Vec<u8> {
        self.recorder.as_mut().map(Recorder::take).unwrap_or_default()
    }

    /// Captures what the host is told and sends from now on.
    pub fn begin_capture(&mut self) {
        let addresses: Vec<IpAddr> = self.sockets.ends.iter().map(|end| end.address).collect();
        self.capture.0 = Some(HostCapture::of(&addresses));
    }

    /// Captures no more. Gives the last part of the file.
    pub fn end_capture(&mut self) -> Vec<u8> {
        let last = self.take_capture();
        self.capture.0 = None;
        last
    }

    /// Takes what has been captured since this was last asked: the next part of a pcapng file.
    pub fn take_capture(&mut self) -> Vec<u8> {
        self.capture.0.as_mut().map(HostCapture::take).unwrap_or_default()
    }

    /// A digest of all that the host has sent, and when, since it has been recorded; `None` if it is not.
    pub fn digest(&self) -> Option<&Digest> {
        self.recorder.as_ref().map(|_| &self.digest)
    }

    /// Host that runs on these sockets.
    pub const fn host(&self) -> &H {
        &self.host
    }

    /// Closes the sockets. What has come in, and has not been taken, is still the host's.
    pub fn into_host(self) -> H {
        self.host
    }

    /// The host, to read what only a mutable one tells. What makes it send is for [`Live::command`].
    pub const fn host_mut(&mut self) -> &mut H {
        &mut self.host
    }

    /// Present instant of its clock.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Lateness with which deadlines were served.
    pub const fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// Counts of what has passed the sockets.
    pub const fn counters(&self) -> &LiveCounters {
        &self.counters
    }

    /// Takes the next change of an own address or its link, oldest first: for the program's user. The host has been
    /// told.
    pub fn poll_change(&mut self) -> Option<OwnAddressChange> {
        self.changes.pop_front()
    }

    /// The address of each socket, with its UDP port, or zero on raw sockets.
    pub fn bound(&self) -> io::Result<Vec<SocketAddr>> {
        self.sockets.bound()
    }

    /// Lets `command`, which a record calls by its number, act on the host at the present, and sends what comes of it.
    pub fn command<R>(&mut self, number: u8, command: impl FnOnce(&mut H, Instant) -> R) -> R {
        self.commanded(|recorder, now| recorder.command(now, number), command)
    }

    /// Variant of [`command`](Self::command) for one that has words beside its number, which a record has as well.
    pub fn order<R>(&mut self, number: u8, words: &str, order: impl FnOnce(&mut H, Instant) -> R) -> R {
        self.commanded(|recorder, now| recorder.order(now, number, words), order)
    }

    /// Variant of [`command`](Self::command) for one that tells the program of the host something: a record has what
    /// `told` gives once that is done.
    pub fn tell<R>(
        &mut self,
        number: u8,
        command: impl FnOnce(&mut H, Instant) -> R,
        told: impl FnOnce(&mut H) -> Vec<u8>,
    ) -> R {
        self.start();
        let now = self.now();
        let result = command(&mut self.host, now);
        if let Some(recorder) = &mut self.recorder {
            recorder.told(now, number, &told(&mut self.host));
        }
        self.drain(now);
        self.flush(now);
        result
    }

    fn commanded<R>(
        &mut self,
        note: impl FnOnce(&mut Recorder, Instant),
        command: impl FnOnce(&mut H, Instant) -> R,
    ) -> R {
        self.start();
        let now = self.now();
        if let Some(recorder) = &mut self.recorder {
            note(recorder, now);
        }
        let result = command(&mut self.host, now);
        self.drain(now);
        self.flush(now);
        result
    }

    /// Waits until a packet comes, a deadline of the host's is due or the clock is at `until`, and does what there is
    /// to do. A signal ends the wait.
    pub fn step(&mut self, until: Instant) -> io::Result<Woken> {
        self.start();
        let mut now = self.now();
        let last = self.deadline().unwrap_or(Instant::FAR_FUTURE).min(until);
        if let Some(pause) = self.moderation.pause().filter(|pause| now.saturating_add(*pause) < last) {
            pause_for(pause);
            self.counters.wait_calls += 1;
            now = self.now();
        }
        let before = self.counters;
        let wait = last.saturating_since(now).min(LONGEST_WAIT);
        self.counters.wait_calls += 1;
        let mut woken = Woken::Idle;
        if self.sockets.wait(wait, &mut self.ready)? {
            woken = Woken::Worked;
            for change in self.sockets.watch.read() {
                self.note_change(change)?;
            }
        }
        for gone in self.departures.take_due(self.now()) {
            woken = Woken::Worked;
            self.tell_of_address(AddressNews::Removed(gone));
        }
        for place in 0..self.ready.len() {
            let Ready { end, packets, errors } = self.ready[place];
            if errors {
                woken = Woken::Worked;
                self.read_reports(end);
            }
            if packets {
                woken = Woken::Worked;
                self.receive_what_waits(end)?;
            }
        }
        let now = self.now();
        if let Some(deadline) = self.host.deadline().filter(|deadline| *deadline <= now) {
            woken = Woken::Worked;
            self.lateness.record(now.saturating_since(deadline));
            if let Some(recorder) = &mut self.recorder {
                recorder.deadline(now);
            }
            self.host.handle_deadline(now);
            self.drain(now);
        }
        self.flush(now);
        let [before, after] = [before, self.counters].map(|counters| {
            // Those of others, which raw sockets are handed too, say nothing of what somebody waits for here.
            (counters.packets_received - counters.packets_of_others, counters.packets_sent)
        });
        self.moderation.note(now, after.0 - before.0, after.1 - before.1);
        Ok(woken)
    }

    /// Something has become of an own address, which the host is told.
    fn note_change(&mut self, mut change: OwnAddressChange) -> io::Result<()> {
        let address = change.address;
        match change.presence {
            Presence::Added => match self.sockets.add(address, &self.config) {
                Ok(end) => self.begin_with(end)?,
                Err(_) if !self.sockets.watch.refuse(address) => return Ok(()),
                Err(error) => change.presence = Presence::Refused(error.to_string()),
            },
            Presence::Gone | Presence::LinkDown => {
                if change.presence == Presence::Gone && self.config.binding == Binding::AllOfMachine {
                    self.departures.leave(self.clock.now(), address);
                }
                self.tell_of_address(AddressNews::Down(address));
            }
            Presence::Up => {
                let end = self.sockets.ends.iter().position(|end| end.address == address);
                if let Some(end) = end.filter(|_| self.departures.come_back(address) == Absence::Final) {
                    self.tell_of_address(AddressNews::Added(address, interface(end)));
                }
                self.tell_of_address(AddressNews::Back(address));
            }
            Presence::Refused(_) => {}
        }
        if self.changes.len() < CHANGES_MAX {
            self.changes.push_back(change);
        }
        Ok(())
    }

    /// Uses an address that has come, whose socket is open.
    fn begin_with(&mut self, end: usize) -> io::Result<()> {
        let End { address, ref socket, .. } = self.sockets.ends[end];
        if let Some(readiness) = &mut self.readiness {
            readiness.add(socket.as_fd())?;
        }
        for gone in self.departures.take_replaced(address) {
            self.tell_of_address(AddressNews::Removed(gone));
        }
        self.tell_of_address(AddressNews::Added(address, interface(end)));
        Ok(())
    }

    /// Instant at which there is something to do although nothing comes.
    fn deadline(&self) -> Option<Instant> {
        let deadlines = [self.host.deadline(), self.departures.deadline()];
        deadlines.into_iter().flatten().min()
    }

    fn tell_of_address(&mut self, news: AddressNews) {
        let now = self.now();
        self.route_table.forget();
        if let Some(recorder) = &mut self.recorder {
            recorder.address(now, news);
        }
        if let AddressNews::Added(address, interface) = news {
            self.capture.note_address(address, interface);
        }
        self.host.handle_address(now, news);
        self.drain(now);
    }

    /// A descriptor that can be read whenever [`Live::turn`] has something to do: for whoever waits for other things as
    /// well. It stays so until a turn is idle, and never is before the first turn. One is made with each call; only the
    /// last is kept up.
    pub fn readiness(&mut self) -> io::Result<OwnedFd> {
        let readiness = self.sockets.readiness()?;
        let descriptor = readiness.as_fd().try_clone_to_owned()?;
        self.readiness = Some(readiness);
        Ok(descriptor)
    }

    /// Does what there is to do now, some batches of packets from each socket at most, without waiting: also what was
    /// left to do by commands that did not go through [`Live::command`]. While it is [`Woken::Worked`] there may be
    /// more.
    pub fn turn(&mut self) -> io::Result<Woken> {
        self.start();
        let now = self.now();
        self.drain(now);
        let woken = self.step(now)?;
        self.note_deadline()?;
        Ok(woken)
    }

    /// Has the descriptor of [`readiness`](Self::readiness) follow the next deadline, as each turn does: for whoever
    /// has told the host something by a [command](Self::command) and waits without another turn.
    pub fn note_deadline(&mut self) -> io::Result<()> {
        let deadline = self.deadline().map(|deadline| self.clock.monotonic(deadline));
        if let Some(readiness) = &mut self.readiness {
            readiness.wake_at(deadline, self.clock.monotonic(self.clock.now()))?;
        }
        Ok(())
    }

    /// Says behind which UDP port a peer is that is being called, where the carriage is UDP; `None`: behind that of the
    /// carriage, whatever was said when it was called before.
    pub fn set_udp_port(&mut self, peer: &Peer, own_port: u16, udp_port: Option<u16>) {
        for &address in &peer.addresses {
            self.udp_ports.call(Key { address, peer_port: peer.port, own_port }, udp_port);
        }
    }

    /// Sends what the host has to send from the start, once.
    fn start(&mut self) {
        if std::mem::replace(&mut self.progress, Progress::Running) == Progress::Running {
            return;
        }
        let now = self.now();
        if let Some(recorder) = &mut self.recorder {
            recorder.start(now);
        }
        self.drain(now);
        self.flush(now);
    }

    /// Takes what waits at a socket, up to a bound: the other sockets and the deadlines have their turn as well. What
    /// is due, a load perhaps, may take longer than one batch of packets does. Without the rest acknowledgements would
    /// then come ever later, until links fail that work.
    fn receive_what_waits(&mut self, end: usize) -> io::Result<()> {
        for _ in 0..BATCHES {
            if !self.receive(end)? {
                break;
            }
        }
        Ok(())
    }

    /// Takes a batch of packets from a socket, and tells if more wait there.
    fn receive(&mut self, end: usize) -> io::Result<bool> {
        let mut received = std::mem::take(&mut self.received);
        let carriage = self.sockets.carriage;
        self.counters.receive_calls += 1;
        let more_waits = self.receiver.receive(&mut self.sockets.ends[end], carriage, &mut received)?;
        // They have all come by now: what the host takes for one does not make the next one late.
        let now = self.now();
        for Received { bytes, udp_port } in received.drain(..) {
            self.counters.packets_received += 1;
            let Some(key) = self.key_of(now, end, &bytes) else { continue };
            if carriage == Carriage::Raw {
                self.hand_over(now, end, Packet::shared(bytes, Checksum::Complete));
                self.drain(now);
                continue;
            }
            self.udp_ports.take_in_hand(key, udp_port);
            self.hand_over(now, end, Packet::shared(bytes, Checksum::Complete));
            if let Some(tag) = self.host.verified_peer_tag() {
                self.udp_ports.learn(tag);
            }
            self.drain(now);
            self.udp_ports.put_down();
        }
        self.received = received;
        Ok(more_waits)
    }

    /// Whose packet it is; `None` if it is not for this host.
    fn key_of(&mut self, now: Instant, end: usize, bytes: &[u8]) -> Option<Key> {
        let (header, header_len) = IpHeader::parse_header(bytes).ok()?;
        let ports = bytes.get(header_len..header_len + 4)?;
        let [peer_port, own_port] = [[ports[0], ports[1]], [ports[2], ports[3]]].map(u16::from_be_bytes);
        if self.config.ports.binary_search(&own_port).is_err()
            && !self.sockets.answers_for(now, end, own_port)
        {
            self.counters.packets_of_others += 1;
            return None;
        }
        Some(Key { address: header.source, peer_port, own_port })
    }

    fn hand_over(&mut self, now: Instant, end: usize, mut packet: Packet) {
        let interface = interface(end);
        if let Some(recorder) = &mut self.recorder {
            recorder.packet(now, interface, &packet.contiguous());
        }
        self.capture.see(now, interface, &packet, Direction::Inbound);
        self.host.handle_packet(now, interface, &mut packet);
    }

    /// Collects what the host has to send.
    fn drain(&mut self, now: Instant) {
        loop {
            self.answer_routes(now);
            let mut packet = Packet::default();
            let Some(interface) = self.host.poll_transmit(now, &mut packet) else {
                if self.host.route_question().is_some() {
                    continue;
                }
                return;
            };
            // It reads every byte.
            if self.recorder.is_some() {
                self.digest.transmitted(now, interface, &packet);
            }
            self.capture.see(now, interface, &packet, Direction::Outbound);
            self.counters.packets_sent += 1;
            let towards = |key, tag| self.udp_ports.towards(key, tag);
            self.transmitter.push(now, self.sockets.carriage, interface.index(), packet, towards);
            if self.transmitter.is_full() {
                self.flush_once();
            }
        }
    }

    /// Asks the system what the host has to know of routes.
    fn answer_routes(&mut self, now: Instant) {
        while let Some(destinations) = self.host.route_question() {
            let own = self.sockets.watch.interfaces();
            let towards = |to: &IpAddr| self.route_table.sources_towards(now, *to, &own);
            let sources: Vec<Vec<IpAddr>> = destinations.iter().map(towards).collect();
            if let Some(recorder) = &mut self.recorder {
                recorder.routes(now, &sources);
            }
            self.host.answer_routes(now, &sources);
        }
    }

    /// Sends what was collected, and all that follows from its not being sent.
    fn flush(&mut self, now: Instant) {
        self.flush_once();
        // What is too long is cut smaller, which is sent; that is not too long again.
        for _ in 0..ATTEMPTS {
            let unsent = std::mem::take(&mut self.unsent);
            if unsent.is_empty() {
                return;
            }
            for one in unsent {
                match one {
                    Unsent::Failed => self.counters.packets_not_sent += 1,
                    Unsent::TooLong { end, bytes } => {
                        self.counters.packets_too_long += 1;
                        self.report_too_long(now, end, &bytes);
                    }
                }
            }
            self.drain(now);
            self.flush_once();
        }
    }

    fn flush_once(&mut self) {
        self.counters.send_calls += self.transmitter.flush(&mut self.sockets.ends, &mut self.unsent);
    }
}

/// Number of changes of addresses that are kept while nobody asks for them.
const CHANGES_MAX: usize = 1_024;
/// Number of batches that a turn takes from a socket at most.
const BATCHES: usize = 8;
/// Longest time that a step waits.
const LONGEST_WAIT: Duration = Duration::from_secs(3_600);
/// Number of times that a packet that is too long is made shorter at one instant.
const ATTEMPTS: usize = 8;

/// Waits whatever comes, but a signal.
fn pause_for(pause: Duration) {
    let nanos = i64::try_from(pause.as_nanos()).expect("a pause is short");
    let _ = nanosleep(&Timespec { tv_sec: 0, tv_nsec: nanos });
}

fn interface(end: usize) -> InterfaceId {
    InterfaceId::new(u32::try_from(end).expect("a host has few addresses"))
}

#[cfg(test)]
mod tests;
