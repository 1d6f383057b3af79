//! Content of IUA's messages, as primitives.

use bytes::Bytes;
use slantpath_sigtran::common::MessageParseError;

use crate::interface::InterfaceIdentifier;
use crate::iua::{DataLinkIndication, DataLinkRequest, Dlci, IuaParameter, ReleaseReason, TeiStatus, kind};
use crate::message::OwnMessage;

/// The interface and the data link that a message is about; nothing if it names none.
pub(super) fn header(
    message: &OwnMessage<IuaParameter>,
) -> Result<Option<(InterfaceIdentifier, Dlci)>, MessageParseError> {
    let interface = InterfaceIdentifier::of_header(message.common())?;
    let dlci = message.own().find_map(|parameter| match parameter {
        IuaParameter::Dlci(dlci) => Some(*dlci),
        _ => None,
    });
    Ok(interface.zip(dlci))
}

fn data(message: &OwnMessage<IuaParameter>) -> Bytes {
    let data = message.own().find_map(|parameter| match parameter {
        IuaParameter::ProtocolData(data) => Some(data.clone()),
        _ => None,
    });
    data.unwrap_or_default()
}

fn reason(message: &OwnMessage<IuaParameter>) -> ReleaseReason {
    let reason = message.own().find_map(|parameter| match parameter {
        IuaParameter::ReleaseReason(reason) => Some(*reason),
        _ => None,
    });
    reason.unwrap_or(ReleaseReason::Other)
}

/// The status that a message tells, if it does.
pub(super) fn status(message: &OwnMessage<IuaParameter>) -> Option<TeiStatus> {
    message.own().find_map(|parameter| match parameter {
        IuaParameter::TeiStatus(status) => Some(*status),
        _ => None,
    })
}

/// The request that a message is; nothing if it is none, or has a reason that no request may have.
pub(super) fn request(message: &OwnMessage<IuaParameter>) -> Option<DataLinkRequest> {
    match message.kind {
        kind::DATA_REQUEST => Some(DataLinkRequest::Data(data(message))),
        kind::UNIT_DATA_REQUEST => Some(DataLinkRequest::UnitData(data(message))),
        kind::ESTABLISH_REQUEST => Some(DataLinkRequest::Establish),
        //= https://www.rfc-editor.org/rfc/rfc4233#section-3.3.1.2
        //# Note:  Only RELEASE_MGMT, RELEASE_DM, and RELEASE_OTHER are valid
        //# reason codes for a Release Request message.
        kind::RELEASE_REQUEST if reason(message) != ReleaseReason::Physical => {
            Some(DataLinkRequest::Release(reason(message)))
        }
        _ => None,
    }
}

/// The indication that a message is, if it is one.
pub(super) fn indication(message: &OwnMessage<IuaParameter>) -> Option<DataLinkIndication> {
    match message.kind {
        kind::DATA_INDICATION => Some(DataLinkIndication::Data(data(message))),
        kind::UNIT_DATA_INDICATION => Some(DataLinkIndication::UnitData(data(message))),
        kind::ESTABLISH_CONFIRM => Some(DataLinkIndication::Established),
        kind::ESTABLISH_INDICATION => Some(DataLinkIndication::EstablishedByPeer),
        kind::RELEASE_CONFIRM => Some(DataLinkIndication::Released),
        kind::RELEASE_INDICATION => Some(DataLinkIndication::ReleasedByPeer(reason(message))),
        _ => None,
    }
}

/// Adds what a request says to the message that names its data link.
pub(super) fn of_request(
    message: OwnMessage<IuaParameter>,
    request: DataLinkRequest,
) -> OwnMessage<IuaParameter> {
    match request {
        DataLinkRequest::Data(data) | DataLinkRequest::UnitData(data) => {
            message.with(IuaParameter::ProtocolData(data))
        }
        DataLinkRequest::Establish => message,
        DataLinkRequest::Release(reason) => message.with(IuaParameter::ReleaseReason(reason)),
    }
}

/// Adds what an indication says to the message that names its data link.
pub(super) fn of_indication(
    message: OwnMessage<IuaParameter>,
    indication: DataLinkIndication,
) -> OwnMessage<IuaParameter> {
    match indication {
        DataLinkIndication::Data(data) | DataLinkIndication::UnitData(data) => {
            message.with(IuaParameter::ProtocolData(data))
        }
        DataLinkIndication::Established
        | DataLinkIndication::EstablishedByPeer
        | DataLinkIndication::Released => message,
        DataLinkIndication::ReleasedByPeer(reason) => message.with(IuaParameter::ReleaseReason(reason)),
    }
}
