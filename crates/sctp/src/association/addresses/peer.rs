//! The peer changes its addresses (RFC 5061, sections 5.2 and 5.3).

use super::{
    AddressChange, AddressEvent, Asconf, AsconfAck, AsconfRequest, Association, Cause, Chunk, Event, Instant,
    IpAddr, PathId, PollStage, SmallVec, State, Turn, is_usable, source_for, turn,
};
use crate::chunk::AsconfResponse;
use crate::parameter::Parameter;
use crate::path::{Heartbeat, Link, Path, PathState};
use crate::unknown::UnknownAction;

/// Number of answers that are kept in case an ASCONF is retransmitted: one is outstanding at a time, and more come only
/// in its retransmission.
const MAX_ANSWERS: usize = 4;

impl Association {
    /// An ASCONF has come from `source`.
    pub(in crate::association) fn on_asconf(&mut self, now: Instant, asconf: Asconf, source: IpAddr) {
        if !self.state.may_send_data() && !self.state.may_receive_data() {
            return;
        }
        let Some(state) = &mut self.addresses else { return };
        let serial = asconf.serial;
        if serial != state.peer_serial.next() {
            //= https://www.rfc-editor.org/rfc/rfc5061#section-5.2
            //# E2)  If the value found in the Sequence Number is less than the
            //# ('Peer- Sequence-Number' + 1), simply skip to the next ASCONF,
            //# and include in the outbound response packet any previously
            //# cached ASCONF-ACK response that was sent and saved that matches
            //# the Sequence Number of the ASCONF.
            let known = state.answers.iter().find(|answer| answer.serial == serial).cloned();
            if let Some(answer) = known {
                self.answer_asconf(answer, source);
            }
            return;
        }
        if core::mem::replace(&mut state.answers_of, self.stats.packets_received)
            != self.stats.packets_received
        {
            //= https://www.rfc-editor.org/rfc/rfc5061#section-5.2
            //# the
            //# endpoint MAY clean any old cached ASCONF-ACK up to the 'Peer-
            //# Sequence-Number' and then proceed to rule E4.
            state.answers.clear();
        }
        state.peer_serial = serial;
        let mut responses = Vec::new();
        let mut is_failing = false;
        for request in asconf.requests {
            let ends_here = is_last_read(&request.change);
            if let Err(cause) = self.change_peer(now, &request, source, &mut is_failing) {
                responses.push(AsconfResponse { correlation: request.correlation, causes: vec![cause] });
            } else if !responses.is_empty() {
                // Behind one that failed what has been done must be said.
                responses.push(AsconfResponse { correlation: request.correlation, causes: Vec::new() });
            }
            if ends_here {
                break;
            }
        }
        let answer = AsconfAck { serial, responses };
        if let Some(state) = &mut self.addresses {
            if state.answers.len() == MAX_ANSWERS {
                state.answers.pop_front();
            }
            state.answers.push_back(answer.clone());
        }
        self.answer_asconf(answer, source);
    }

    fn answer_asconf(&mut self, answer: AsconfAck, source: IpAddr) {
        //= https://www.rfc-editor.org/rfc/rfc5061#section-5.2
        //# The destination address of the SCTP packet
        //# containing the ASCONF-ACK Chunks MUST be the source address of
        //# the SCTP packet that held the ASCONF Chunks.
        // If that is no address of the peer after all, one that is.
        let path = self.paths.find(source).unwrap_or_else(|| self.paths.current());
        // In front of a HEARTBEAT that verifies the path: only the two may go there.
        self.control.push_front((path, Chunk::AsconfAck(answer)));
        self.poll_stage = PollStage::Packets;
    }

    fn change_peer(
        &mut self,
        now: Instant,
        request: &AsconfRequest,
        source: IpAddr,
        is_failing: &mut bool,
    ) -> Result<(), Cause> {
        let named = |address: IpAddr| if address.is_unspecified() { source } else { address };
        match request.change {
            AddressChange::Add(_) | AddressChange::Delete(_) if *is_failing => {
                //= https://www.rfc-editor.org/rfc/rfc5061#section-5.3
                //# In other
                //# words, once a receiver begins failing any ADD or DELETE request,
                //# it must fail all subsequent ADD or DELETE requests contained in
                //# that single ASCONF.
                Err(Cause::ResourceShortage(request.to_bytes()))
            }
            AddressChange::Add(address) => {
                let address = named(address);
                if self.paths.find(address).is_some() {
                    return Ok(());
                }
                self.add_path(now, address).ok_or_else(|| {
                    *is_failing = true;
                    Cause::ResourceShortage(request.to_bytes())
                })
            }
            AddressChange::Delete(address) if address.is_unspecified() => {
                let Some(stays) = self.paths.find(source) else {
                    *is_failing = true;
                    return Err(Cause::DeleteLastAddress(request.to_bytes()));
                };
                for path in self.paths.ids().filter(|path| *path != stays) {
                    self.remove_path(now, path);
                }
                Ok(())
            }
            AddressChange::Delete(address) => {
                let Some(path) = self.paths.find(address) else { return Ok(()) };
                //= https://www.rfc-editor.org/rfc/rfc5061#section-5.3
                //# F7)  If a request is received to delete the last remaining IP address
                //# of a peer endpoint, the receiver MUST send an Error Cause TLV
                //# with the Error Cause set to the new error code 'Request to
                //# Delete Last Remaining IP Address'.
                if self.paths.len() == 1 {
                    *is_failing = true;
                    return Err(Cause::DeleteLastAddress(request.to_bytes()));
                }
                //= https://www.rfc-editor.org/rfc/rfc5061#section-5.3
                //# F8)  If a request is received to delete an IP address that is also
                //# the source address of the IP packet that contained the ASCONF
                //# chunk, the receiver MUST reject this request.
                if address == source {
                    *is_failing = true;
                    return Err(Cause::DeleteSourceAddress(request.to_bytes()));
                }
                self.remove_path(now, path);
                Ok(())
            }
            AddressChange::SetPrimary(address) => {
                let address = named(address);
                let Some(path) = self.paths.find(address) else {
                    //= https://www.rfc-editor.org/rfc/rfc5061#section-5.4
                    //# If a request arrives that asks the receiver to
                    //# set an address as primary that does not exist, the receiver SHOULD
                    //# NOT honor the request, leaving its existing primary address
                    //# unchanged.
                    return Err(Cause::UnresolvableAddress(Parameter::Address(address).to_bytes()));
                };
                if let Some(state) = &mut self.addresses {
                    state.wanted_primary = Some(path);
                }
                self.follow_wanted_primary();
                Ok(())
            }
            AddressChange::Unknown { kind, .. } => {
                // What is to be skipped without a word is.
                let action = UnknownAction::of_parameter(kind);
                if action.reports() { Err(Cause::UnrecognizedParameters(request.to_bytes())) } else { Ok(()) }
            }
        }
    }

    fn add_path(&mut self, now: Instant, address: IpAddr) -> Option<()> {
        if !is_usable(address) || self.paths.len() >= self.config.max_peer_addresses {
            return None;
        }
        // While ours move too there may be one, which the peer is about to know.
        let source = source_for(address, &self.usable_addresses())
            .or_else(|| source_for(address, &self.tcb.local_addresses))
            .or_else(|| source_for(address, self.only_source().as_slice()))?;
        //= https://www.rfc-editor.org/rfc/rfc5061#section-5.3
        //# F14) All addresses added by the reception of an ASCONF Chunk MUST be
        //# put into the UNCONFIRMED state and MUST have path verification
        //# performed on them before the address can be used as described in
        //# [RFC4960], Section 5.4.
        let mut path = Path::new(address, source, PathState::Unconfirmed, &self.config);
        path.heartbeat = Heartbeat::Requested { at: now };
        if self.down.contains(&source) {
            path.link = Link::Down;
        }
        let path = self.paths.add(path)?;
        self.send_heartbeat(now, path);
        self.note_start(address, Some(now));
        self.wants_routes = true;
        self.note_addresses(AddressEvent::PeerAdded(address));
        Some(())
    }

    /// Takes an address of the peer away that is not its only one.
    fn remove_path(&mut self, now: Instant, path: PathId) {
        let address = self.paths[path].destination;
        // What was sent there goes to the address that carries new DATA from now on.
        let others: SmallVec<[PathId; 4]> = self.paths.ids().filter(|other| *other != path).collect();
        let current = self.paths.alternate_to(path);
        let heir = if others.contains(&current) { current } else { others[0] };
        let mut turn = turn!(self, now);
        self.sender.move_flight(&mut turn, path, heir);
        self.control
            .retain(|(to, chunk)| *to != path || !matches!(chunk, Chunk::Heartbeat(_) | Chunk::Pad(_)));
        for (to, _) in self.control.iter_mut().filter(|(to, _)| *to == path) {
            *to = heir;
        }
        self.receiver.forget_path(path);
        self.return_path.forget_path(path);
        self.state.replace_path(path, heir);
        if let Some(ecn) = &mut self.ecn {
            ecn.forget_path(path);
        }
        if let Some(reconfiguration) = &mut self.reconfiguration {
            reconfiguration.replace_path(path, heir);
        }
        let stats = self.paths[path].stats();
        if let Some(state) = &mut self.addresses {
            state.removed_stats = state.removed_stats.plus(stats);
            state.wanted_primary = state.wanted_primary.filter(|wanted| *wanted != path);
            for asconf in state.in_flight.iter_mut().filter(|asconf| asconf.path == path) {
                asconf.path = heir;
            }
        }
        self.paths.remove(path);
        self.note_start(address, None);
        self.note_addresses(AddressEvent::PeerRemoved(address));
    }

    fn note_addresses(&mut self, event: AddressEvent) {
        if let Some(state) = &mut self.addresses {
            state.has_news = true;
        }
        self.events.push_back(Event::Addresses(event));
    }

    /// Makes the address primary that the peer wants to be, once it is confirmed.
    pub(in crate::association) fn follow_wanted_primary(&mut self) {
        let Some(path) = self.addresses.as_ref().and_then(|state| state.wanted_primary) else { return };
        if self.paths.set_primary(path) {
            if let Some(state) = &mut self.addresses {
                state.wanted_primary = None;
            }
            let address = self.paths[path].destination;
            self.wanted_primary = None;
            self.stand_in = None;
            self.events.push_back(Event::Addresses(AddressEvent::PeerPrimary(address)));
        }
    }

    /// Tells if addresses may change at all.
    #[inline]
    pub(crate) const fn may_change_addresses(&self) -> bool {
        self.addresses.is_some()
    }

    /// The peer's addresses, if they have changed since the last time.
    pub(crate) fn take_new_addresses(&mut self) -> Option<SmallVec<[IpAddr; 2]>> {
        let state = self.addresses.as_mut()?;
        let has_news = core::mem::take(&mut state.has_news);
        has_news.then(|| self.paths.iter().map(|path| path.destination).collect())
    }
}

/// Tells if the requests behind this one are not to be read.
//= https://www.rfc-editor.org/rfc/rfc5061#section-5.2
//# V2)  In processing the chunk, the receiver should build a
//# response message with the appropriate error TLVs, as
//# specified in the Parameter type bits, for any ASCONF
//# Parameter it does not understand.
const fn is_last_read(change: &AddressChange) -> bool {
    match change {
        AddressChange::Unknown { kind, .. } => UnknownAction::of_parameter(*kind).stops(),
        AddressChange::Add(_) | AddressChange::Delete(_) | AddressChange::SetPrimary(_) => false,
    }
}
