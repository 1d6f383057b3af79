//! Pieces that cross the pair of a socket.

use std::net::SocketAddr;

use crate::address::{self, ADDRESS_LEN};
use crate::fields::{Fields, Malformed};

/// Length of the header in front of the bytes of a piece: one length for all, so that a door reads it beside the
/// program's own buffers.
pub const HEADER_LEN: usize = 80;
/// Most bytes of a message that one piece has; a longer one comes in several.
pub const PIECE_MAX: usize = 65_536;

/// Options with which a program sends a message (`struct sctp_sndrcvinfo`, `sctp_sndinfo`, `sctp_prinfo`,
/// `sctp_authinfo`), as Linux numbers them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendInfo {
    /// Number of its stream.
    pub stream: u16,
    /// Flags: `SCTP_UNORDERED` and the like.
    pub flags: u16,
    /// Payload protocol identifier, in the order of the program's bytes: it goes to the wire as it is.
    pub payload_protocol: u32,
    /// Context, which notifications about the message give back.
    pub context: u32,
    /// Association, as a one-to-many socket numbers it.
    pub association: i32,
    /// Policy of partial reliability (`SCTP_PR_SCTP_TTL` and the like), 0 for none.
    pub policy: u16,
    /// Value of that policy: milliseconds, retransmissions or a priority.
    pub policy_value: u32,
    /// Number of the key that authenticates it.
    pub key: Option<u16>,
}

/// Piece from the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FromProgram {
    /// Bytes of a message follow.
    Data {
        /// True if the message goes on in the next piece.
        is_more: bool,
        /// Options, or none where the socket's defaults hold.
        info: Option<SendInfo>,
        /// Peer to which it is sent.
        destination: Option<SocketAddr>,
    },
    /// A [`Request`](crate::Request) follows; the descriptor beside it takes the reply.
    Request,
    /// Mark that a process closes a descriptor of the socket in order, or ends in order. If all descriptors go and none
    /// was marked, the program was killed.
    Closing,
    /// Mark that a process has accepted the association of this socket: it waits in its listener's queue no longer.
    Accepted,
}

/// State of a message that has come (`struct sctp_sndrcvinfo`, `sctp_rcvinfo`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageInfo {
    /// Number of its stream.
    pub stream: u16,
    /// Stream sequence number.
    pub ssn: u16,
    /// Flags: `SCTP_UNORDERED`.
    pub flags: u16,
    /// Payload protocol identifier, as it was on the wire.
    pub payload_protocol: u32,
    /// TSN of its last chunk that came.
    pub tsn: u32,
    /// Cumulative TSN when it came.
    pub cumulative_tsn: u32,
    /// Context that the program has set for received messages.
    pub context: u32,
    /// Association, as a one-to-many socket numbers it.
    pub association: i32,
}

/// Piece to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToProgram {
    /// Bytes of a message follow.
    Data {
        /// True if the message ends with them (`MSG_EOR`).
        is_end: bool,
        /// State of the message.
        info: MessageInfo,
        /// Peer's address from which it came.
        source: SocketAddr,
    },
    /// Bytes of a notification follow, as Linux lays them out (`MSG_NOTIFICATION`).
    Notification {
        /// True if it ends with them.
        is_end: bool,
        /// Address of the peer whose association it is about.
        source: SocketAddr,
    },
    /// An association has been accepted: the descriptor beside it is its socket.
    Accepted {
        /// Address of its peer.
        peer: SocketAddr,
    },
}

const DATA: u8 = 0;
const REQUEST: u8 = 1;
const CLOSING: u8 = 2;
const NOTIFICATION: u8 = 3;
const ACCEPTED: u8 = 4;

// Bits of the second byte.
const ENDS: u8 = 1;
const HAS_INFO: u8 = 2;
const HAS_KEY: u8 = 4;

impl FromProgram {
    /// Header of the piece.
    pub fn header(&self) -> [u8; HEADER_LEN] {
        let mut bytes = Vec::with_capacity(HEADER_LEN);
        match *self {
            Self::Request => bytes.push(REQUEST),
            Self::Closing => bytes.push(CLOSING),
            Self::Accepted => bytes.push(ACCEPTED),
            Self::Data { is_more, info, destination } => {
                let own = info.unwrap_or_default();
                let has_key = own.key.map_or(0, |_| HAS_KEY);
                let bits = if is_more { 0 } else { ENDS } | info.map_or(0, |_| HAS_INFO) | has_key;
                bytes.extend([DATA, bits]);
                for number in [own.stream, own.flags, own.policy, own.key.unwrap_or_default()] {
                    bytes.extend(number.to_le_bytes());
                }
                let words =
                    [own.payload_protocol, own.context, own.association.cast_unsigned(), own.policy_value];
                for word in words {
                    bytes.extend(word.to_le_bytes());
                }
                address::put(destination, &mut bytes);
            }
        }
        filled(&bytes)
    }

    /// Reads the header of a piece; gives what follows it, too.
    ///
    /// # Errors
    /// If it is none.
    pub fn decode(piece: &[u8]) -> Result<(Self, &[u8]), Malformed> {
        const WHAT: &str = "a piece of a program";
        let (header, rest) = piece.split_at_checked(HEADER_LEN).ok_or(Malformed(WHAT))?;
        let mut fields = Fields(header);
        let kind = fields.u8(WHAT)?;
        let outgoing = match kind {
            DATA => {
                let bits = fields.u8(WHAT)?;
                let mut numbers = [0; 4];
                for number in &mut numbers {
                    *number = fields.u16(WHAT)?;
                }
                let mut words = [0; 4];
                for word in &mut words {
                    *word = fields.u32(WHAT)?;
                }
                let [stream, flags, policy, key] = numbers;
                let [payload_protocol, context, association, policy_value] = words;
                let info = SendInfo {
                    stream,
                    flags,
                    payload_protocol,
                    context,
                    association: association.cast_signed(),
                    policy,
                    policy_value,
                    key: Some(key).filter(|_| bits & HAS_KEY != 0),
                };
                let info = Some(info).filter(|_| bits & HAS_INFO != 0);
                Self::Data { is_more: bits & ENDS == 0, info, destination: address::get(&mut fields)? }
            }
            REQUEST => Self::Request,
            CLOSING => Self::Closing,
            ACCEPTED => Self::Accepted,
            _ => return Err(Malformed(WHAT)),
        };
        Ok((outgoing, rest))
    }
}

impl ToProgram {
    /// Header of the piece.
    pub fn header(&self) -> [u8; HEADER_LEN] {
        let mut bytes = Vec::with_capacity(HEADER_LEN);
        match *self {
            Self::Data { is_end, info, source } => {
                bytes.extend([DATA, if is_end { ENDS } else { 0 }]);
                for number in [info.stream, info.ssn, info.flags] {
                    bytes.extend(number.to_le_bytes());
                }
                let words = [
                    info.payload_protocol,
                    info.tsn,
                    info.cumulative_tsn,
                    info.context,
                    info.association.cast_unsigned(),
                ];
                for word in words {
                    bytes.extend(word.to_le_bytes());
                }
                address::put(Some(source), &mut bytes);
            }
            Self::Notification { is_end, source } => {
                bytes.extend([NOTIFICATION, u8::from(is_end)]);
                address::put(Some(source), &mut bytes);
            }
            Self::Accepted { peer } => {
                bytes.extend([ACCEPTED, 0]);
                address::put(Some(peer), &mut bytes);
            }
        }
        filled(&bytes)
    }

    /// Reads the header of a piece; gives what follows it, too.
    ///
    /// # Errors
    /// If it is none.
    pub fn decode(piece: &[u8]) -> Result<(Self, &[u8]), Malformed> {
        const WHAT: &str = "a piece of the daemon";
        let (header, rest) = piece.split_at_checked(HEADER_LEN).ok_or(Malformed(WHAT))?;
        let mut fields = Fields(header);
        let (kind, bits) = (fields.u8(WHAT)?, fields.u8(WHAT)?);
        let incoming = match kind {
            DATA => {
                let (stream, ssn, flags) = (fields.u16(WHAT)?, fields.u16(WHAT)?, fields.u16(WHAT)?);
                let (payload_protocol, tsn) = (fields.u32(WHAT)?, fields.u32(WHAT)?);
                let (cumulative_tsn, context) = (fields.u32(WHAT)?, fields.u32(WHAT)?);
                let association = fields.u32(WHAT)?.cast_signed();
                let info = MessageInfo {
                    stream,
                    ssn,
                    flags,
                    payload_protocol,
                    tsn,
                    cumulative_tsn,
                    context,
                    association,
                };
                let source = address::get(&mut fields)?.ok_or(Malformed(WHAT))?;
                Self::Data { is_end: bits & ENDS != 0, info, source }
            }
            NOTIFICATION => {
                let source = address::get(&mut fields)?.ok_or(Malformed(WHAT))?;
                Self::Notification { is_end: bits & ENDS != 0, source }
            }
            ACCEPTED => Self::Accepted { peer: address::get(&mut fields)?.ok_or(Malformed(WHAT))? },
            _ => return Err(Malformed(WHAT)),
        };
        Ok((incoming, rest))
    }
}

fn filled(bytes: &[u8]) -> [u8; HEADER_LEN] {
    let mut header = [0; HEADER_LEN];
    header[..bytes.len()].copy_from_slice(bytes);
    header
}

const _: () = assert!(
    2 + 4 * 2 + 4 * 4 + ADDRESS_LEN <= HEADER_LEN && 2 + 3 * 2 + 5 * 4 + ADDRESS_LEN <= HEADER_LEN,
    "the longest header fits"
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Errno, Family, Half, OpenRequest, Reply, Request, Style};

    fn any_address() -> impl Strategy<Value = SocketAddr> {
        prop_oneof![
            (any::<[u8; 4]>(), any::<u16>()).prop_map(|(octets, port)| (octets, port).into()),
            (any::<[u8; 16]>(), any::<u16>()).prop_map(|(octets, port)| (octets, port).into()),
        ]
    }

    fn any_info() -> impl Strategy<Value = SendInfo> {
        let numbers = (any::<[u16; 3]>(), any::<[u32; 3]>(), any::<i32>(), any::<Option<u16>>());
        numbers.prop_map(
            |([stream, flags, policy], [payload_protocol, context, policy_value], association, key)| {
                SendInfo { stream, flags, payload_protocol, context, association, policy, policy_value, key }
            },
        )
    }

    fn any_outgoing() -> impl Strategy<Value = FromProgram> {
        let data = (any::<bool>(), proptest::option::of(any_info()), proptest::option::of(any_address()));
        prop_oneof![
            data.prop_map(|(is_more, info, destination)| FromProgram::Data { is_more, info, destination }),
            Just(FromProgram::Request),
            Just(FromProgram::Closing),
            Just(FromProgram::Accepted),
        ]
    }

    fn any_incoming() -> impl Strategy<Value = ToProgram> {
        let info = (any::<[u16; 3]>(), any::<[u32; 4]>(), any::<i32>()).prop_map(
            |([stream, ssn, flags], [payload_protocol, tsn, cumulative_tsn, context], association)| {
                MessageInfo {
                    stream,
                    ssn,
                    flags,
                    payload_protocol,
                    tsn,
                    cumulative_tsn,
                    context,
                    association,
                }
            },
        );
        let data = (any::<bool>(), info, any_address());
        prop_oneof![
            data.prop_map(|(is_end, info, source)| ToProgram::Data { is_end, info, source }),
            (any::<bool>(), any_address())
                .prop_map(|(is_end, source)| ToProgram::Notification { is_end, source }),
            any_address().prop_map(|peer| ToProgram::Accepted { peer }),
        ]
    }

    fn any_request() -> impl Strategy<Value = Request> {
        let value = || proptest::collection::vec(any::<u8>(), 0..40);
        prop_oneof![
            any_address().prop_map(Request::Bind),
            (any_address(), any::<bool>()).prop_map(|(peer, waits)| Request::Connect { peer, waits }),
            any::<u32>().prop_map(|backlog| Request::Listen { backlog }),
            (any::<[i32; 2]>(), any::<u32>(), value(), any::<bool>()).prop_map(
                |([level, name], room, value, waits)| Request::GetOption { level, name, room, value, waits }
            ),
            (any::<[i32; 2]>(), value(), any::<bool>())
                .prop_map(|([level, name], value, waits)| Request::SetOption { level, name, value, waits }),
            Just(Request::LocalName),
            Just(Request::PeerName),
            prop_oneof![Just(Half::Read), Just(Half::Write), Just(Half::Both)].prop_map(Request::Shutdown),
            (any::<u16>(), any::<i32>(), any::<u32>(), proptest::option::of(any_address())).prop_map(
                |(stream, association, length, destination)| {
                    Request::MaySend { stream, association, length, destination }
                }
            ),
            any::<bool>().prop_map(|waits| Request::Ended { waits }),
            (any::<Option<[u8; 8]>>(), proptest::collection::vec(any_address(), 0..4))
                .prop_map(|(init, peers)| Request::Begin { init, peers }),
            (any::<i32>(), proptest::option::of(any_address()), any::<bool>()).prop_map(
                |(association, destination, is_for_all)| {
                    Request::MayEnd { association, destination, is_for_all }
                }
            ),
        ]
    }

    proptest! {
        #[test]
        fn a_piece_is_read_as_it_was_written(
            outgoing in any_outgoing(), incoming in any_incoming(), bytes in any::<Vec<u8>>(),
        ) {
            let piece: Vec<u8> = outgoing.header().into_iter().chain(bytes.iter().copied()).collect();
            prop_assert_eq!(FromProgram::decode(&piece), Ok((outgoing, &*bytes)));
            let piece: Vec<u8> = incoming.header().into_iter().chain(bytes.iter().copied()).collect();
            prop_assert_eq!(ToProgram::decode(&piece), Ok((incoming, &*bytes)));
        }

        #[test]
        fn requests_and_replies_are_read_as_they_were_written(
            request in any_request(), number in any::<i32>(), error in proptest::option::of(1_u16..200),
            address in proptest::option::of(any_address()), value in any::<Vec<u8>>(),
        ) {
            prop_assert_eq!(Request::decode(&request.encode()), Ok(request));
            let reply = Reply { error: error.map(Errno), number, address, value };
            prop_assert_eq!(Reply::decode(&reply.encode()), Ok(reply));
        }

        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (FromProgram::decode(&bytes), ToProgram::decode(&bytes), OpenRequest::decode(&bytes));
            if let Ok(request) = Request::decode(&bytes) {
                prop_assert_eq!(request.encode(), &*bytes);
            }
            if let Ok(reply) = Reply::decode(&bytes) {
                prop_assert_eq!(reply.encode(), &*bytes);
            }
        }
    }

    #[test]
    fn a_wish_for_a_socket_is_read_as_it_was_written() {
        for style in [Style::OneToOne, Style::OneToMany] {
            for family in [Family::V4, Family::V6] {
                let wish = OpenRequest { style, family };
                assert_eq!(OpenRequest::decode(&wish.encode()), Ok(wish));
            }
        }
        assert!(OpenRequest::decode(&[1, 0, 0]).is_err(), "of another version");
        assert!(OpenRequest::decode(&[2, 0, 0, 0]).is_err());
    }
}
