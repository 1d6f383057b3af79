//! The primitives between Q.921 and its user (RFC 4233, section 1.5.1; Q.921, section 4).

use bytes::Bytes;
use slantpath_sigtran::common::MessageKind;

use crate::iua::{ReleaseReason, kind};

/// Requests of Q.931 to a data link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataLinkRequest {
    /// DL-DATA: a message, acknowledged.
    Data(Bytes),
    /// DL-ESTABLISH.
    Establish,
    /// DL-RELEASE.
    Release(ReleaseReason),
    /// DL-UNIT DATA: a message, not acknowledged.
    UnitData(Bytes),
}

/// Indications and confirmations of a data link to Q.931.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataLinkIndication {
    /// DL-DATA: a message came.
    Data(Bytes),
    /// DL-ESTABLISH confirm.
    Established,
    /// DL-ESTABLISH indication: the other end has established it.
    EstablishedByPeer,
    /// DL-RELEASE confirm.
    Released,
    /// DL-RELEASE indication.
    ReleasedByPeer(ReleaseReason),
    /// DL-UNIT DATA: a message came.
    UnitData(Bytes),
}

impl DataLinkRequest {
    pub(super) const fn kind(&self) -> MessageKind {
        match self {
            Self::Data(_) => kind::DATA_REQUEST,
            Self::Establish => kind::ESTABLISH_REQUEST,
            Self::Release(_) => kind::RELEASE_REQUEST,
            Self::UnitData(_) => kind::UNIT_DATA_REQUEST,
        }
    }
}

impl DataLinkIndication {
    pub(super) const fn kind(&self) -> MessageKind {
        match self {
            Self::Data(_) => kind::DATA_INDICATION,
            Self::Established => kind::ESTABLISH_CONFIRM,
            Self::EstablishedByPeer => kind::ESTABLISH_INDICATION,
            Self::Released => kind::RELEASE_CONFIRM,
            Self::ReleasedByPeer(_) => kind::RELEASE_INDICATION,
            Self::UnitData(_) => kind::UNIT_DATA_INDICATION,
        }
    }
}
