//! The primitives between SCCP and its users (Q.711, sections 6.1 to 6.3).

use bytes::Bytes;

use crate::PointCode;
use crate::sccp::{PartyAddress, RefusalCause, ReleaseCause, ResetCause, ReturnCause, Ssn};

/// Parameters of the N-UNITDATA request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitdataRequest {
    /// Whom it is for.
    pub called: PartyAddress,
    /// Address of the one that asks; its subsystem number is the user's.
    pub calling: PartyAddress,
    /// Class 1, in sequence with others of the same number, or class 0.
    pub sequence: Option<u32>,
    /// True to return the message on error.
    pub return_on_error: bool,
    /// Importance 0 to 7, where the network speaks of it; 4 if absent.
    pub importance: Option<u8>,
    /// User data, 1 to 3952 octets.
    pub data: Bytes,
}

/// Parameters of the N-CONNECT request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectRequest {
    /// Whom it is for.
    pub called: PartyAddress,
    /// Address of the one that asks; its subsystem number is the user's.
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

/// Requests of a user on its connection.
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

/// Indications of SCCP to a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Indication {
    /// A connection's queue has grown past half of its limit, or is down to a quarter: no more data should be given
    /// until then, or [`RequestError::QueueFull`] will answer it. A matter of this node and its user; the protocol does
    /// not know it.
    Congestion {
        /// Connection whose queue it is.
        connection: ConnectionId,
        /// True if there is congestion from now on, false if it has ended.
        is_congested: bool,
    },
    /// N-CONNECT confirmation: the connection stands.
    ConnectConfirm {
        /// Connection that was asked for.
        connection: ConnectionId,
        /// The peer's data.
        data: Bytes,
    },
    /// N-CONNECT indication: somebody asks for a connection.
    Connect {
        /// Connection that it will be.
        connection: ConnectionId,
        /// Address that is called.
        called: PartyAddress,
        /// Address of the one that asks, with the point code of the node if the address has none.
        calling: PartyAddress,
        /// Class 3, or class 2.
        with_flow_control: bool,
        /// The peer's data.
        data: Bytes,
    },
    /// N-COORD confirmation: the backup agrees, the subsystem may go.
    CoordConfirm {
        /// Subsystem of this node that may go.
        ssn: Ssn,
    },
    /// N-COORD indication: the subsystem that this one backs up asks to go.
    Coord {
        /// Node at which the subsystem is.
        point_code: PointCode,
        /// Subsystem that asks to go.
        ssn: Ssn,
    },
    /// The backup has not answered an N-COORD request: the subsystem stays in service.
    CoordRefused {
        /// Subsystem of this node that stays.
        ssn: Ssn,
    },
    /// N-DATA indication.
    Data {
        /// Connection that the data came by.
        connection: ConnectionId,
        /// Data that the peer sent.
        data: Bytes,
    },
    /// N-DISCONNECT indication: the connection has ended, or was never made.
    Disconnect {
        /// Connection that has ended.
        connection: ConnectionId,
        /// Reason for which it ended.
        reason: DisconnectReason,
        /// The peer's data.
        data: Bytes,
    },
    /// N-EXPEDITED-DATA indication.
    ExpeditedData {
        /// Connection that the data came by.
        connection: ConnectionId,
        /// Data that the peer sent.
        data: Bytes,
    },
    /// N-NOTICE indication: a message has come back.
    Notice {
        /// Whom it was for.
        called: PartyAddress,
        /// Address of the sender.
        calling: PartyAddress,
        /// Why it came back.
        cause: ReturnCause,
        /// As much of its data as came back.
        data: Bytes,
    },
    /// N-PCSTATE indication.
    PointCodeState {
        /// Point code of the node.
        point_code: PointCode,
        /// Status of the node: whether messages reach it.
        status: PointCodeStatus,
        /// SCCP there.
        remote_sccp: RemoteSccpStatus,
        /// Messages of less importance are held back.
        restricted_importance: u8,
    },
    /// N-RESET confirmation.
    ResetConfirm {
        /// Connection that was reset.
        connection: ConnectionId,
    },
    /// N-RESET indication: data under way is lost; answer with a response.
    Reset {
        /// Connection that is reset.
        connection: ConnectionId,
        /// Cause of the reset.
        cause: ResetCause,
    },
    /// N-STATE indication: a subsystem has come or gone.
    SubsystemState {
        /// Node of the subsystem.
        point_code: PointCode,
        /// Subsystem that has come or gone.
        ssn: Ssn,
        /// True if the subsystem is in service.
        in_service: bool,
    },
    /// N-UNITDATA indication.
    Unitdata {
        /// Whom it is for.
        called: PartyAddress,
        /// Address of the sender, with the point code of the node if the address has none.
        calling: PartyAddress,
        /// True if the message was sent in class 1.
        in_sequence: bool,
        /// Data of the user.
        data: Bytes,
    },
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisconnectReason {
    /// Connection that was refused.
    Refused(RefusalCause),
    /// Connection that was released.
    Released(ReleaseCause),
}

/// Status of a node for messages to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointCodeStatus {
    /// Messages reach the node.
    Accessible,
    /// Some are held back.
    Congested,
    /// They do not.
    Inaccessible,
}

/// SCCP at another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RemoteSccpStatus {
    /// SCCP that answers.
    Available,
    /// SCCP that is there, and cannot be reached.
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
        /// Number of octets that was given.
        octets: usize,
        /// Number of octets that is allowed.
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
