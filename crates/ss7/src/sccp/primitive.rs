//! The primitives between SCCP and its users (Q.711, sections 6.1 to 6.3).

use bytes::Bytes;

use crate::PointCode;
use crate::sccp::{PartyAddress, RefusalCause, ReleaseCause, ResetCause, ReturnCause, Ssn};

/// N-UNITDATA request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitdataRequest {
    /// Whom it is for.
    pub called: PartyAddress,
    /// Who asks; its subsystem number is the user's.
    pub calling: PartyAddress,
    /// Class 1, in sequence with others of the same number, or class 0.
    pub sequence: Option<u32>,
    /// Whether to return it on error.
    pub return_on_error: bool,
    /// Importance 0 to 7, where the network speaks of it; 4 if absent.
    pub importance: Option<u8>,
    /// User data, 1 to 3952 octets.
    pub data: Bytes,
}

/// N-CONNECT request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectRequest {
    /// Whom it is for.
    pub called: PartyAddress,
    /// Who asks; its subsystem number is the user's.
    pub calling: PartyAddress,
    /// With flow control and expedited data (class 3), or without (class 2).
    pub with_flow_control: bool,
    /// Importance 0 to 7; 2 if absent.
    pub importance: Option<u8>,
    /// User data that goes with the request, at most 130 octets.
    pub data: Bytes,
}

/// One connection of a node. Numbers are never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// What a user asks of its connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionRequest {
    /// N-CONNECT response: accept, with data of at most 130 octets.
    Accept(Bytes),
    /// N-DATA request.
    Data(Bytes),
    /// N-DISCONNECT request: refuse, or release; with data of at most 130 octets.
    Disconnect(Bytes),
    /// N-EXPEDITED-DATA request: 1 to 32 octets, class 3.
    ExpeditedData(Bytes),
    /// N-RESET request, class 3.
    Reset,
    /// N-RESET response.
    ResetResponse,
}

/// What SCCP tells a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Indication {
    /// A connection's queue has grown past half of its limit, or is down to a quarter: no more data should be given
    /// until then, or [`RequestError::QueueFull`] will answer it. A matter of this node and its user; the protocol does
    /// not know it.
    Congestion {
        /// Which connection.
        connection: ConnectionId,
        /// Whether there is congestion from now on.
        is_congested: bool,
    },
    /// N-CONNECT confirmation: the connection stands.
    ConnectConfirm {
        /// Which.
        connection: ConnectionId,
        /// The peer's data.
        data: Bytes,
    },
    /// N-CONNECT indication: somebody asks for a connection.
    Connect {
        /// Which it will be.
        connection: ConnectionId,
        /// Who is called.
        called: PartyAddress,
        /// Who asks, with the point code of the node if the address has none.
        calling: PartyAddress,
        /// Class 3, or class 2.
        with_flow_control: bool,
        /// The peer's data.
        data: Bytes,
    },
    /// N-COORD confirmation: the backup agrees, the subsystem may go.
    CoordConfirm {
        /// Which of this node's subsystems.
        ssn: Ssn,
    },
    /// N-COORD indication: the subsystem that this one backs up asks to go.
    Coord {
        /// Where it is.
        point_code: PointCode,
        /// Which.
        ssn: Ssn,
    },
    /// The backup has not answered an N-COORD request: the subsystem stays in service.
    CoordRefused {
        /// Which of this node's subsystems.
        ssn: Ssn,
    },
    /// N-DATA indication.
    Data {
        /// Which connection.
        connection: ConnectionId,
        /// What the peer sent.
        data: Bytes,
    },
    /// N-DISCONNECT indication: the connection has ended, or was never made.
    Disconnect {
        /// Which.
        connection: ConnectionId,
        /// Why.
        reason: DisconnectReason,
        /// The peer's data.
        data: Bytes,
    },
    /// N-EXPEDITED-DATA indication.
    ExpeditedData {
        /// Which connection.
        connection: ConnectionId,
        /// What the peer sent.
        data: Bytes,
    },
    /// N-NOTICE indication: a message has come back.
    Notice {
        /// Whom it was for.
        called: PartyAddress,
        /// Who sent it.
        calling: PartyAddress,
        /// Why it came back.
        cause: ReturnCause,
        /// As much of its data as came back.
        data: Bytes,
    },
    /// N-PCSTATE indication.
    PointCodeState {
        /// Which node.
        point_code: PointCode,
        /// Whether messages reach it.
        status: PointCodeStatus,
        /// SCCP there.
        remote_sccp: RemoteSccpStatus,
        /// Messages of less importance are held back.
        restricted_importance: u8,
    },
    /// N-RESET confirmation.
    ResetConfirm {
        /// Which connection.
        connection: ConnectionId,
    },
    /// N-RESET indication: data under way is lost; answer with a response.
    Reset {
        /// Which connection.
        connection: ConnectionId,
        /// Why.
        cause: ResetCause,
    },
    /// N-STATE indication: a subsystem has come or gone.
    SubsystemState {
        /// Where.
        point_code: PointCode,
        /// Which.
        ssn: Ssn,
        /// Whether it is in service.
        in_service: bool,
    },
    /// N-UNITDATA indication.
    Unitdata {
        /// Whom it is for.
        called: PartyAddress,
        /// Who sent it, with the point code of the node if the address has none.
        calling: PartyAddress,
        /// Whether it was sent in class 1.
        in_sequence: bool,
        /// User data.
        data: Bytes,
    },
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisconnectReason {
    /// It was refused.
    Refused(RefusalCause),
    /// It was released.
    Released(ReleaseCause),
}

/// Whether messages reach a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointCodeStatus {
    /// They do.
    Accessible,
    /// Some are held back.
    Congested,
    /// They do not.
    Inaccessible,
}

/// SCCP at another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RemoteSccpStatus {
    /// It answers.
    Available,
    /// It is there, and cannot be reached.
    Inaccessible,
    /// Nobody knows why it does not answer.
    Unavailable,
    /// There is none.
    Unequipped,
}

/// Why a request is not possible. Nothing has been done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// More data than the primitive allows.
    #[error("{octets} octets of user data are too many: at most {most}")]
    DataTooLong {
        /// What was given.
        octets: usize,
        /// What is allowed.
        most: usize,
    },
    /// No data where there must be some.
    #[error("there is no user data: give at least one octet")]
    NoData,
    /// The connection has ended, or never was.
    #[error("there is no connection {}", .0.0)]
    NoSuchConnection(ConnectionId),
    /// The calling address has no subsystem of this node.
    #[error("the calling address names no subsystem of this node")]
    NotAUser,
    /// As many connections as there may be.
    #[error("all connection references are in use or frozen: wait until some are free")]
    NoReference,
    /// The connection is not in a state for it, or not of class 3.
    #[error("the connection is not in a state for that request")]
    NotNow,
    /// As much as may wait for the window.
    #[error("the connection's queue is full: wait until the peer has taken some")]
    QueueFull,
    /// The node has been restarted and waits until old connections are forgotten.
    #[error("the node makes no connection until T(guard) has expired after its restart")]
    Restarting,
    /// There is no backup for a coordinated change.
    #[error("subsystem {} has no backup, so it cannot ask for a coordinated change", .0.0)]
    NoBackup(Ssn),
}
