//! Registration of routing keys (RFC 3868, section 4.4).

use slantpath_base::Instant;
use slantpath_sigtran::asp::{self, AspState, ErrorCode, Members, RoutingContexts, TrafficMode};
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber};

use crate::message::{CommonParameter, OwnMessage};
use crate::sua::gateway::{RegistrationPolicy, SignallingGateway};
use crate::sua::{
    DeregistrationResult, Message, RegistrationResult, RoutingKey, SuaParameter, deregistration_status, kind,
    registration_status,
};

impl SignallingGateway {
    pub(super) fn handle_registration(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        message: &OwnMessage<SuaParameter>,
        octets: &[u8],
    ) {
        //= https://www.rfc-editor.org/rfc/rfc3868#section-4.4.1
        //# If the SGP does not support the registration procedure, the SGP
        //# returns an Error message to the ASP, with an error code of
        //# "Unsupported Message Type".
        if self.config.registration == RegistrationPolicy::Unsupported {
            let code = ErrorCode::UNSUPPORTED_MESSAGE_TYPE;
            return self.send_error(association, code, RoutingContexts::default(), octets);
        }
        let keys: Vec<RoutingKey> = message
            .own()
            .filter_map(|parameter| match parameter {
                SuaParameter::RoutingKey(key) => Some(key.clone()),
                _ => None,
            })
            .collect();
        let mut response = OwnMessage::empty(kind::REGISTRATION_RESPONSE);
        let mut granted = Vec::new();
        for key in keys {
            let local = key.local;
            let (status, routing_context) = match self.find_or_create(key) {
                Ok(context) => {
                    granted.push(context);
                    (registration_status::SUCCESS, context)
                }
                Err(status) => (status, 0),
            };
            let result = RegistrationResult { local, status, routing_context };
            response = response.with(SuaParameter::RegistrationResult(result));
        }
        self.transmit(association, StreamNumber(0), &Message::Own(response));
        for context in granted {
            // One that is a member already is registered well.
            self.asps.register(now, association, &context);
        }
    }

    /// The application server of a key, or why there is none.
    fn find_or_create(&mut self, key: RoutingKey) -> Result<u32, u32> {
        if key.routing_context.is_some() {
            return Err(registration_status::CHANGE_REFUSED);
        }
        let Ok(mode) = key.traffic_mode.map(TrafficMode::from_number).transpose() else {
            return Err(registration_status::INVALID_TRAFFIC_MODE);
        };
        let alike = |other: &RoutingKey| {
            other.network_appearance == key.network_appearance
                && other.sources == key.sources
                && other.destinations == key.destinations
                && other.ranges == key.ranges
        };
        let found = self.servers.iter().find(|(_, server)| alike(&server.key)).map(|(context, _)| *context);
        if let Some(context) = found {
            let has = self.asps.traffic_mode(&context);
            let is_active = !self.asps.active(&context).is_empty();
            if mode.is_some() && is_active && mode != has {
                return Err(registration_status::INVALID_TRAFFIC_MODE);
            }
            return Ok(context);
        }
        let RegistrationPolicy::Dynamic(servers_max) = self.config.registration else {
            return Err(registration_status::NOT_PROVISIONED);
        };
        if key.destinations.is_empty() && key.sources.is_empty() && key.ranges.is_empty() {
            return Err(registration_status::INVALID_KEY);
        }
        if self.servers.len() >= servers_max {
            return Err(registration_status::INSUFFICIENT_RESOURCES);
        }
        let context = self.servers.keys().next_back().map_or(1, |last| last.wrapping_add(1));
        if self.servers.contains_key(&context) {
            return Err(registration_status::INSUFFICIENT_RESOURCES);
        }
        let server = asp::ServerConfig {
            traffic_mode: mode,
            members: Members::Only(Vec::new()),
            ..asp::ServerConfig::default()
        };
        self.add_server(context, key, server);
        Ok(context)
    }

    pub(super) fn handle_deregistration(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        message: &OwnMessage<SuaParameter>,
    ) {
        let contexts = message.common().find_map(|parameter| match parameter {
            CommonParameter::RoutingContexts(contexts) => Some(contexts.clone()),
            _ => None,
        });
        let mut response = OwnMessage::empty(kind::DEREGISTRATION_RESPONSE);
        for routing_context in contexts.unwrap_or_default() {
            let status = if !self.servers.contains_key(&routing_context) {
                deregistration_status::INVALID_ROUTING_CONTEXT
            } else if self.asps.asp_state(association, &routing_context) == AspState::Active {
                deregistration_status::CURRENTLY_ACTIVE
            } else if self.asps.deregister(now, association, &routing_context) {
                deregistration_status::SUCCESS
            } else {
                deregistration_status::NOT_REGISTERED
            };
            let result = DeregistrationResult { routing_context, status };
            response = response.with(SuaParameter::DeregistrationResult(result));
        }
        self.transmit(association, StreamNumber(0), &Message::Own(response));
    }
}
