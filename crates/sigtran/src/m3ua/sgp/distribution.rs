//! Messages of user parts on their way: from ASPs, to ASPs, and waiting for one.

use std::collections::VecDeque;

use bytes::Bytes;
use slantpath_ss7::mtp3::{ServiceIndicator, Sls};
use slantpath_ss7::transfer::{Transfer, TransferIndication};

use crate::asp::{AdaptationLayer as _, AsState, AspState, ErrorCode, TrafficMode};
use crate::m3ua::sgp::congestion::Congestion;
use crate::m3ua::sgp::{Sgp, SgpOutput};
use crate::m3ua::{
    Availability, Data, DropReason, M3ua, Message, NetworkPoint, ProtocolData, UnavailabilityCause,
    destination,
};
use crate::transport::{AssociationNumber, StreamNumber, Transmit};

/// State of the distribution to one application server.
#[derive(Clone, Debug, Default)]
pub(super) struct Distribution {
    /// Messages, each with the network that its point codes belong to.
    queue: VecDeque<(Option<u32>, ProtocolData)>,
    pub(super) congestion: Congestion,
    /// A bit for each signalling link selection whose next broadcast message is to carry a correlation identifier.
    flows_to_mark: [u64; 4],
    last_correlation: u32,
    /// Active ASPs when the latest message was sent to one of them.
    active: Vec<AssociationNumber>,
    /// ASPs that serve no longer, and all that were active with each, until a message of theirs goes elsewhere.
    lost: Vec<(AssociationNumber, Vec<AssociationNumber>)>,
}

/// The ASP that takes the messages of a selection.
fn asp_of(active: &[AssociationNumber], sls: Sls) -> Option<AssociationNumber> {
    active.get(usize::from(sls.0).checked_rem(active.len())?).copied()
}

impl Distribution {
    /// Follows the ASPs that are active when a message is sent. Returns the one that would have taken it and serves no
    /// longer, if none of its messages has gone elsewhere before.
    fn follow(&mut self, active: &[AssociationNumber], sls: Sls) -> Option<AssociationNumber> {
        if self.active != active {
            for gone in self.active.iter().filter(|asp| !active.contains(asp)) {
                self.lost.push((*gone, self.active.clone()));
            }
            self.lost.retain(|(asp, _)| !active.contains(asp));
            self.active = active.to_vec();
        }
        let place = self.lost.iter().position(|(asp, with)| asp_of(with, sls) == Some(*asp))?;
        Some(self.lost.remove(place).0)
    }

    pub(super) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// The destinations of what waits.
    pub(super) fn destinations(&self) -> impl Iterator<Item = NetworkPoint> {
        self.queue.iter().map(|(network, message)| (*network, message.dpc))
    }

    /// A new ASP is to find the place of each flow.
    pub(super) const fn mark_flows(&mut self) {
        self.flows_to_mark = [u64::MAX; 4];
    }

    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.3
    //# Whenever an ASP in a Broadcast mode AS becomes ASP-ACTIVE, the SGP
    //# MUST tag the first DATA message broadcast in each traffic flow with a
    //# unique Correlation Id parameter.
    fn correlation(&mut self, sls: u8) -> Option<u32> {
        let (word, bit) = (usize::from(sls / 64), 1_u64 << (sls % 64));
        let is_marked = self.flows_to_mark[word] & bit != 0;
        self.flows_to_mark[word] &= !bit;
        is_marked.then(|| {
            self.last_correlation = self.last_correlation.wrapping_add(1);
            self.last_correlation
        })
    }
}

impl Sgp {
    /// MTP-TRANSFER request: a message of the SS7 network for an ASP. What cannot go on is dropped and counted.
    pub fn transfer(&mut self, network_appearance: Option<u32>, message: Transfer) {
        self.counters.requested += 1;
        if message.service.indicator == ServiceIndicator::MANAGEMENT {
            self.counters.drop(DropReason::ManagementMessage);
            return;
        }
        let message = ProtocolData::from(message);
        match self.table.lookup(network_appearance, &message).or(self.config.default_server) {
            Some(routing_context) => self.distribute(routing_context, network_appearance, message),
            None => self.counters.drop(DropReason::NoRoutingKey),
        }
    }

    /// DATA of an ASP: to another ASP, or into the SS7 network.
    pub(super) fn handle_data(
        &mut self,
        from: AssociationNumber,
        stream: StreamNumber,
        data: Data,
        octets: &[u8],
    ) {
        self.counters.received += 1;
        let (routing_context, network) = match self.sender_of(from, stream, &data, octets) {
            Ok(sender) => sender,
            Err(reason) => {
                self.counters.drop(reason);
                return;
            }
        };
        let message = data.protocol_data;
        // A label of this network has no room for it, and would name another point as the origin.
        if message.opc.0 > self.config.largest_code() {
            self.counters.drop(DropReason::InvalidProtocolData);
            self.send_error(from, ErrorCode::INVALID_PARAMETER_VALUE, octets);
            return;
        }
        match message.to_transfer() {
            Some(message) if self.config.examines => {
                self.outputs.push_back(SgpOutput::Examine {
                    association: from,
                    routing_context,
                    network,
                    message,
                });
            }
            _ => self.pass_on(from, network, message, octets),
        }
    }

    /// A message that was examined goes on.
    pub fn admit(&mut self, from: AssociationNumber, network: Option<u32>, message: Transfer) {
        self.pass_on(from, network, ProtocolData::from(message), &[]);
    }

    /// A message that was examined goes no further. Whoever examined it answers.
    pub const fn refuse(&mut self) {
        self.counters.drop(DropReason::Screened);
    }

    /// A message of an ASP goes on: to another ASP, or into the SS7 network.
    fn pass_on(
        &mut self,
        from: AssociationNumber,
        network: Option<u32>,
        message: ProtocolData,
        octets: &[u8],
    ) {
        let place = (network, message.dpc);
        if let Some(routing_context) = self.table.lookup(network, &message) {
            if self.availability(place) == Availability::Unavailable {
                self.refuse_unavailable(from, place, DropReason::NoActiveAsp);
            } else {
                self.distribute(routing_context, network, message);
            }
        } else if self.table.servers_at(place).next().is_some() {
            self.refuse_user(from, network, &message);
        } else if self.availability(place) == Availability::Unavailable {
            self.refuse_unavailable(from, place, DropReason::DestinationUnavailable);
        } else if let Some(transfer) = message.to_transfer() {
            self.counters.indicated += 1;
            self.outputs.push_back(SgpOutput::Indication(network, TransferIndication::Transfer(transfer)));
        } else {
            self.counters.drop(DropReason::InvalidProtocolData);
            self.send_error(from, ErrorCode::INVALID_PARAMETER_VALUE, octets);
        }
    }

    /// The application server and the network of a DATA message that its sender may send.
    fn sender_of(
        &mut self,
        from: AssociationNumber,
        stream: StreamNumber,
        data: &Data,
        octets: &[u8],
    ) -> Result<(u32, Option<u32>), DropReason> {
        if stream.0 == 0 {
            self.send_error(from, ErrorCode::INVALID_STREAM_IDENTIFIER, octets);
            return Err(DropReason::InvalidStream);
        }
        if let Some(unknown) =
            data.network_appearance.filter(|network| !self.network_appearances.contains(network))
        {
            self.send_network_error(from, unknown, octets);
            return Err(DropReason::InvalidNetworkAppearance);
        }
        let context = match data.routing_context {
            Some(context) if self.gateway.as_state(&context).is_none() => {
                self.send_context_error(from, &[context], octets);
                return Err(DropReason::InvalidRoutingContext);
            }
            Some(context) => {
                let is_active = self.gateway.asp_state(from, &context) == AspState::Active;
                is_active.then_some(context)
            }
            None => self.gateway.active_key(from).copied(),
        };
        //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.3
        //# If the SGP or IPSP
        //# receives any Data messages before an ASP Active message is received,
        //# the SGP or IPSP MAY discard them.
        let context = context.ok_or(DropReason::AspNotActive)?;
        //= https://www.rfc-editor.org/rfc/rfc4666#section-1.4.3.2
        //# MTP3 management messages (such as TFPs or TFAs received from the SS7
        //# network) MUST NOT be encapsulated as Data message Payload Data and
        //# sent either from SG to ASP or from ASP to SG.
        if data.protocol_data.service_indicator == ServiceIndicator::MANAGEMENT.value() {
            return Err(DropReason::ManagementMessage);
        }
        let own = self.key(context).and_then(|key| key.network_appearance);
        Ok((context, data.network_appearance.or(own)))
    }

    /// Tells the sender that a destination cannot be reached.
    fn refuse_unavailable(
        &mut self,
        from: AssociationNumber,
        (network, code): NetworkPoint,
        reason: DropReason,
    ) {
        self.counters.drop(reason);
        let contexts = self.active_contexts(from, network);
        for message in
            destination::availability_messages(Availability::Unavailable, network, &contexts, &[(0, code)])
        {
            self.send(from, &message);
        }
    }

    /// Tells the sender that the destination lacks the user part.
    fn refuse_user(&mut self, from: AssociationNumber, network: Option<u32>, message: &ProtocolData) {
        self.counters.drop(DropReason::NoRoutingKey);
        let contexts = self.active_contexts(from, network);
        let affected = destination::affected(network, &contexts, &[(0, message.dpc)]);
        // Cause 1: unequipped remote user (RFC 4666, section 3.4.5).
        let cause = UnavailabilityCause { cause: 1, user: message.service_indicator.into() };
        self.send(from, &Message::Dupu { affected, cause });
    }

    /// Sends a message to the active ASPs of an application server, or lets it wait for one.
    fn distribute(&mut self, routing_context: u32, network: Option<u32>, message: ProtocolData) {
        match self.gateway.as_state(&routing_context) {
            Some(AsState::Active) => {
                self.note_congested(routing_context, (network, message.dpc));
                self.send_data(routing_context, message);
            }
            Some(AsState::Pending) => self.enqueue(routing_context, network, message),
            Some(AsState::Down | AsState::Inactive) | None => {
                self.counters.drop(DropReason::NoActiveAsp);
            }
        }
    }

    /// Takes a message back that an association could not send, for another ASP: nothing has come after it yet that is
    /// for its application server, so that its order stays. In broadcast mode the others have it.
    pub(super) fn take_back(&mut self, octets: &Bytes) {
        let Ok(data) = Data::parse(octets) else { return };
        let Some(routing_context) = data.routing_context else { return };
        if self.gateway.traffic_mode(&routing_context) != Some(TrafficMode::Broadcast) {
            self.counters.returned += 1;
            self.distribute(routing_context, data.network_appearance, data.protocol_data);
        }
    }

    fn send_data(&mut self, routing_context: u32, message: ProtocolData) {
        let active = self.gateway.active(&routing_context);
        let network_appearance = self.table.key(routing_context).and_then(|key| key.network_appearance);
        let sls = message.sls;
        let mut data = Data {
            network_appearance,
            routing_context: Some(routing_context),
            protocol_data: message,
            correlation_id: None,
        };
        let is_broadcast = self.gateway.traffic_mode(&routing_context) == Some(TrafficMode::Broadcast);
        // Messages of one selection go to one ASP, in the order in which they came.
        let chosen: &[AssociationNumber] = match active {
            [] => &[],
            all if is_broadcast => all,
            all => std::slice::from_ref(&all[usize::from(sls.0) % all.len()]),
        };
        if let (false, [to]) = (is_broadcast, chosen) {
            let from = self.distribution.entry(routing_context).or_default().follow(active, sls);
            let diverted = from.map(|from| SgpOutput::Diverted { routing_context, from, to: *to });
            self.outputs.extend(diverted);
        }
        if is_broadcast {
            data.correlation_id = self.distribution.entry(routing_context).or_default().correlation(sls.0);
        }
        let octets = self.writer.data(&data);
        let mut sent = 0;
        for association in chosen {
            let stream = self.links.get(association).and_then(|link| link.stream(sls));
            let Some(stream) = stream else { continue };
            sent += 1;
            self.outputs.push_back(SgpOutput::Transmit(Transmit {
                association: *association,
                stream,
                payload_protocol: M3ua::PAYLOAD_PROTOCOL,
                report: None,
                octets: octets.clone(),
            }));
        }
        self.counters.data_sent += sent;
        if sent > 0 {
            self.counters.forwarded += 1;
        } else {
            self.counters.drop(DropReason::NoDataStream);
        }
    }

    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.4
    //# The SGP SHOULD start
    //# buffering the incoming messages for T(r) seconds, after which
    //# messages MAY be discarded.
    fn enqueue(&mut self, routing_context: u32, network: Option<u32>, message: ProtocolData) {
        let limits = self.config.queue;
        // Who sends to a new destination is told before the first of its messages is refused.
        self.note_congested(routing_context, (network, message.dpc));
        let distribution = self.distribution.entry(routing_context).or_default();
        if distribution.queue.len() >= limits.max {
            self.counters.drop(DropReason::QueueFull);
            return;
        }
        distribution.queue.push_back((network, message));
        self.follow_congestion_of(routing_context);
    }

    pub(super) fn flush_queue(&mut self, routing_context: u32) {
        let distribution = self.distribution.entry(routing_context).or_default();
        for (_, message) in std::mem::take(&mut distribution.queue) {
            self.send_data(routing_context, message);
        }
        self.follow_congestion_of(routing_context);
    }

    pub(super) fn discard_queue(&mut self, routing_context: u32) {
        let Some(distribution) = self.distribution.get_mut(&routing_context) else { return };
        for _ in std::mem::take(&mut distribution.queue) {
            self.counters.drop(DropReason::RecoveryExpired);
        }
        self.follow_congestion_of(routing_context);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: AssociationNumber = AssociationNumber(1);
    const TWO: AssociationNumber = AssociationNumber(2);

    fn followed(steps: &[(&[AssociationNumber], u8)]) -> Vec<Option<AssociationNumber>> {
        let mut distribution = Distribution::default();
        steps.iter().map(|(active, sls)| distribution.follow(active, Sls(*sls))).collect()
    }

    #[test]
    fn the_first_message_of_an_asp_that_serves_no_longer_is_told_once() {
        // Even selections go to the first of two.
        let shared: &[AssociationNumber] = &[ONE, TWO];
        assert_eq!(
            followed(&[(shared, 0), (&[TWO], 1), (&[TWO], 4), (&[TWO], 0)]),
            [None, None, Some(ONE), None]
        );
        // One takes over from the other, with nothing sent in between.
        assert_eq!(followed(&[(&[ONE], 3), (&[TWO], 3), (&[TWO], 3)]), [None, Some(ONE), None]);
    }

    #[test]
    fn an_asp_that_is_back_before_its_first_message_has_lost_none() {
        let shared: &[AssociationNumber] = &[ONE, TWO];
        assert_eq!(followed(&[(shared, 0), (&[TWO], 1), (shared, 0), (shared, 1)]), [None; 4]);
        // It is lost again after that.
        assert_eq!(
            followed(&[(shared, 0), (&[TWO], 0), (shared, 0), (&[TWO], 0)]),
            [None, Some(ONE), None, Some(ONE)]
        );
    }
}
