//! Notifications of RFC 6458, section 6.1, laid out as Linux has them.

use std::net::SocketAddr;

use bytes::Bytes;

use crate::layout::Told;

/// Kinds of notifications, as the bits of a set of them: `SCTP_DATA_IO_EVENT` is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    AssocChange = 1,
    PeerAddrChange = 2,
    SendFailed = 3,
    RemoteError = 4,
    Shutdown = 5,
    PartialDelivery = 6,
    Adaptation = 7,
    Authentication = 8,
    SenderDry = 9,
    StreamReset = 10,
    AssocReset = 11,
    StreamChange = 12,
    SendFailedEvent = 13,
}

/// Number of the first kind.
pub(crate) const BASE: u16 = 1 << 15;
/// Number of kinds.
pub(crate) const KINDS: u16 = 14;

/// A set of kinds that a program is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds(u16);

impl Kinds {
    pub(crate) fn contains(self, kind: Kind) -> bool {
        self.has(kind as u16)
    }

    /// Tells if the kind of this number, counted from the first, is in the set.
    pub(crate) const fn has(self, number: u16) -> bool {
        self.0 & (1 << number) != 0
    }

    /// Puts the kind of this number into the set, or takes it out.
    pub(crate) fn set(&mut self, number: u16, is_on: bool) {
        if is_on {
            self.0 |= 1 << number;
        } else {
            self.0 &= !(1 << number);
        }
    }
}

/// State that `SCTP_ASSOC_CHANGE` tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    CommUp = 0,
    CommLost = 1,
    Restart = 2,
    ShutdownComplete = 3,
    CannotStart = 4,
}

/// State that `SCTP_PEER_ADDR_CHANGE` tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressState {
    Available = 0,
    Unreachable = 1,
    Removed = 2,
    Added = 3,
    MadePrimary = 4,
    PotentiallyFailed = 6,
}

fn begun(kind: Kind, flags: u16) -> Told {
    Told::default().u16(BASE + kind as u16).u16(flags).u32(0)
}

/// Writes the length into a notification.
fn finished(told: Told) -> Bytes {
    let mut bytes = told.0;
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    bytes[4..8].copy_from_slice(&length.to_le_bytes());
    bytes.into()
}

/// Writes a `struct sctp_assoc_change`.
pub(crate) fn assoc_change(
    change: Change,
    error: u16,
    streams: [u16; 2],
    association: i32,
    info: &[u8],
) -> Bytes {
    let [outbound, inbound] = streams;
    let told = begun(Kind::AssocChange, 0).u16(change as u16).u16(error).u16(outbound).u16(inbound);
    finished(told.i32(association).bytes(info))
}

/// Writes a `struct sctp_paddr_change`.
pub(crate) fn address_change(
    address: SocketAddr,
    state: AddressState,
    error: i32,
    association: i32,
) -> Bytes {
    let told = begun(Kind::PeerAddrChange, 0).storage(Some(address)).i32(state as i32);
    finished(told.i32(error).i32(association))
}

/// Message that has failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed<'a> {
    pub(crate) was_sent: bool,
    pub(crate) error: u32,
    pub(crate) stream: u16,
    pub(crate) flags: u16,
    pub(crate) payload_protocol: u32,
    pub(crate) context: u32,
    pub(crate) association: i32,
    pub(crate) data: &'a [u8],
}

/// Writes a `struct sctp_send_failed`.
pub(crate) fn send_failed(failed: Failed<'_>) -> Bytes {
    let told = begun(Kind::SendFailed, u16::from(failed.was_sent)).u32(failed.error);
    let told = told.u16(failed.stream).u16(0).u16(failed.flags).u16(0).u32(failed.payload_protocol);
    let told = told.u32(failed.context).u32(0).u32(0).u32(0).i32(failed.association);
    finished(told.i32(failed.association).bytes(failed.data))
}

/// Writes a `struct sctp_send_failed_event`.
pub(crate) fn send_failed_event(failed: Failed<'_>) -> Bytes {
    let told = begun(Kind::SendFailedEvent, u16::from(failed.was_sent)).u32(failed.error);
    let told = told.u16(failed.stream).u16(failed.flags).u32(failed.payload_protocol);
    let told = told.u32(failed.context).i32(failed.association);
    finished(told.i32(failed.association).bytes(failed.data))
}

/// Writes a `struct sctp_remote_error`.
pub(crate) fn remote_error(code: u16, association: i32, data: &[u8]) -> Bytes {
    let told = begun(Kind::RemoteError, 0).bytes(&code.to_be_bytes()).u16(0);
    finished(told.i32(association).bytes(data))
}

/// Writes a `struct sctp_shutdown_event`.
pub(crate) fn shutdown(association: i32) -> Bytes {
    finished(begun(Kind::Shutdown, 0).i32(association))
}

/// Writes a `struct sctp_adaptation_event`.
pub(crate) fn adaptation(code: u32, association: i32) -> Bytes {
    finished(begun(Kind::Adaptation, 0).u32(code).i32(association))
}

/// Writes a `struct sctp_pdapi_event`.
pub(crate) fn partial_delivery_aborted(stream: u16, sequence: u16, association: i32) -> Bytes {
    let told = begun(Kind::PartialDelivery, 0).u32(0).i32(association);
    finished(told.u32(stream.into()).u32(sequence.into()))
}

/// Meaning that a `struct sctp_authkey_event` tells (`auth_indication`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyChange {
    /// The peer has begun to use a key.
    New = 0,
    /// Nothing more is sent by a key that was taken out of use.
    Free = 1,
    /// The peer does not authenticate.
    NoAuthentication = 2,
}

/// Writes a `struct sctp_authkey_event`.
pub(crate) fn key_change(change: KeyChange, key: u16, association: i32) -> Bytes {
    finished(begun(Kind::Authentication, 0).u16(key).u16(0).u32(change as u32).i32(association))
}

/// Writes a `struct sctp_sender_dry_event`.
pub(crate) fn sender_dry(association: i32) -> Bytes {
    finished(begun(Kind::SenderDry, 0).i32(association))
}

/// Writes a `struct sctp_stream_reset_event`.
pub(crate) fn stream_reset(flags: u16, streams: &[u16], association: i32) -> Bytes {
    let told = begun(Kind::StreamReset, flags).i32(association);
    finished(streams.iter().fold(told, |told, stream| told.u16(*stream)))
}

/// Writes a `struct sctp_assoc_reset_event`.
pub(crate) fn assoc_reset(flags: u16, association: i32, tsns: [u32; 2]) -> Bytes {
    finished(begun(Kind::AssocReset, flags).i32(association).u32(tsns[0]).u32(tsns[1]))
}

/// Writes a `struct sctp_stream_change_event`.
pub(crate) fn stream_change(flags: u16, association: i32, inbound: u16, outbound: u16) -> Bytes {
    finished(begun(Kind::StreamChange, flags).i32(association).u16(inbound).u16(outbound))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_the_length_of_its_struct_and_says_so() {
        let failed = Failed {
            was_sent: true,
            error: 0,
            stream: 1,
            flags: 0,
            payload_protocol: 0,
            context: 5,
            association: 3,
            data: b"abc",
        };
        let at = "10.0.0.1:5".parse().unwrap();
        let notifications = [
            (assoc_change(Change::CommUp, 0, [10, 11], 3, b""), 0x8001, 20),
            (address_change(at, AddressState::Added, 0, 3), 0x8002, 148),
            (send_failed(failed), 0x8003, 48 + 3),
            (remote_error(0x0d, 3, b"x"), 0x8004, 16 + 1),
            (shutdown(3), 0x8005, 12),
            (partial_delivery_aborted(1, 2, 3), 0x8006, 24),
            (adaptation(9, 3), 0x8007, 16),
            (key_change(KeyChange::Free, 1, 3), 0x8008, 20),
            (sender_dry(3), 0x8009, 12),
            (stream_reset(1, &[1, 2], 3), 0x800a, 12 + 4),
            (assoc_reset(0, 3, [1, 2]), 0x800b, 20),
            (stream_change(0, 3, 1, 2), 0x800c, 16),
            (send_failed_event(failed), 0x800d, 32 + 3),
        ];
        for (bytes, kind, length) in notifications {
            let said = u32::from_le_bytes(bytes[4..8].try_into().unwrap());
            assert_eq!((u16::from_le_bytes([bytes[0], bytes[1]]), bytes.len()), (kind, length));
            assert_eq!(said as usize, length);
        }
    }
}
