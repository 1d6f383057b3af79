//! Addresses that change while the association lives (RFC 5061): our requests. Those of the peer are in [`peer`], those
//! that follow from what addresses the host has in [`following`].

mod following;
mod peer;

use std::collections::VecDeque;
use std::net::IpAddr;

use slantpath_base::Instant;
use smallvec::SmallVec;

use super::output::PollStage;
use super::sources::Sources;
use super::state::State;
use super::{Association, turn};
use crate::address::{is_usable, source_for};
use crate::addressing::{AddressError, AddressEvent};
use crate::cause::{Cause, code};
use crate::chunk::{AddressChange, Asconf, AsconfAck, AsconfRequest, AsconfSerial, Chunk, CookieAck, kind};
use crate::event::Event;
use crate::extension::Extension;
use crate::packet::PacketBuilder;
use crate::path::{PathId, PathStats, Paths};
use crate::tcb::Tcb;
use crate::trace::Unanswered;
use crate::tx::Turn;

/// State of an association whose addresses may change.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    next_serial: AsconfSerial,
    next_correlation: u32,
    /// Changes that wait until the ASCONF before has been answered.
    waiting: VecDeque<AddressChange>,
    in_flight: Option<InFlight>,
    /// The number of the peer's last ASCONF.
    peer_serial: AsconfSerial,
    /// Answers to the last ASCONFs of the peer, oldest first.
    answers: VecDeque<AsconfAck>,
    /// The packet with the last of these, counted by those received.
    answers_of: u64,
    /// The peer does not know ASCONF, or what it asks for.
    is_refused: bool,
    /// The address that the peer wants DATA at, until it is confirmed.
    wanted_primary: Option<PathId>,
    /// True if the peer's addresses have changed since the last time this was asked.
    has_news: bool,
    /// Counts of the paths to addresses that the peer has deleted.
    removed_stats: PathStats,
    /// Instants at which addresses, of either end, were added since the association was established.
    added: Vec<(IpAddr, Instant)>,
    /// The addresses that ours are to become once the peer has answered.
    wanted: Option<SmallVec<[IpAddr; 2]>>,
}

/// An ASCONF that has not been answered.
#[derive(Clone, Debug)]
struct InFlight {
    chunk: Asconf,
    path: PathId,
    /// T4-RTO.
    deadline: Instant,
    /// The address of ours that the packet with the ASCONF leaves from, where no other may leave before the answer: all
    /// addresses that could be used are being deleted.
    only_from: Option<IpAddr>,
    /// The addresses of ours that are not used meanwhile, and come back if the peer keeps them.
    withheld: SmallVec<[IpAddr; 2]>,
}

/// Possibility that the peer has done what an ASCONF asked for although its answer was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    No,
    Possible,
}

/// Number of changes that are queued at most.
const MAX_WAITING: usize = 16;

/// Number of chunks kept at most that answer a peer while nothing may be sent.
const MAX_CONTROL_WHILE_MUTED: usize = 16;

impl Addresses {
    /// Creates the state if both ends have offered the extension.
    pub(super) fn negotiated(tcb: &Tcb, paths: &Paths) -> Option<Box<Self>> {
        if !tcb.extensions.contain(Extension::DynamicAddresses) {
            return None;
        }
        //= https://www.rfc-editor.org/rfc/rfc5061#section-5.1
        //# The Sequence Number MUST be
        //# initialized at the start of the association to the same value as
        //# the Initial Transmission Sequence Number (TSN)
        Some(Box::new(Self {
            next_serial: AsconfSerial(tcb.local_initial_tsn.0),
            next_correlation: 1,
            waiting: VecDeque::new(),
            in_flight: None,
            peer_serial: AsconfSerial(tcb.peer_initial_tsn.0).minus(1),
            answers: VecDeque::new(),
            answers_of: 0,
            is_refused: false,
            wanted_primary: tcb.wanted_primary.and_then(|address| paths.find(address)),
            has_news: false,
            removed_stats: PathStats::default(),
            added: Vec::new(),
            wanted: None,
        }))
    }

    /// Instant at which T4-RTO expires.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.in_flight.as_ref().map(|asconf| asconf.deadline)
    }

    /// Counts of the paths to addresses that the peer has deleted.
    pub(super) const fn removed_stats(&self) -> PathStats {
        self.removed_stats
    }

    /// Instant at which an address was added, if it has been added since the association was established.
    pub(super) fn start_of(&self, address: IpAddr) -> Option<Instant> {
        self.added.iter().find(|(added, _)| *added == address).map(|(_, at)| *at)
    }

    /// An address has been added, or one that was is no more (`None`).
    fn note_start(&mut self, address: IpAddr, at: Option<Instant>) {
        self.added.retain(|(added, _)| *added != address);
        self.added.extend(at.map(|at| (address, at)));
    }

    /// Tells if nothing but an ASCONF may leave.
    pub(super) fn is_muted(&self) -> bool {
        self.in_flight.as_ref().is_some_and(|asconf| asconf.only_from.is_some())
    }

    /// The changes that the peer has been asked for and has not answered.
    fn asked(&self) -> impl Iterator<Item = &AddressChange> {
        let sent = self.in_flight.iter().flat_map(|asconf| &asconf.chunk.requests);
        sent.map(|request| &request.change)
    }

    /// The changes that are under way or wait.
    fn pending(&self) -> impl Iterator<Item = &AddressChange> {
        self.asked().chain(&self.waiting)
    }
}

/// Addresses without those that no packet can leave from.
fn usable(addresses: &[IpAddr], down: &[IpAddr]) -> SmallVec<[IpAddr; 2]> {
    addresses.iter().copied().filter(|address| !down.contains(address)).collect()
}

impl Association {
    /// Changes our addresses (RFC 5061). All changes of one call go in one chunk, in their order; each is over when an
    /// [`AddressEvent::Answered`] says so.
    pub fn change_addresses(&mut self, now: Instant, changes: &[AddressChange]) -> Result<(), AddressError> {
        if self.state != State::Established {
            return Err(AddressError::NotEstablished);
        }
        let Some(state) = self.addresses.as_ref().filter(|state| !state.is_refused) else {
            return Err(AddressError::NotSupported);
        };
        if state.waiting.len() + changes.len() > MAX_WAITING {
            return Err(AddressError::TooMany);
        }
        let mut ours: Vec<IpAddr> = self.tcb.local_addresses.to_vec();
        for change in state.pending().chain(changes) {
            match *change {
                AddressChange::Add(address) => {
                    if ours.contains(&address) || !is_usable(address) {
                        return Err(AddressError::Unusable(address));
                    }
                    ours.push(address);
                }
                AddressChange::Delete(address) => {
                    if state.in_flight.is_none() && !ours.contains(&address) {
                        return Err(AddressError::Unknown(address));
                    }
                    ours.retain(|one| *one != address);
                    //= https://www.rfc-editor.org/rfc/rfc5061#section-5.3
                    //# F5)  An endpoint MUST NOT delete its last remaining IP address from
                    //# an association.
                    if ours.is_empty() {
                        return Err(AddressError::Last(address));
                    }
                }
                AddressChange::SetPrimary(address) => {
                    //= https://www.rfc-editor.org/rfc/rfc5061#section-5.4
                    //# A sender MUST only send a set
                    //# primary request to an address that is already considered part of the
                    //# association.
                    if !ours.contains(&address) {
                        return Err(AddressError::Unknown(address));
                    }
                }
                AddressChange::Unknown { .. } => return Err(AddressError::NotSupported),
            }
        }
        if let Some(state) = &mut self.addresses {
            state.waiting.extend(changes.iter().cloned());
        }
        self.send_asconf(now);
        Ok(())
    }

    /// The changes that the layer above, or the host, has asked for, and that have not been answered.
    pub(crate) fn open_changes(&self) -> Vec<AddressChange> {
        self.addresses.iter().flat_map(|state| state.pending()).cloned().collect()
    }

    /// Asks again for changes that the association before has not been answered; says of each that is not to be asked
    /// what has become of it.
    pub(crate) fn ask_for_changes_again(&mut self, now: Instant, changes: Vec<AddressChange>) {
        for change in changes {
            let holds = match change {
                AddressChange::Add(address) => self.tcb.local_addresses.contains(&address),
                AddressChange::Delete(address) => !self.tcb.local_addresses.contains(&address),
                AddressChange::SetPrimary(_) | AddressChange::Unknown { .. } => false,
            };
            if holds || self.change_addresses(now, core::slice::from_ref(&change)).is_err() {
                let event = AddressEvent::Answered { change, is_accepted: holds };
                self.events.push_back(Event::Addresses(event));
            }
        }
    }

    /// Tells if packets of the peer may go to this address of ours: one that is about to be deleted among them.
    pub(crate) fn is_at(&self, address: IpAddr) -> bool {
        //= https://www.rfc-editor.org/rfc/rfc5061#section-5.3
        //# F4)  When deleting an IP address from an association, the IP address
        //# MUST be considered a valid destination address for the reception
        //# of SCTP packets until the ASCONF-ACK arrives
        let in_flight = self.addresses.as_ref().and_then(|state| state.in_flight.as_ref());
        self.tcb.local_addresses.contains(&address)
            || in_flight.is_some_and(|asconf| asconf.withheld.contains(&address))
    }

    /// Tells if an ABORT to this address of ours is to be ignored: it answers a packet that has overtaken the ASCONF by
    /// which we delete the address, from a peer that knows the address no more.
    //= https://www.rfc-editor.org/rfc/rfc5061#section-5.3.1
    //# For this case, during the deletion of an IP address, an Abort MUST be
    //# ignored if the destination address of the Abort message is that of a
    //# destination being deleted.
    pub(crate) fn ignores_aborts_at(&self, address: IpAddr) -> bool {
        let Some(state) = &self.addresses else { return false };
        // What is being added is one of ours already, to a peer whose answer is on its way.
        let is_being_added =
            state.asked().any(|change| matches!(change, AddressChange::Add(added) if *added == address));
        !is_being_added && !self.tcb.local_addresses.contains(&address)
    }

    /// Sends what waits, unless an ASCONF is on its way.
    fn send_asconf(&mut self, now: Instant) {
        //= https://www.rfc-editor.org/rfc/rfc5061#section-5.1.1
        //# C4)  Both ASCONF and ASCONF-ACK Chunks MUST NOT be sent in any SCTP
        //# state except ESTABLISHED, SHUTDOWN-PENDING, SHUTDOWN-RECEIVED,
        //# and SHUTDOWN-SENT.
        if !self.state.may_send_data() {
            return;
        }
        let Some(state) = &mut self.addresses else { return };
        if state.in_flight.is_some() || state.waiting.is_empty() {
            return;
        }
        // The address parameter is one that the peer knows, be it about to be deleted.
        let Some(&address) = self.tcb.local_addresses.first() else { return };
        // What was asked for before may have been refused, and have left less than was thought.
        let mut left = self.tcb.local_addresses.clone();
        let mut changes: Vec<AddressChange> = Vec::new();
        for change in state.waiting.drain(..) {
            match change {
                AddressChange::Add(address) => left.push(address),
                AddressChange::Delete(address) if left[..] == [address] => {
                    let event = AddressEvent::Answered { change, is_accepted: false };
                    self.events.push_back(Event::Addresses(event));
                    continue;
                }
                AddressChange::Delete(address) => left.retain(|one| *one != address),
                AddressChange::SetPrimary(_) | AddressChange::Unknown { .. } => {}
            }
            changes.push(change);
        }
        if changes.is_empty() {
            return;
        }
        let serial = state.next_serial;
        state.next_serial = serial.next();
        let requests: Vec<_> = changes
            .into_iter()
            .zip(state.next_correlation..)
            .map(|(change, correlation)| AsconfRequest { correlation, change })
            .collect();
        state.next_correlation =
            state.next_correlation.wrapping_add(u32::try_from(requests.len()).unwrap_or(0));
        //= https://www.rfc-editor.org/rfc/rfc5061#section-5.3
        //# F6)  An endpoint MUST NOT set an IP header source address for an SCTP
        //# packet holding the ASCONF Chunk to be the same as an address
        //# being deleted by the ASCONF Chunk.
        let mut withheld = SmallVec::new();
        let mut added: SmallVec<[IpAddr; 2]> = SmallVec::new();
        for request in &requests {
            match request.change {
                AddressChange::Add(address) => added.push(address),
                AddressChange::Delete(address) => {
                    // What is added and deleted again is no source either, and none that could come back.
                    added.retain(|one| *one != address);
                    if self.tcb.local_addresses.contains(&address) {
                        self.tcb.local_addresses.retain(|one| *one != address);
                        withheld.push(address);
                    }
                }
                AddressChange::SetPrimary(_) | AddressChange::Unknown { .. } => {}
            }
        }
        let path = self.paths.current();
        let destination = self.paths[path].destination;
        //= https://www.rfc-editor.org/rfc/rfc5061#section-5.3
        //# until such time as the ASCONF
        //# containing the add is acknowledged, the sender MUST NOT use the
        //# new IP address as a source for ANY SCTP packet except on
        //# carrying an ASCONF Chunk.
        // One that is known to be down is no source either.
        added.retain(|address| !self.down.contains(address));
        let is_without = source_for(destination, &usable(&self.tcb.local_addresses, &self.down)).is_none();
        let only_from = if is_without { source_for(destination, &added) } else { None };
        let chunk = Asconf { serial, address, requests };
        let deadline = now + self.paths[path].rtt.rto();
        state.in_flight = Some(InFlight { chunk: chunk.clone(), path, deadline, only_from, withheld });
        self.refresh_sources(now);
        // In front of all that waits, since what is muted may be behind it, but for a COOKIE ACK: before that the peer
        // takes nothing.
        let is_cookie_ack = matches!(self.control.front(), Some((_, Chunk::CookieAck(_))));
        self.control.insert(usize::from(is_cookie_ack), (path, Chunk::Asconf(chunk)));
        self.poll_stage = PollStage::Packets;
    }

    /// An address of either end has been added, or is no more (`None`).
    fn note_start(&mut self, address: IpAddr, at: Option<Instant>) {
        if let Some(state) = &mut self.addresses {
            state.note_start(address, at);
        }
    }

    /// An address of ours that the peer knows.
    fn use_address(&mut self, address: IpAddr) {
        if !self.tcb.local_addresses.contains(&address) {
            self.tcb.local_addresses.push(address);
        }
    }

    /// Gives an ASCONF up that the peer has not answered, and says what it asked for. Addresses that were to be deleted
    /// come back if the peer has them for sure, or if there are no others.
    fn withdraw_asconf(&mut self, now: Instant, doubt: Doubt) -> Vec<AsconfRequest> {
        let Some(asconf) = self.addresses.as_mut().and_then(|state| state.in_flight.take()) else {
            return Vec::new();
        };
        if doubt == Doubt::No || self.tcb.local_addresses.is_empty() {
            for address in asconf.withheld {
                self.use_address(address);
            }
        }
        self.refresh_sources(now);
        self.control.retain(|(_, chunk)| !matches!(chunk, Chunk::Asconf(_)));
        self.poll_stage = PollStage::Packets;
        asconf.chunk.requests
    }

    /// Lets each path leave from the address of ours that suits it best, until the routes say more.
    fn refresh_sources(&mut self, now: Instant) {
        let only_from = self.only_source();
        self.wants_routes = true;
        let keeps = self.sources == Sources::ByRoute;
        let usable = self.usable_addresses();
        for id in self.paths.ids() {
            let path = &self.paths[id];
            if keeps && usable.contains(&path.source) {
                continue;
            }
            let source = source_for(path.destination, &usable)
                .or_else(|| source_for(path.destination, only_from.as_slice()))
                .or_else(|| source_for(path.destination, &self.tcb.local_addresses));
            if let Some(source) = source {
                self.set_source(now, id, source);
            }
        }
    }

    /// Our addresses that packets can leave from.
    fn usable_addresses(&self) -> SmallVec<[IpAddr; 2]> {
        usable(&self.tcb.local_addresses, &self.down)
    }

    /// An address of ours is back that the peer knows: what had to leave from a new one alone can leave from there.
    pub(super) fn unmute(&mut self, now: Instant, address: IpAddr) {
        let asconf = self.addresses.as_mut().and_then(|state| state.in_flight.as_mut());
        if self.tcb.local_addresses.contains(&address)
            && let Some(asconf) = asconf.filter(|asconf| asconf.only_from.is_some())
        {
            asconf.only_from = None;
            self.refresh_sources(now);
        }
    }

    /// The address that all packets leave from until the peer has answered, if none that it knows may be used.
    pub(super) fn only_source(&self) -> Option<IpAddr> {
        self.addresses.as_ref()?.in_flight.as_ref()?.only_from
    }

    /// T4-RTO may have expired.
    pub(super) fn on_asconf_deadline(&mut self, now: Instant) {
        let Some(state) = &mut self.addresses else { return };
        let Some(InFlight { path, deadline, .. }) = state.in_flight else { return };
        if deadline > now {
            return;
        }
        if !self.state.may_send_data() {
            self.withdraw_asconf(now, Doubt::Possible);
            return;
        }
        //= https://www.rfc-editor.org/rfc/rfc5061#section-5.1
        //# B3)  Backoff the destination address RTO value to which the ASCONF
        //# chunk was sent by doubling the RTO timer value.
        self.paths[path].rtt.back_off();
        self.count_error(now, path, Unanswered::Asconf, true);
        if self.state.is_closed() {
            return;
        }
        //= https://www.rfc-editor.org/rfc/rfc5061#section-5.1
        //# B4)  Re-transmit the ASCONF Chunk last sent and if possible choose an
        //# alternate destination address (please refer to [RFC4960],
        //# Section 6.4.1).
        let path = self.paths.alternate_to(path);
        let rto = self.paths[path].rtt.rto();
        if let Some(asconf) = self.addresses.as_mut().and_then(|state| state.in_flight.as_mut()) {
            asconf.path = path;
            asconf.deadline = now + rto;
            self.control.retain(|(_, chunk)| !matches!(chunk, Chunk::Asconf(_)));
            self.control.push_front((path, Chunk::Asconf(asconf.chunk.clone())));
            self.poll_stage = PollStage::Packets;
        }
    }

    /// The peer has answered an ASCONF.
    pub(super) fn on_asconf_ack(&mut self, now: Instant, ack: &AsconfAck) {
        let Some(state) = &mut self.addresses else { return };
        let Some(mut asconf) = state.in_flight.take_if(|asconf| asconf.chunk.serial == ack.serial) else {
            //= https://www.rfc-editor.org/rfc/rfc5061#section-5.3
            //# F0)  If an endpoint receives an ASCONF-ACK that is greater than or
            //# equal to the next Sequence Number to be used but no ASCONF Chunk
            //# is outstanding, the endpoint MUST ABORT the association.
            if state.in_flight.is_none() && ack.serial.is_at_or_after(state.next_serial) {
                self.abort(now, Cause::IllegalAsconfAck);
            }
            return;
        };
        //= https://www.rfc-editor.org/rfc/rfc5061#section-5.1
        //# A5)  When the ASCONF-ACK that acknowledges the Sequence Number last
        //# sent arrives, the sender MUST stop the T-4 RTO timer, and clear
        //# the appropriate association and destination error counters
        self.error_count = 0;
        self.paths[asconf.path].clear_errors();
        let mut has_failed = false;
        for AsconfRequest { correlation, change } in asconf.chunk.requests {
            //= https://www.rfc-editor.org/rfc/rfc5061#section-5.1
            //# A7)  If an error response is received for a TLV parameter, all TLVs
            //# with no response before the failed TLV are considered successful
            //# if not reported.  All TLVs after the failed response are
            //# considered unsuccessful unless a specific success indication is
            //# present for the parameter.
            let response = ack.responses.iter().find(|response| response.correlation == correlation);
            let is_accepted = response.map_or(!has_failed, |response| response.causes.is_empty());
            has_failed |= !is_accepted;
            if let Some(response) = response {
                let is_unknown = |cause: &Cause| cause.code() == code::UNRECOGNIZED_PARAMETERS;
                if response.causes.iter().any(is_unknown)
                    && let Some(state) = &mut self.addresses
                {
                    state.is_refused = true;
                }
            }
            match change {
                AddressChange::Add(address) if is_accepted => {
                    self.use_address(address);
                    self.note_start(address, Some(now));
                }
                // It may have been added by the same ASCONF.
                AddressChange::Delete(address) if is_accepted => {
                    self.tcb.local_addresses.retain(|one| *one != address);
                    self.down.retain(|one| *one != address);
                    // That it refuses to delete it once more does not bring it back.
                    asconf.withheld.retain(|one| *one != address);
                    self.note_start(address, None);
                }
                // One that the peer has never taken is none of ours, whatever it says of the request.
                AddressChange::Delete(address) if asconf.withheld.contains(&address) => {
                    self.use_address(address);
                }
                _ => {}
            }
            let event = AddressEvent::Answered { change, is_accepted };
            self.events.push_back(Event::Addresses(event));
        }
        self.refresh_sources(now);
        self.poll_stage = PollStage::Packets;
        self.send_asconf(now);
        self.follow_wanted(now);
    }

    /// The peer has reported that it does not know a chunk.
    pub(super) fn on_asconf_unknown(&mut self, now: Instant, quoted: &[u8]) {
        //= https://www.rfc-editor.org/rfc/rfc5061#section-5.1
        //# A9)  If the peer responds to an ASCONF with an ERROR Chunk reporting
        //# that it did not recognize the ASCONF Chunk Type, the sender of
        //# the ASCONF MUST NOT send any further ASCONF Chunks and MUST stop
        //# its T-4 timer.
        let Some(state) = self.addresses.as_mut().filter(|_| quoted.first() == Some(&kind::ASCONF)) else {
            return;
        };
        state.is_refused = true;
        let waiting = core::mem::take(&mut state.waiting);
        let sent = self.withdraw_asconf(now, Doubt::No);
        for change in sent.into_iter().map(|request| request.change).chain(waiting) {
            let event = AddressEvent::Answered { change, is_accepted: false };
            self.events.push_back(Event::Addresses(event));
        }
    }

    /// Tells if DATA and SACKs have to wait: no address of ours may be used before an ASCONF has been answered, or the
    /// peer is known to be at none of its addresses.
    pub(super) fn is_held_back(&self) -> bool {
        let Some(state) = &self.addresses else { return false };
        !self.state.is_closed() && (state.is_muted() || self.paths.is_unverified())
    }

    /// Builds the packet that may leave while DATA and SACKs are held back.
    #[cold]
    pub(super) fn build_held_back(&mut self, builder: &mut PacketBuilder) -> Option<PathId> {
        if self.addresses.as_ref().is_some_and(|state| state.is_muted()) {
            return self.build_muted(builder);
        }
        let (path, _) = *self.control.front()?;
        self.start_packet(builder, path);
        self.bundle_control(builder, path);
        Some(path)
    }

    /// Puts the ASCONF into a packet, and the answers to the peer's: two ends that move at once would else wait for
    /// each other.
    fn build_muted(&mut self, builder: &mut PacketBuilder) -> Option<PathId> {
        let is_asconf = |(_, chunk): &(PathId, Chunk)| matches!(chunk, Chunk::Asconf(_));
        let place = self.control.iter().position(is_asconf)?;
        let (path, _) = *self.control.get(place)?;
        self.start_packet(builder, path);
        let (_, chunk) = self.control.remove(place)?;
        // If the peer has not heard that its cookie was good, it takes nothing else.
        let is_cookie_ack = |(_, chunk): &(PathId, Chunk)| matches!(chunk, Chunk::CookieAck(_));
        if self.control.iter().any(is_cookie_ack) {
            self.control.retain(|entry| !is_cookie_ack(entry));
            builder.push(&Chunk::CookieAck(CookieAck));
            self.stats.control_chunks_sent += 1;
        }
        builder.push(&chunk);
        self.stats.control_chunks_sent += 1;
        let is_answer = |(_, chunk): &(PathId, Chunk)| matches!(chunk, Chunk::AsconfAck(_));
        while let Some(place) = self.control.iter().position(is_answer) {
            let Some((_, answer)) = self.control.remove(place) else { break };
            if !builder.push(&answer) {
                break;
            }
            self.stats.control_chunks_sent += 1;
        }
        // What answers a peer that goes on asking would pile up.
        self.control.truncate(MAX_CONTROL_WHILE_MUTED);
        Some(path)
    }

    /// Limits the control chunks that have been queued since, while nothing but an ASCONF may leave.
    pub(super) fn bound_control_while_muted(&mut self) {
        if self.addresses.as_ref().is_some_and(|state| state.is_muted()) {
            self.control.truncate(MAX_CONTROL_WHILE_MUTED);
        }
    }
}
