//! Known state of destinations, and the messages of network management that tell it (RFC 3868, sections 3.4 and 4.5).

use slantpath_sigtran::common::MessageKind;
use slantpath_ss7::PointCode;

use crate::message::{CommonParameter, OwnMessage};
use crate::sua::primitive::first;
use crate::sua::{SuaParameter, kind};

/// A destination: a point code, or a subsystem there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Destination {
    /// The signalling point.
    pub point_code: PointCode,
    /// The subsystem, where it is about one: N-STATE rather than N-PCSTATE.
    pub subsystem: Option<u8>,
}

/// Availability of a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Availability {
    /// DAVA.
    Available,
    /// DRST: better over another way.
    Restricted,
    /// DUNA.
    Unavailable,
}

impl Availability {
    const fn kind(self) -> MessageKind {
        match self {
            Self::Available => kind::DAVA,
            Self::Restricted => kind::DRST,
            Self::Unavailable => kind::DUNA,
        }
    }
}

/// A change at a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DestinationChange {
    /// The destination can be reached, better not, or not at all.
    Availability(Availability),
    /// SCON: MTP's congestion level 0 to 3, or a subsystem's restricted importance level 0 to 7.
    Congestion(u8),
    /// DUPU: there is no SCCP there.
    UserPartUnavailable {
        /// 0 unknown, 1 unequipped, 2 inaccessible.
        cause: u16,
        /// The service indicator of the SCCP, commonly 3.
        user: u16,
    },
}

/// The message that tells a change.
pub(super) fn to_message(
    destination: Destination,
    change: DestinationChange,
    contexts: Vec<u32>,
) -> OwnMessage<SuaParameter> {
    about_codes(vec![(0, destination.point_code)], destination.subsystem, change, contexts)
}

/// The message that tells a change of point codes with masks, or of a subsystem at each.
pub(super) fn about_codes(
    codes: Vec<(u8, PointCode)>,
    subsystem: Option<u8>,
    change: DestinationChange,
    contexts: Vec<u32>,
) -> OwnMessage<SuaParameter> {
    let (kind, own) = match change {
        DestinationChange::Availability(availability) => (availability.kind(), None),
        DestinationChange::Congestion(level) => {
            (kind::SCON, Some(SuaParameter::CongestionLevel(level.into())))
        }
        DestinationChange::UserPartUnavailable { cause, user } => {
            (kind::DUPU, Some(SuaParameter::UserCause { cause, user }))
        }
    };
    let mut message = OwnMessage::empty(kind);
    if !contexts.is_empty() {
        message = message.with_common(CommonParameter::RoutingContexts(contexts));
    }
    message = message.with_common(CommonParameter::AffectedPointCodes(codes));
    if let Some(subsystem) = subsystem {
        message = message.with(SuaParameter::Subsystem(subsystem));
    }
    match own {
        Some(own) => message.with(own),
        None => message,
    }
}

/// The audit of a destination.
pub(super) fn audit(destination: Destination, contexts: Vec<u32>) -> OwnMessage<SuaParameter> {
    let change = DestinationChange::Availability(Availability::Available);
    OwnMessage { kind: kind::DAUD, ..to_message(destination, change, contexts) }
}

/// Gives the subject of a message of network management: point codes with masks, and a subsystem.
pub(super) fn affected(message: &OwnMessage<SuaParameter>) -> (Vec<(u8, PointCode)>, Option<u8>) {
    let codes = message.common().find_map(|parameter| match parameter {
        CommonParameter::AffectedPointCodes(codes) => Some(codes.clone()),
        _ => None,
    });
    (codes.unwrap_or_default(), first!(message, SuaParameter::Subsystem).copied())
}

/// The change that a message tells; nothing for another message.
pub(super) fn change_of(message: &OwnMessage<SuaParameter>) -> Option<DestinationChange> {
    let availability = |availability| Some(DestinationChange::Availability(availability));
    match message.kind {
        kind::DUNA => availability(Availability::Unavailable),
        kind::DAVA => availability(Availability::Available),
        kind::DRST => availability(Availability::Restricted),
        kind::SCON => {
            let level = *first!(message, SuaParameter::CongestionLevel)?;
            Some(DestinationChange::Congestion(u8::try_from(level).unwrap_or(u8::MAX)))
        }
        kind::DUPU => message.own().find_map(|parameter| match parameter {
            SuaParameter::UserCause { cause, user } => {
                Some(DestinationChange::UserPartUnavailable { cause: *cause, user: *user })
            }
            _ => None,
        }),
        _ => None,
    }
}

/// Tells whether a point code is meant by one with a mask of low bits that may be anything.
pub(super) fn is_meant(code: PointCode, mask: u8, meant: PointCode) -> bool {
    let shift = u32::from(mask);
    code.0.checked_shr(shift) == meant.0.checked_shr(shift)
}
