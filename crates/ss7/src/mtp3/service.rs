//! The service information octet (Q.704, section 14.2).

/// Service indicator of a message: the user part behind MTP3. Values 0 to 15; the others are spare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServiceIndicator(u8);

impl ServiceIndicator {
    /// Signalling network management messages.
    pub const MANAGEMENT: Self = Self(0);
    /// Signalling network testing and maintenance: SLTM and SLTA.
    pub const TEST: Self = Self(1);
    /// Signalling network testing and maintenance, special messages (ANSI).
    pub const TEST_SPECIAL: Self = Self(2);
    /// SCCP.
    pub const SCCP: Self = Self(3);
    /// Telephone user part.
    pub const TUP: Self = Self(4);
    /// ISDN user part.
    pub const ISUP: Self = Self(5);

    /// From the four bits of the field; `None` beyond 15.
    pub const fn new(value: u8) -> Option<Self> {
        if value < 16 { Some(Self(value)) } else { None }
    }

    /// The four bits of the field.
    pub const fn value(self) -> u8 {
        self.0
    }

    /// Short name of the user part (Q.704, section 14.2.1); `None` of a spare value.
    pub const fn name(self) -> Option<&'static str> {
        match self.0 {
            0 => Some("SNM"),
            1 | 2 => Some("SNT"),
            3 => Some("SCCP"),
            4 => Some("TUP"),
            5 => Some("ISUP"),
            6 | 7 => Some("DUP"),
            8 => Some("MTP testing"),
            9 => Some("B-ISUP"),
            10 => Some("satellite ISUP"),
            12 => Some("AAL2"),
            13 => Some("BICC"),
            14 => Some("GCP"),
            _ => None,
        }
    }
}

/// Network that a message belongs to: the upper two bits of the subservice field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NetworkIndicator {
    /// The international network.
    International,
    /// Spare, for international use.
    InternationalSpare,
    /// The national network.
    National,
    /// Reserved for national use: often a second national network.
    NationalSpare,
}

/// The service information octet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServiceInformation {
    /// The user part.
    pub indicator: ServiceIndicator,
    /// Network of the message.
    pub network: NetworkIndicator,
    /// Message priority 0 to 3, where the national standard uses these bits; spare in ITU-T networks.
    pub priority: u8,
}

impl ServiceInformation {
    /// Any octet is one.
    pub const fn from_octet(octet: u8) -> Self {
        let network = match octet >> 6 {
            0 => NetworkIndicator::International,
            1 => NetworkIndicator::InternationalSpare,
            2 => NetworkIndicator::National,
            _ => NetworkIndicator::NationalSpare,
        };
        Self { indicator: ServiceIndicator(octet & 0xf), network, priority: octet >> 4 & 3 }
    }

    /// Gives the octet of these fields.
    pub const fn to_octet(self) -> u8 {
        (self.network as u8) << 6 | (self.priority & 3) << 4 | self.indicator.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_octet_round_trips() {
        for octet in 0..=u8::MAX {
            assert_eq!(ServiceInformation::from_octet(octet).to_octet(), octet);
        }
    }

    #[test]
    fn a_national_sccp_message_is_0x83() {
        let sio = ServiceInformation::from_octet(0x83);
        assert_eq!((sio.indicator, sio.network), (ServiceIndicator::SCCP, NetworkIndicator::National));
    }
}
