//! Why something came back, was refused, released, reset or wrong (Q.713, sections 3.11 to 3.15).

macro_rules! causes {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $code:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u8);

        impl $name {
            $($(#[$value_doc])* pub const $value: Self = Self($code);)*

            /// Every cause that has a name, with the name.
            pub const ALL: &[(Self, &str)] = &[$((Self::$value, stringify!($value)),)*];

            /// Gives the name of the cause in small letters, with `between` between words; the number of one without a
            /// name.
            pub fn name(self, between: &str) -> String {
                let named = Self::ALL.iter().find(|(cause, _)| *cause == self);
                named.map_or_else(|| self.0.to_string(), |(_, name)| name.to_lowercase().replace('_', between))
            }
        }
    };
}

causes! {
    /// Why a connectionless message came back (section 3.12).
    ReturnCause {
        /// No translation for an address of such nature.
        NO_TRANSLATION_FOR_NATURE = 0,
        /// No translation for this specific address.
        NO_TRANSLATION_FOR_ADDRESS = 1,
        /// The subsystem is congested.
        SUBSYSTEM_CONGESTION = 2,
        /// The subsystem has failed.
        SUBSYSTEM_FAILURE = 3,
        /// There is no such subsystem.
        UNEQUIPPED_USER = 4,
        /// The node cannot be reached.
        MTP_FAILURE = 5,
        /// The network is congested.
        NETWORK_CONGESTION = 6,
        /// Any other cause.
        UNQUALIFIED = 7,
        /// Segments were lost, doubled or came out of order.
        ERROR_IN_MESSAGE_TRANSPORT = 8,
        /// An error of the node that returns the message.
        ERROR_IN_LOCAL_PROCESSING = 9,
        /// The destination has no room to put segments together.
        NO_REASSEMBLY = 10,
        /// SCCP at the node has failed.
        SCCP_FAILURE = 11,
        /// The message has been translated too often.
        HOP_COUNTER_VIOLATION = 12,
        /// The message is too long for a network that knows no segments.
        SEGMENTATION_NOT_SUPPORTED = 13,
        /// The message is too long for sixteen segments.
        SEGMENTATION_FAILURE = 14,
    }
}

causes! {
    /// Why a connection was refused (section 3.15).
    RefusalCause {
        /// The user refused.
        END_USER_ORIGINATED = 0,
        /// SCCP refused.
        SCCP_USER_ORIGINATED = 3,
        /// The address is not known.
        DESTINATION_ADDRESS_UNKNOWN = 4,
        /// The node cannot be reached.
        DESTINATION_INACCESSIBLE = 5,
        /// No resources, for the time being.
        RESOURCE_TRANSIENT = 7,
        /// The subsystem has failed.
        SUBSYSTEM_FAILURE = 10,
        /// The subsystem is congested, or the way to it.
        SUBSYSTEM_CONGESTION = 11,
        /// T(conn est) expired.
        ESTABLISHMENT_TIMER = 12,
        /// Any other cause.
        UNQUALIFIED = 15,
        /// The request has been translated too often.
        HOP_COUNTER_VIOLATION = 16,
        /// SCCP at the node has failed.
        SCCP_FAILURE = 17,
        /// No translation for an address of such nature.
        NO_TRANSLATION_FOR_NATURE = 18,
        /// There is no such subsystem.
        UNEQUIPPED_USER = 19,
    }
}

causes! {
    /// Why a connection was released (section 3.11).
    ReleaseCause {
        /// The user ended it.
        END_USER_ORIGINATED = 0,
        /// The peer did not keep to the protocol.
        REMOTE_PROCEDURE_ERROR = 4,
        /// The two ends do not agree on the connection.
        INCONSISTENT_CONNECTION_DATA = 5,
        /// The node cannot be reached.
        MTP_FAILURE = 10,
        /// Expiry of T(reset).
        RESET_TIMER = 12,
        /// Expiry of T(iar).
        RECEIVE_INACTIVITY_TIMER = 13,
        /// Any other cause.
        UNQUALIFIED = 15,
        /// SCCP has failed.
        SCCP_FAILURE = 16,
    }
}

causes! {
    /// Why a connection of class 3 was reset (section 3.13).
    ResetCause {
        /// The user asked for it.
        END_USER_ORIGINATED = 0,
        /// P(S) is not the next.
        INCORRECT_SEND_NUMBER = 2,
        /// P(R) acknowledges what was not sent.
        INCORRECT_RECEIVE_NUMBER = 3,
        /// P(S) lies outside the window.
        OUT_OF_WINDOW = 4,
        /// The peer did not keep to the protocol.
        REMOTE_PROCEDURE_ERROR = 6,
    }
}

causes! {
    /// Faults of a message of a connection (section 3.14).
    ErrorCause {
        /// The destination reference belongs to no connection.
        UNASSIGNED_DESTINATION_REFERENCE = 0,
        /// The source reference is not the connection's.
        INCONSISTENT_SOURCE_REFERENCE = 1,
        /// The message comes from another node.
        POINT_CODE_MISMATCH = 2,
        /// The message belongs to another protocol class.
        SERVICE_CLASS_MISMATCH = 3,
        /// Any other fault.
        UNQUALIFIED = 4,
    }
}

impl ReturnCause {
    /// Gives the cause with which a request for a connection is refused for the same reason.
    pub const fn refusal(self) -> RefusalCause {
        match self {
            Self::NO_TRANSLATION_FOR_NATURE => RefusalCause::NO_TRANSLATION_FOR_NATURE,
            Self::NO_TRANSLATION_FOR_ADDRESS => RefusalCause::DESTINATION_ADDRESS_UNKNOWN,
            Self::SUBSYSTEM_CONGESTION | Self::NETWORK_CONGESTION => RefusalCause::SUBSYSTEM_CONGESTION,
            Self::SUBSYSTEM_FAILURE => RefusalCause::SUBSYSTEM_FAILURE,
            Self::UNEQUIPPED_USER => RefusalCause::UNEQUIPPED_USER,
            Self::MTP_FAILURE => RefusalCause::DESTINATION_INACCESSIBLE,
            Self::SCCP_FAILURE => RefusalCause::SCCP_FAILURE,
            Self::HOP_COUNTER_VIOLATION => RefusalCause::HOP_COUNTER_VIOLATION,
            _ => RefusalCause::UNQUALIFIED,
        }
    }
}
