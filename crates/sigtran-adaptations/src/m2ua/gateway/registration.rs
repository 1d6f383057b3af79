//! Registration for links (RFC 3331, section 4.4).

use slantpath_base::Instant;
use slantpath_sigtran::asp::{AspState, ErrorCode};
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber};

use crate::interface::InterfaceIdentifier;
use crate::m2ua::gateway::{RegistrationPolicy, SignallingGateway};
use crate::m2ua::{
    DeregistrationResult, LinkKey, M2uaParameter, Message, RegistrationResult, deregistration_status, kind,
    registration_status,
};
use crate::message::{CommonParameter, OwnMessage};

/// Identifiers of terminals and data links have 14 bits at most.
const IDENTIFIER_MAX: u32 = (1 << 14) - 1;

impl SignallingGateway {
    pub(super) fn handle_registration(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        message: &OwnMessage<M2uaParameter>,
    ) {
        let keys = message.own().filter_map(|parameter| match parameter {
            M2uaParameter::LinkKey(key) => Some(*key),
            _ => None,
        });
        let mut response = OwnMessage::empty(kind::REGISTRATION_RESPONSE);
        let mut granted = Vec::new();
        for key in keys {
            let found = self.find(key);
            let (status, interface) = match found {
                Ok(interface) => (registration_status::SUCCESS, interface),
                Err(status) => (status, InterfaceIdentifier::Integer(0)),
            };
            if status == registration_status::SUCCESS {
                granted.push(interface.clone());
            }
            let result = RegistrationResult { local: key.local, status, interface };
            response = response.with(M2uaParameter::RegistrationResult(result));
        }
        self.transmit(association, StreamNumber(0), &Message::Own(response));
        for interface in granted {
            // One that is a member already is registered well.
            self.asps.register(now, association, &interface);
        }
    }

    /// The link of a key, or why there is none.
    fn find(&self, key: LinkKey) -> Result<InterfaceIdentifier, u32> {
        if self.config.registration == RegistrationPolicy::Denied {
            return Err(registration_status::PERMISSION_DENIED);
        }
        if key.terminal > IDENTIFIER_MAX {
            return Err(registration_status::INVALID_TERMINAL);
        }
        if key.data_link > IDENTIFIER_MAX {
            return Err(registration_status::INVALID_DATA_LINK);
        }
        let mut links = self.links.iter();
        let alike = links
            .find(|(_, link)| link.config.terminal == key.terminal || link.config.data_link == key.data_link);
        let exact = self
            .links
            .iter()
            .find(|(_, link)| link.config.terminal == key.terminal && link.config.data_link == key.data_link);
        match (exact, alike) {
            (Some((interface, _)), _) => Ok(interface.clone()),
            //= https://www.rfc-editor.org/rfc/rfc3331#section-4.4.1
            //# If the SGP determines that the Link Key parameter overlaps with an
            //# existing Link Key entry, the SGP returns a Registration Response
            //# message to the ASP, with a Registration Status of "Error -
            //# Overlapping (Non-Unique) Link Key".
            (None, Some(_)) => Err(registration_status::OVERLAPPING),
            (None, None) => Err(registration_status::NOT_PROVISIONED),
        }
    }

    pub(super) fn handle_deregistration(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        message: &OwnMessage<M2uaParameter>,
        octets: &[u8],
    ) {
        let mut interfaces = Vec::new();
        for parameter in message.common() {
            match parameter {
                CommonParameter::InterfaceIntegers(numbers) => {
                    interfaces.extend(numbers.iter().copied().map(InterfaceIdentifier::Integer));
                }
                CommonParameter::InterfaceText(text) => {
                    interfaces.push(InterfaceIdentifier::Text(text.clone()));
                }
                _ => {}
            }
        }
        let mut response = OwnMessage::empty(kind::DEREGISTRATION_RESPONSE);
        let mut is_answered = false;
        for interface in interfaces {
            //= https://www.rfc-editor.org/rfc/rfc3331#section-3.3.3.1
            //# The "ASP Currently Active for Interface Identifier(s)" error is sent
            //# by a SGP when a Deregistration request is received from an ASP that
            //# is active for Interface Identifier(s) specified in the Deregistration
            //# request.
            if self.asps.asp_state(association, &interface) == AspState::Active {
                self.refuse(association, ErrorCode::ASP_ACTIVE_FOR_INTERFACE, &interface, octets);
                continue;
            }
            let status = if !self.links.contains_key(&interface) {
                deregistration_status::INVALID_INTERFACE
            } else if self.asps.deregister(now, association, &interface) {
                deregistration_status::SUCCESS
            } else {
                deregistration_status::NOT_REGISTERED
            };
            is_answered = true;
            let result = DeregistrationResult { interface, status };
            response = response.with(M2uaParameter::DeregistrationResult(result));
        }
        if is_answered {
            self.transmit(association, StreamNumber(0), &Message::Own(response));
        }
    }
}
