//! Numbers that all adaptation layers give the same meaning: error codes, NTFY's status, traffic modes.

use crate::common::{self, MessageParseError};

/// Way of sharing traffic among the ASPs of an AS (RFC 4666, section 3.7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrafficMode {
    /// One ASP takes all.
    Override = 1,
    /// Active ASPs share it.
    Loadshare = 2,
    /// Each active ASP gets all of it.
    Broadcast = 3,
}

impl TrafficMode {
    /// From the parameter's number; another is "Unsupported Traffic Mode Type", told as the parameter's tag.
    pub const fn from_number(number: u32) -> Result<Self, MessageParseError> {
        match number {
            1 => Ok(Self::Override),
            2 => Ok(Self::Loadshare),
            3 => Ok(Self::Broadcast),
            _ => Err(MessageParseError::InvalidParameterValue(common::tag::TRAFFIC_MODE)),
        }
    }
}

/// The code of an ERR (RFC 4666, section 3.8.1; RFC 3331, section 3.3.3.1; RFC 3868, section 3.10.1; RFC 4233, section
/// 3.3.3.1). Every layer uses some of them; none gives a number another meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    /// Another version than 1.
    pub const INVALID_VERSION: Self = Self(0x01);
    /// An interface identifier that is not configured (M2UA, IUA).
    pub const INVALID_INTERFACE_IDENTIFIER: Self = Self(0x02);
    /// A class that the receiver does not know or does not serve.
    pub const UNSUPPORTED_MESSAGE_CLASS: Self = Self(0x03);
    /// A type that its class does not have.
    pub const UNSUPPORTED_MESSAGE_TYPE: Self = Self(0x04);
    /// A traffic mode that is unknown, or another than the AS has.
    pub const UNSUPPORTED_TRAFFIC_MODE_TYPE: Self = Self(0x05);
    /// A known message that the state does not allow.
    pub const UNEXPECTED_MESSAGE: Self = Self(0x06);
    /// Something else that should not be.
    pub const PROTOCOL_ERROR: Self = Self(0x07);
    /// Text where only integers are served, or the other way round (M2UA, IUA).
    pub const UNSUPPORTED_INTERFACE_IDENTIFIER_TYPE: Self = Self(0x08);
    /// A message on a stream that is not for it.
    pub const INVALID_STREAM_IDENTIFIER: Self = Self(0x09);
    /// A terminal endpoint that is not assigned (IUA).
    pub const UNASSIGNED_TEI: Self = Self(0x0a);
    /// A service access point that is not known (IUA).
    pub const UNRECOGNIZED_SAPI: Self = Self(0x0b);
    /// A pair of both that does not go together (IUA).
    pub const INVALID_TEI_SAPI_COMBINATION: Self = Self(0x0c);
    /// Management does not let the ASP up, or active.
    pub const REFUSED_MANAGEMENT_BLOCKING: Self = Self(0x0d);
    /// ASP Up came without the ASP identifier that is needed.
    pub const ASP_IDENTIFIER_REQUIRED: Self = Self(0x0e);
    /// The ASP identifier is another ASP's.
    pub const INVALID_ASP_IDENTIFIER: Self = Self(0x0f);
    /// The ASP is still active for an interface identifier that it deregisters (M2UA).
    pub const ASP_ACTIVE_FOR_INTERFACE: Self = Self(0x10);
    /// A parameter whose value is impossible.
    pub const INVALID_PARAMETER_VALUE: Self = Self(0x11);
    /// A parameter with a wrong length.
    pub const PARAMETER_FIELD_ERROR: Self = Self(0x12);
    /// A parameter that does not belong to the message.
    pub const UNEXPECTED_PARAMETER: Self = Self(0x13);
    /// The state of a destination that the asker may not know.
    pub const DESTINATION_STATUS_UNKNOWN: Self = Self(0x14);
    /// A network appearance that is not configured.
    pub const INVALID_NETWORK_APPEARANCE: Self = Self(0x15);
    /// A parameter that must be there is not.
    pub const MISSING_PARAMETER: Self = Self(0x16);
    /// A routing context that is not configured.
    pub const INVALID_ROUTING_CONTEXT: Self = Self(0x19);
    /// No AS is configured for the ASP.
    pub const NO_CONFIGURED_AS_FOR_ASP: Self = Self(0x1a);
}

/// Type and information of a NTFY (RFC 4666, section 3.8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Status {
    /// 1 is a change of AS state, 2 is other.
    pub kind: u16,
    /// Change that is reported; its meaning depends on the type.
    pub information: u16,
}

impl Status {
    /// The AS has ASPs, and none carries traffic.
    pub const AS_INACTIVE: Self = Self { kind: 1, information: 2 };
    /// The AS carries traffic.
    pub const AS_ACTIVE: Self = Self { kind: 1, information: 3 };
    /// The last active ASP is gone; traffic waits for another.
    pub const AS_PENDING: Self = Self { kind: 1, information: 4 };
    /// More ASPs are needed for the load.
    pub const INSUFFICIENT_ASP_RESOURCES: Self = Self { kind: 2, information: 1 };
    /// Another ASP has taken the traffic over.
    pub const ALTERNATE_ASP_ACTIVE: Self = Self { kind: 2, information: 2 };
    /// An ASP of the AS has failed.
    pub const ASP_FAILURE: Self = Self { kind: 2, information: 3 };

    /// From the parameter's 32 bits.
    pub const fn from_number(number: u32) -> Self {
        Self { kind: (number >> 16) as u16, information: (number & 0xffff) as u16 }
    }

    /// The parameter's 32 bits.
    pub const fn to_number(self) -> u32 {
        (self.kind as u32) << 16 | self.information as u32
    }
}
