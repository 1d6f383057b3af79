//! Registration of routing keys by ASPs (RFC 4666, section 4.4).

use slantpath_base::Instant;

use crate::asp::{AspState, ErrorCode, Members, ServerConfig, TrafficMode};
use crate::m3ua::routing::Comparison;
use crate::m3ua::sgp::{KeyChanges, Registration, Sgp, SgpOutput};
use crate::m3ua::{
    DeregistrationResult, DeregistrationStatus, Message, RegistrationResult, RegistrationStatus, RoutingKey,
    TrafficKey,
};
use crate::transport::AssociationNumber;

impl Sgp {
    pub(super) fn handle_registration(
        &mut self,
        now: Instant,
        from: AssociationNumber,
        keys: &[RoutingKey],
        octets: &[u8],
    ) {
        //= https://www.rfc-editor.org/rfc/rfc4666#section-4.4.1
        //# If the SGP does not support the registration procedure, the SGP
        //# returns an Error message to the ASP, with an error code of
        //# "Unsupported Message Class".
        if self.config.registration == Registration::Unsupported {
            self.send_error(from, ErrorCode::UNSUPPORTED_MESSAGE_CLASS, octets);
            return;
        }
        let mut results = Vec::new();
        let mut registered = Vec::new();
        for key in keys {
            let local_identifier = key.local_identifier;
            let (status, routing_context) = match self.place(from, key) {
                Ok(context) => {
                    registered.push(context);
                    (RegistrationStatus::REGISTERED, context)
                }
                Err(refusal) => refusal,
            };
            results.push(RegistrationResult { local_identifier, status, routing_context });
        }
        for (result, key) in results.iter().zip(keys) {
            let destination = key.destinations.first().map(|destination| destination.dpc);
            let (association, result) = (from, *result);
            self.outputs.push_back(SgpOutput::Registration { association, result, destination });
        }
        self.send(from, &Message::RegRsp { results });
        // The state of the application server is told after the answer.
        for context in registered {
            self.gateway.register(now, from, &context);
        }
    }

    /// Finds or makes the application server of a key; or the status, and the routing context to tell with it.
    fn place(&mut self, from: AssociationNumber, key: &RoutingKey) -> Result<u32, (RegistrationStatus, u32)> {
        let refuse = |status| Err((status, 0));
        if !key.others.is_empty() {
            return refuse(RegistrationStatus::UNSUPPORTED_PARAMETER);
        }
        if key.destinations.is_empty() || key.routing_context == Some(0) {
            return refuse(RegistrationStatus::INVALID_ROUTING_KEY);
        }
        let largest = self.config.largest_code();
        if key.destinations.iter().any(|destination| destination.dpc.0 > largest) {
            return refuse(RegistrationStatus::INVALID_DPC);
        }
        if key.network_appearance.is_some_and(|network| !self.network_appearances.contains(&network)) {
            return refuse(RegistrationStatus::INVALID_NETWORK_APPEARANCE);
        }
        let Ok(mode) = key.traffic_mode.map(TrafficMode::from_number).transpose() else {
            return refuse(RegistrationStatus::UNSUPPORTED_TRAFFIC_MODE);
        };
        let traffic =
            TrafficKey { network_appearance: key.network_appearance, destinations: key.destinations.clone() };
        if let Some(context) = key.routing_context {
            return self.change(from, context, traffic);
        }
        match self.table.compare(&traffic) {
            Comparison::Same(context) => {
                let known = self.gateway.known_mode(&context);
                if mode.is_some() && known.is_some() && mode != known {
                    return refuse(RegistrationStatus::UNSUPPORTED_TRAFFIC_MODE);
                }
                //= https://www.rfc-editor.org/rfc/rfc4666#section-4.4.1
                //# For this error
                //# code, the RC field in the Registration Response message MUST be
                //# populated with the actual value of RC in SGP corresponding to the
                //# specified RK in the Registration Request message.
                if self.gateway.is_member(from, &context) {
                    return Err((RegistrationStatus::ALREADY_REGISTERED, context));
                }
                Ok(context)
            }
            Comparison::Ambiguous => refuse(RegistrationStatus::CANNOT_SUPPORT_UNIQUE_ROUTING),
            Comparison::New => self.create(traffic, mode).map_err(|status| (status, 0)),
        }
    }

    /// A key for a routing context that is there already.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.4.1
    //# A Registration Response "ERR Routing Key Change Refused"
    //# is returned if the SGP does not support this re-registration
    //# procedure or RC does not exist.
    fn change(
        &mut self,
        from: AssociationNumber,
        context: u32,
        traffic: TrafficKey,
    ) -> Result<u32, (RegistrationStatus, u32)> {
        let allows =
            matches!(self.config.registration, Registration::Dynamic { changes: KeyChanges::Allowed, .. });
        let is_own = self.gateway.is_registered(from, &context);
        let is_unique = match self.table.compare(&traffic) {
            Comparison::New => true,
            Comparison::Same(same) => same == context,
            Comparison::Ambiguous => false,
        };
        if !(allows && is_own) {
            return Err((RegistrationStatus::CHANGE_REFUSED, 0));
        }
        if !is_unique {
            return Err((RegistrationStatus::CANNOT_SUPPORT_UNIQUE_ROUTING, 0));
        }
        let before: Vec<_> = self.key(context).into_iter().flat_map(TrafficKey::points).collect();
        self.end_congestion(context);
        self.table.insert(context, traffic);
        // What it has no more is told before what is new.
        self.follow_availability_of(context, &before);
        self.follow_availability(context);
        self.follow_congestion_of(context);
        Ok(context)
    }

    /// A new application server.
    fn create(
        &mut self,
        traffic: TrafficKey,
        traffic_mode: Option<TrafficMode>,
    ) -> Result<u32, RegistrationStatus> {
        let Registration::Dynamic { servers_max, first_routing_context, permitted, denied, .. } =
            &self.config.registration
        else {
            return Err(RegistrationStatus::NOT_PROVISIONED);
        };
        let is_denied = |dpc| denied.contains(dpc) || !(permitted.is_empty() || permitted.contains(dpc));
        if traffic.destinations.iter().any(|destination| is_denied(&destination.dpc)) {
            return Err(RegistrationStatus::PERMISSION_DENIED);
        }
        if self.dynamic.len() >= *servers_max {
            return Err(RegistrationStatus::INSUFFICIENT_RESOURCES);
        }
        let free = (*first_routing_context..=u32::MAX).find(|context| self.table.key(*context).is_none());
        let context = free.ok_or(RegistrationStatus::INSUFFICIENT_RESOURCES)?;
        let members = Members::Only(Vec::new());
        self.gateway.add_server(context, ServerConfig { traffic_mode, needed_active: 1, members });
        self.table.insert(context, traffic);
        self.dynamic.insert(context);
        Ok(context)
    }

    pub(super) fn handle_deregistration(
        &mut self,
        now: Instant,
        from: AssociationNumber,
        contexts: &[u32],
        octets: &[u8],
    ) {
        if self.config.registration == Registration::Unsupported {
            self.send_error(from, ErrorCode::UNSUPPORTED_MESSAGE_CLASS, octets);
            return;
        }
        let mut results = Vec::new();
        let mut ended = Vec::new();
        for &routing_context in contexts {
            let status = self.deregistration_status(from, routing_context);
            if status == DeregistrationStatus::DEREGISTERED {
                ended.push(routing_context);
            }
            results.push(DeregistrationResult { routing_context, status });
        }
        if results.is_empty() {
            self.send_error(from, ErrorCode::INVALID_PARAMETER_VALUE, octets);
            return;
        }
        self.send(from, &Message::DeregRsp { results });
        for context in ended {
            self.gateway.deregister(now, from, &context);
        }
    }

    fn deregistration_status(&self, from: AssociationNumber, context: u32) -> DeregistrationStatus {
        let Some(key) = self.key(context) else { return DeregistrationStatus::INVALID_ROUTING_CONTEXT };
        if !self.gateway.is_registered(from, &context) {
            return DeregistrationStatus::NOT_REGISTERED;
        }
        let is_permanent = match &self.config.registration {
            Registration::Dynamic { permanent, .. } => {
                key.destinations.iter().any(|destination| permanent.contains(&destination.dpc))
            }
            Registration::Provisioned | Registration::Unsupported => false,
        };
        if is_permanent {
            return DeregistrationStatus::PERMISSION_DENIED;
        }
        if self.gateway.asp_state(from, &context) == AspState::Active {
            return DeregistrationStatus::ASP_ACTIVE;
        }
        DeregistrationStatus::DEREGISTERED
    }
}
