//! The chunks of an SCTP packet (RFC 9260, section 3.3).
//!
//! The enum stands above one file per chunk type. Everything that a chunk holds is owned, without a copy where
//! the packet's buffer is shared, so that a chunk may outlive the packet that brought it.

mod abort;
mod asconf;
mod auth;
mod cookie;
mod data;
mod ecn;
mod error;
mod forward_tsn;
pub(crate) mod framing;
mod heartbeat;
mod i_data;
mod i_forward_tsn;
mod init;
mod nr_sack;
mod pad;
mod re_config;
mod sack;
mod shutdown;

pub use abort::Abort;
pub use asconf::{AddressChange, Asconf, AsconfAck, AsconfRequest, AsconfResponse, AsconfSerial};
pub use auth::Auth;
pub use cookie::{CookieAck, CookieEcho};
pub use data::{Data, DataFlags};
pub use ecn::{Cwr, Ecne};
pub use error::Error;
pub use forward_tsn::{ForwardTsn, SkippedStream};
pub use framing::CHUNK_HEADER_LEN;
pub use heartbeat::{Heartbeat, HeartbeatAck};
pub use i_data::{FragmentPlace, IData};
pub use i_forward_tsn::{IForwardTsn, SkippedMessages};
pub use init::{Init, InitAck, InitFields};
pub use nr_sack::NrSack;
pub use pad::Pad;
pub use re_config::{NextTsns, ReConfig, ReconfigurationParameter, ReconfigurationResult, RequestSequence};
pub use sack::{GapAckBlock, Sack};
pub use shutdown::{Shutdown, ShutdownAck, ShutdownComplete};

use bytes::Bytes;
use slantpath_wire::WireError;

use crate::bytes_view::BytesView;
use crate::unknown::UnknownAction;

/// Chunk types (RFC 9260, table 1).
pub mod kind {
    /// DATA.
    pub const DATA: u8 = 0;
    /// INIT.
    pub const INIT: u8 = 1;
    /// INIT ACK.
    pub const INIT_ACK: u8 = 2;
    /// SACK.
    pub const SACK: u8 = 3;
    /// HEARTBEAT.
    pub const HEARTBEAT: u8 = 4;
    /// HEARTBEAT ACK.
    pub const HEARTBEAT_ACK: u8 = 5;
    /// ABORT.
    pub const ABORT: u8 = 6;
    /// SHUTDOWN.
    pub const SHUTDOWN: u8 = 7;
    /// SHUTDOWN ACK.
    pub const SHUTDOWN_ACK: u8 = 8;
    /// ERROR.
    pub const ERROR: u8 = 9;
    /// COOKIE ECHO.
    pub const COOKIE_ECHO: u8 = 10;
    /// COOKIE ACK.
    pub const COOKIE_ACK: u8 = 11;
    /// ECNE.
    pub const ECNE: u8 = 12;
    /// CWR.
    pub const CWR: u8 = 13;
    /// SHUTDOWN COMPLETE.
    pub const SHUTDOWN_COMPLETE: u8 = 14;
    /// NR-SACK (draft-natarajan-tsvwg-sctp-nrsack).
    pub const NR_SACK: u8 = 0x10;
    /// PAD (RFC 4820).
    pub const PAD: u8 = 0x84;
    /// AUTH (RFC 4895).
    pub const AUTH: u8 = 15;
    /// ASCONF-ACK (RFC 5061).
    pub const ASCONF_ACK: u8 = 128;
    /// RE-CONFIG (RFC 6525).
    pub const RE_CONFIG: u8 = 130;
    /// ASCONF (RFC 5061).
    pub const ASCONF: u8 = 193;
    /// FORWARD-TSN (RFC 3758).
    pub const FORWARD_TSN: u8 = 192;
    /// I-DATA (RFC 8260).
    pub const I_DATA: u8 = 64;
    /// I-FORWARD-TSN (RFC 8260).
    pub const I_FORWARD_TSN: u8 = 194;
}

/// Chunk of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// User data in DATA format.
    Data(Data),
    /// Asks for an association.
    Init(Init),
    /// Offers one, with a cookie.
    InitAck(InitAck),
    /// Acknowledges DATA chunks.
    Sack(Sack),
    /// Probes a path.
    Heartbeat(Heartbeat),
    /// Answers a HEARTBEAT.
    HeartbeatAck(HeartbeatAck),
    /// Ends the association at once.
    Abort(Abort),
    /// Ends it in order.
    Shutdown(Shutdown),
    /// Agrees to that.
    ShutdownAck(ShutdownAck),
    /// Reports what is wrong but not fatal.
    Error(Error),
    /// Brings the cookie back.
    CookieEcho(CookieEcho),
    /// Acknowledges the cookie.
    CookieAck(CookieAck),
    /// A packet was marked by the network (RFC 4960, appendix A).
    Ecne(Ecne),
    /// The window has been reduced for that.
    Cwr(Cwr),
    /// The last packet of an association.
    ShutdownComplete(ShutdownComplete),
    /// Makes its packet longer (RFC 4820).
    Pad(Pad),
    /// Acknowledges DATA chunks, and says which for good.
    NrSack(NrSack),
    /// Authenticates what follows it (RFC 4895).
    Auth(Auth),
    /// Changes the sender's addresses (RFC 5061).
    Asconf(Asconf),
    /// Answers an ASCONF (RFC 5061).
    AsconfAck(AsconfAck),
    /// Changes streams, or answers such a request (RFC 6525).
    ReConfig(ReConfig),
    /// A type that is not known here.
    Unknown {
        /// The chunk's type.
        kind: u8,
        /// Chunk flags of the header.
        flags: u8,
        /// Value of the chunk, without header and padding.
        value: Bytes,
    },
    /// Messages have been given up (RFC 3758).
    ForwardTsn(ForwardTsn),
    /// User data that may be interleaved (RFC 8260).
    IData(IData),
    /// Skips messages that have been given up, as FORWARD TSN does, where I-DATA is used (RFC 8260).
    IForwardTsn(IForwardTsn),
}

impl Chunk {
    /// The chunk's type.
    pub const fn kind(&self) -> u8 {
        match self {
            Self::Data(_) => kind::DATA,
            Self::Init(_) => kind::INIT,
            Self::InitAck(_) => kind::INIT_ACK,
            Self::Sack(_) => kind::SACK,
            Self::Heartbeat(_) => kind::HEARTBEAT,
            Self::HeartbeatAck(_) => kind::HEARTBEAT_ACK,
            Self::Abort(_) => kind::ABORT,
            Self::Shutdown(_) => kind::SHUTDOWN,
            Self::ShutdownAck(_) => kind::SHUTDOWN_ACK,
            Self::Error(_) => kind::ERROR,
            Self::CookieEcho(_) => kind::COOKIE_ECHO,
            Self::CookieAck(_) => kind::COOKIE_ACK,
            Self::Ecne(_) => kind::ECNE,
            Self::Cwr(_) => kind::CWR,
            Self::ShutdownComplete(_) => kind::SHUTDOWN_COMPLETE,
            Self::Pad(_) => kind::PAD,
            Self::NrSack(_) => kind::NR_SACK,
            Self::Auth(_) => kind::AUTH,
            Self::Asconf(_) => kind::ASCONF,
            Self::AsconfAck(_) => kind::ASCONF_ACK,
            Self::ReConfig(_) => kind::RE_CONFIG,
            Self::Unknown { kind, .. } => *kind,
            Self::ForwardTsn(_) => kind::FORWARD_TSN,
            Self::IData(_) => kind::I_DATA,
            Self::IForwardTsn(_) => kind::I_FORWARD_TSN,
        }
    }

    /// Action to take if the chunk is unknown; `None` for a known one.
    pub const fn unknown_action(&self) -> Option<UnknownAction> {
        match self {
            Self::Unknown { kind, .. } => Some(UnknownAction::of_chunk(*kind)),
            _ => None,
        }
    }

    /// Appends the chunk with header and padding.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Data(chunk) => chunk.write(out),
            Self::Init(chunk) => chunk.write(out),
            Self::InitAck(chunk) => chunk.write(out),
            Self::Sack(chunk) => chunk.write(out),
            Self::Heartbeat(chunk) => chunk.write(out),
            Self::HeartbeatAck(chunk) => chunk.write(out),
            Self::Abort(chunk) => chunk.write(out),
            Self::Shutdown(chunk) => chunk.write(out),
            Self::ShutdownAck(chunk) => chunk.write(out),
            Self::Error(chunk) => chunk.write(out),
            Self::CookieEcho(chunk) => chunk.write(out),
            Self::CookieAck(chunk) => chunk.write(out),
            Self::Ecne(chunk) => chunk.write(out),
            Self::Cwr(chunk) => chunk.write(out),
            Self::ShutdownComplete(chunk) => chunk.write(out),
            Self::Pad(chunk) => chunk.write(out),
            Self::NrSack(chunk) => chunk.write(out),
            Self::Auth(chunk) => chunk.write(out),
            Self::Asconf(chunk) => chunk.write(out),
            Self::AsconfAck(chunk) => chunk.write(out),
            Self::ReConfig(chunk) => chunk.write(out),
            Self::Unknown { kind, flags, value } => {
                framing::write(out, *kind, *flags, |out| out.extend_from_slice(value));
            }
            Self::ForwardTsn(chunk) => chunk.write(out),
            Self::IData(chunk) => chunk.write(out),
            Self::IForwardTsn(chunk) => chunk.write(out),
        }
    }

    /// The chunk with header, without padding, as an error report quotes it.
    pub fn to_bytes(&self) -> Bytes {
        let mut out = Vec::new();
        self.write(&mut out);
        let len = usize::from(u16::from_be_bytes([out[2], out[3]]));
        out.truncate(len);
        out.into()
    }

    /// Reads the value of a chunk whose header has been read.
    pub(crate) fn parse(kind: u8, flags: u8, value: BytesView<'_>) -> Result<Self, WireError> {
        Ok(match kind {
            kind::DATA => Self::Data(Data::parse(flags, value)?),
            kind::INIT => Self::Init(Init::parse(value)?),
            kind::INIT_ACK => Self::InitAck(InitAck::parse(value)?),
            kind::SACK => Self::Sack(Sack::parse(value)?),
            kind::HEARTBEAT => Self::Heartbeat(Heartbeat::parse(value)?),
            kind::HEARTBEAT_ACK => Self::HeartbeatAck(HeartbeatAck::parse(value)?),
            kind::ABORT => Self::Abort(Abort::parse(flags, value)?),
            kind::SHUTDOWN => Self::Shutdown(Shutdown::parse(value)?),
            kind::SHUTDOWN_ACK => Self::ShutdownAck(ShutdownAck),
            kind::ERROR => Self::Error(Error::parse(value)?),
            kind::COOKIE_ECHO => Self::CookieEcho(CookieEcho::parse(value)),
            kind::COOKIE_ACK => Self::CookieAck(CookieAck),
            kind::ECNE => Self::Ecne(Ecne::parse(value)?),
            kind::CWR => Self::Cwr(Cwr::parse(value)?),
            kind::SHUTDOWN_COMPLETE => Self::ShutdownComplete(ShutdownComplete::parse(flags)),
            kind::PAD => Self::Pad(Pad::parse(value)),
            kind::NR_SACK => Self::NrSack(NrSack::parse(value)?),
            kind::AUTH => Self::Auth(Auth::parse(value)?),
            kind::ASCONF => Self::Asconf(Asconf::parse(value)?),
            kind::ASCONF_ACK => Self::AsconfAck(AsconfAck::parse(value)?),
            kind::RE_CONFIG => Self::ReConfig(ReConfig::parse(value)?),
            kind::FORWARD_TSN => Self::ForwardTsn(ForwardTsn::parse(value)?),
            kind::I_DATA => Self::IData(IData::parse(flags, value)?),
            kind::I_FORWARD_TSN => Self::IForwardTsn(IForwardTsn::parse(value)?),
            kind => Self::Unknown { kind, flags, value: value.to_bytes() },
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;
