//! Messages of user parts between an ASP and its gateways.

use bytes::Bytes;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::ServiceIndicator;
use slantpath_ss7::transfer::{Transfer, TransferIndication};

use crate::asp::{AdaptationLayer as _, AspState, ErrorCode, ServerName};
use crate::m3ua::asp::{Asp, AspOutput, Server};
use crate::m3ua::{Availability, Data, DropReason, M3ua, ProtocolData};
use crate::transport::{AssociationNumber, StreamNumber, Transmit};

impl Asp {
    /// MTP-TRANSFER request. What cannot go on is dropped and counted.
    pub fn transfer(&mut self, network_appearance: Option<u32>, message: Transfer) {
        self.counters.requested += 1;
        if let Err(reason) = self.try_transfer(network_appearance, message) {
            self.counters.drop(reason);
        }
    }

    /// Takes a message back that an association could not send, for another gateway.
    pub(super) fn take_back(&mut self, octets: &Bytes) {
        let Ok(data) = Data::parse(octets) else { return };
        let Some(message) = data.protocol_data.to_transfer() else { return };
        self.counters.returned += 1;
        if let Err(reason) = self.try_transfer(data.network_appearance, message) {
            self.counters.drop(reason);
        }
    }

    fn try_transfer(&mut self, network: Option<u32>, message: Transfer) -> Result<(), DropReason> {
        if message.service.indicator == ServiceIndicator::MANAGEMENT {
            return Err(DropReason::ManagementMessage);
        }
        let (gateway, name) = self.choose(network, &message)?;
        let link = self.gateways.get(&gateway).and_then(|peer| peer.link);
        let stream = link.and_then(|link| link.stream(message.label.sls)).ok_or(DropReason::NoDataStream)?;
        let data = Data {
            network_appearance: network,
            routing_context: name.key().copied(),
            protocol_data: ProtocolData::from(message),
            correlation_id: None,
        };
        let octets = self.writer.data(&data);
        self.counters.data_sent += 1;
        self.counters.forwarded += 1;
        let payload_protocol = M3ua::PAYLOAD_PROTOCOL;
        self.outputs.push_back(AspOutput::Transmit(Transmit {
            association: gateway,
            stream,
            payload_protocol,
            report: None,
            octets,
        }));
        Ok(())
    }

    /// The gateway for a message, and the application server that it is sent for.
    fn choose(
        &self,
        network: Option<u32>,
        message: &Transfer,
    ) -> Result<(AssociationNumber, &ServerName<u32>), DropReason> {
        let place = (network, message.label.dpc);
        let routes = self.routes.get(&place).ok_or(DropReason::DestinationUnavailable)?;
        if routes.state().availability == Availability::Unavailable {
            return Err(DropReason::DestinationUnavailable);
        }
        let name_at = |gateway| self.sending_server(gateway, network, message.label.opc);
        let usable = |gateway| name_at(gateway).is_some();
        let gateway = routes.choose(message.label.sls.0, usable).ok_or(DropReason::AspNotActive)?;
        Ok((gateway, name_at(gateway).ok_or(DropReason::AspNotActive)?))
    }

    /// The active application server at a gateway that messages of an origin are sent for: one whose traffic is being
    /// given back only if there is no other, since the gateway takes no more for it once ASP Inactive is there.
    fn sending_server(
        &self,
        gateway: AssociationNumber,
        network: Option<u32>,
        opc: PointCode,
    ) -> Option<&ServerName<u32>> {
        let of_origin = self.servers_at(gateway).filter(|server| {
            let codes = &server.served.point_codes;
            server.served.network_appearance == network && (codes.is_empty() || codes.contains(&opc))
        });
        let names = of_origin.map(|server| &server.served.name);
        let active = names.filter(|name| self.state(gateway, name) == AspState::Active);
        let process = self.gateways.get(&gateway).map(|peer| &peer.process);
        active.min_by_key(|name| process.is_some_and(|process| process.gives_back(name)))
    }

    /// The application servers that a gateway knows.
    pub(super) fn servers_at(&self, gateway: AssociationNumber) -> impl Iterator<Item = &Server> {
        self.servers.iter().filter(move |server| server.registered_at.is_none_or(|at| at == gateway))
    }

    pub(super) fn handle_data(
        &mut self,
        from: AssociationNumber,
        stream: StreamNumber,
        data: &Data,
        octets: &[u8],
    ) {
        self.counters.received += 1;
        let indication = self.receive(from, stream, data, octets);
        match indication {
            Ok((network, transfer)) => {
                self.counters.indicated += 1;
                let indication = TransferIndication::Transfer(transfer);
                self.outputs.push_back(AspOutput::Indication(network, indication));
            }
            Err(reason) => self.counters.drop(reason),
        }
    }

    fn receive(
        &mut self,
        from: AssociationNumber,
        stream: StreamNumber,
        data: &Data,
        octets: &[u8],
    ) -> Result<(Option<u32>, Transfer), DropReason> {
        if stream.0 == 0 {
            self.send_error(from, ErrorCode::INVALID_STREAM_IDENTIFIER, octets);
            return Err(DropReason::InvalidStream);
        }
        let meant: Vec<&Server> = self
            .servers_at(from)
            .filter(|server| match (&server.served.name, data.routing_context) {
                (ServerName::Named(own), Some(context)) => *own == context,
                _ => true,
            })
            .collect();
        if let (true, Some(context)) = (meant.is_empty(), data.routing_context) {
            self.send_context_error(from, &[context], octets);
            return Err(DropReason::InvalidRoutingContext);
        }
        //= https://www.rfc-editor.org/rfc/rfc4666#section-3.8.1
        //# For example, silent discard
        //# is used by an ASP if it received a DATA message from an SGP while it
        //# was in the ASP-INACTIVE state.
        let active = |server: &&&Server| self.state(from, &server.served.name) == AspState::Active;
        let server = meant.iter().find(active).ok_or(DropReason::AspNotActive)?;
        let own = server.served.network_appearance;
        let known = self.servers.iter().any(|s| s.served.network_appearance == data.network_appearance);
        if data.network_appearance.is_some() && !known {
            return Err(DropReason::InvalidNetworkAppearance);
        }
        if data.protocol_data.service_indicator == ServiceIndicator::MANAGEMENT.value() {
            return Err(DropReason::ManagementMessage);
        }
        let Some(transfer) = data.protocol_data.to_transfer() else {
            self.send_error(from, ErrorCode::INVALID_PARAMETER_VALUE, octets);
            return Err(DropReason::InvalidProtocolData);
        };
        Ok((data.network_appearance.or(own), transfer))
    }
}
