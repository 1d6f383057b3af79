//! Requests about a socket, and their replies.

use std::net::SocketAddr;

use crate::address;
use crate::errno::Errno;
use crate::fields::{Fields, Malformed};

/// Longest value of an option, in bytes; longer ones are refused as too long.
pub const OPTION_MAX: usize = 65_536;

/// Direction of an association that is closed (`shutdown`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// `SHUT_RD`: nothing more is received.
    Read,
    /// `SHUT_WR`: the association is shut down once all is delivered.
    Write,
    /// `SHUT_RDWR`: both.
    Both,
}

/// Request about a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// `bind`.
    Bind(SocketAddr),
    /// `connect`; the reply comes at once (`EINPROGRESS`), or when it is up or has failed.
    Connect {
        /// Address of the peer.
        peer: SocketAddr,
        /// True if the reply waits for the outcome.
        waits: bool,
    },
    /// `listen`.
    Listen {
        /// Number of associations that may be queued; zero: none may come any more.
        backlog: u32,
    },
    /// `getsockopt`: the reply has its value.
    GetOption {
        /// Level, as Linux numbers it.
        level: i32,
        /// Name, as Linux numbers it.
        name: i32,
        /// Length of the program's place for the value.
        room: u32,
        /// Bytes that are in that place, as far as they say what is asked for.
        value: Vec<u8>,
        /// True if a connect by this option (`SCTP_SOCKOPT_CONNECTX3`) waits for its outcome.
        waits: bool,
    },
    /// `setsockopt`.
    SetOption {
        /// Level, as Linux numbers it.
        level: i32,
        /// Name, as Linux numbers it.
        name: i32,
        /// Value of the option.
        value: Vec<u8>,
        /// True if a connect by this option (`SCTP_SOCKOPT_CONNECTX`) waits for its outcome.
        waits: bool,
    },
    /// `getsockname`: the reply has an address.
    LocalName,
    /// `getpeername`: the reply has an address.
    PeerName,
    /// `shutdown`.
    Shutdown(Half),
    /// Question before a message is sent on a stream, or to an address or association, that has not been seen to be
    /// possible: the reply has the number of streams of the association, 0 if none is known.
    MaySend {
        /// Stream of the message.
        stream: u16,
        /// Association of the message, as a one-to-many socket numbers it; 0: that of the address, or the only one.
        association: i32,
        /// Length of the message.
        length: u32,
        /// Peer that the message names, so that it may begin an association.
        destination: Option<SocketAddr>,
    },
    /// Question before a message that ends its association (`SCTP_EOF`, `SCTP_ABORT`).
    MayEnd {
        /// Association of the message, as a one-to-many socket numbers it.
        association: i32,
        /// Peer that the message names.
        destination: Option<SocketAddr>,
        /// True if it is for all associations (`SCTP_SENDALL`).
        is_for_all: bool,
    },
    /// Question of a receive that has found the end: the reply has the error that it gets, or none.
    Ended {
        /// True if the receive may wait.
        waits: bool,
    },
    /// Begins an association as a message says, unless there is one with the first of these peers.
    Begin {
        /// Bytes of a `struct sctp_initmsg` that holds for it alone (`SCTP_INIT`).
        init: Option<[u8; 8]>,
        /// Addresses of the peer (`SCTP_DSTADDRV4`, `SCTP_DSTADDRV6`), that of the message first.
        peers: Vec<SocketAddr>,
    },
}

impl Request {
    /// Bytes of the request.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(32);
        match self {
            Self::Bind(own) => {
                bytes.push(0);
                address::put(Some(*own), &mut bytes);
            }
            Self::Connect { peer, waits } => {
                bytes.extend([1, u8::from(*waits)]);
                address::put(Some(*peer), &mut bytes);
            }
            Self::Listen { backlog } => {
                bytes.push(2);
                bytes.extend(backlog.to_le_bytes());
            }
            Self::GetOption { level, name, room, value, waits } => {
                bytes.extend([3, u8::from(*waits)]);
                bytes.extend(level.to_le_bytes());
                bytes.extend(name.to_le_bytes());
                bytes.extend(room.to_le_bytes());
                bytes.extend_from_slice(value);
            }
            Self::SetOption { level, name, value, waits } => {
                bytes.extend([4, u8::from(*waits)]);
                bytes.extend(level.to_le_bytes());
                bytes.extend(name.to_le_bytes());
                bytes.extend_from_slice(value);
            }
            Self::LocalName => bytes.push(5),
            Self::PeerName => bytes.push(6),
            Self::Shutdown(half) => bytes.extend([7, *half as u8]),
            Self::MaySend { stream, association, length, destination } => {
                bytes.push(8);
                bytes.extend(stream.to_le_bytes());
                bytes.extend(association.to_le_bytes());
                bytes.extend(length.to_le_bytes());
                address::put(*destination, &mut bytes);
            }
            Self::MayEnd { association, destination, is_for_all } => {
                bytes.extend([11, u8::from(*is_for_all)]);
                bytes.extend(association.to_le_bytes());
                address::put(*destination, &mut bytes);
            }
            Self::Ended { waits } => bytes.extend([10, (*waits).into()]),
            Self::Begin { init, peers } => {
                bytes.extend([9, u8::from(init.is_some())]);
                bytes.extend(init.unwrap_or_default());
                for peer in peers {
                    address::put(Some(*peer), &mut bytes);
                }
            }
        }
        bytes
    }

    /// Reads one.
    ///
    /// # Errors
    /// If it is none.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        const WHAT: &str = "a request";
        let mut fields = Fields(bytes);
        let request = match fields.u8(WHAT)? {
            0 => Self::Bind(address::get(&mut fields)?.ok_or(Malformed(WHAT))?),
            1 => {
                let waits = truth(&mut fields)?;
                Self::Connect { peer: address::get(&mut fields)?.ok_or(Malformed(WHAT))?, waits }
            }
            2 => Self::Listen { backlog: fields.u32(WHAT)? },
            3 => {
                let waits = truth(&mut fields)?;
                let (level, name) = (fields.u32(WHAT)?.cast_signed(), fields.u32(WHAT)?.cast_signed());
                Self::GetOption { level, name, room: fields.u32(WHAT)?, value: rest(&mut fields)?, waits }
            }
            4 => {
                let waits = truth(&mut fields)?;
                let (level, name) = (fields.u32(WHAT)?.cast_signed(), fields.u32(WHAT)?.cast_signed());
                Self::SetOption { level, name, value: rest(&mut fields)?, waits }
            }
            5 => Self::LocalName,
            6 => Self::PeerName,
            7 => Self::Shutdown(match fields.u8(WHAT)? {
                0 => Half::Read,
                1 => Half::Write,
                2 => Half::Both,
                _ => return Err(Malformed(WHAT)),
            }),
            8 => Self::MaySend {
                stream: fields.u16(WHAT)?,
                association: fields.u32(WHAT)?.cast_signed(),
                length: fields.u32(WHAT)?,
                destination: address::get(&mut fields)?,
            },
            11 => {
                let is_for_all = truth(&mut fields)?;
                let association = fields.u32(WHAT)?.cast_signed();
                Self::MayEnd { association, destination: address::get(&mut fields)?, is_for_all }
            }
            10 => Self::Ended { waits: truth(&mut fields)? },
            9 => {
                let (has_init, init) = (truth(&mut fields)?, fields.array(WHAT)?);
                let mut peers = Vec::new();
                while !fields.0.is_empty() {
                    peers.push(address::get(&mut fields)?.ok_or(Malformed(WHAT))?);
                }
                if !has_init && init != [0; 8] {
                    return Err(Malformed(WHAT));
                }
                Self::Begin { init: has_init.then_some(init), peers }
            }
            _ => return Err(Malformed(WHAT)),
        };
        fields.end(WHAT)?;
        Ok(request)
    }
}

fn truth(fields: &mut Fields<'_>) -> Result<bool, Malformed> {
    match fields.u8("a truth")? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Malformed("a truth")),
    }
}

fn rest(fields: &mut Fields<'_>) -> Result<Vec<u8>, Malformed> {
    if fields.0.len() > OPTION_MAX {
        return Err(Malformed("the value of an option"));
    }
    Ok(std::mem::take(&mut fields.0).to_vec())
}

/// Answer to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Error, if it has failed. A failed one may have a value all the same (`connectx`).
    pub error: Option<Errno>,
    /// Number that the call gives back if it has not failed: 0, or what the option says.
    pub number: i32,
    /// Address that was asked for.
    pub address: Option<SocketAddr>,
    /// Value that was asked for. For peeling off, the descriptor beside the reply takes the place of its number.
    pub value: Vec<u8>,
}

impl Reply {
    /// Reply to what has failed.
    pub fn failed(error: Errno) -> Self {
        Self { error: Some(error), ..Self::default() }
    }

    /// Bytes of the reply.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(30 + self.value.len());
        bytes.extend(self.error.map_or(0, |error| error.0).to_le_bytes());
        bytes.extend(self.number.to_le_bytes());
        address::put(self.address, &mut bytes);
        bytes.extend_from_slice(&self.value);
        bytes
    }

    /// Reads one.
    ///
    /// # Errors
    /// If it is none.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        const WHAT: &str = "a reply";
        let mut fields = Fields(bytes);
        let error = Some(fields.u16(WHAT)?).filter(|number| *number != 0).map(Errno);
        let number = fields.u32(WHAT)?.cast_signed();
        let address = address::get(&mut fields)?;
        Ok(Self { error, number, address, value: rest(&mut fields)? })
    }
}
