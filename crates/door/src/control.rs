//! Control messages of SCTP as Linux lays them out (RFC 6458, section 5.3; `struct cmsghdr` on 64 bits).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use slantpath_requests::{self as requests, Errno, MessageInfo, SendInfo};

const IPPROTO_SCTP: i32 = 132;

// Types of messages.
const SCTP_INIT: i32 = 0;
const SCTP_SNDRCV: i32 = 1;
const SCTP_SNDINFO: i32 = 2;
const SCTP_RCVINFO: i32 = 3;
const SCTP_NXTINFO: i32 = 4;
const SCTP_PRINFO: i32 = 5;
const SCTP_AUTHINFO: i32 = 6;
const SCTP_DSTADDRV4: i32 = 7;
const SCTP_DSTADDRV6: i32 = 8;

/// Bits of `sinfo_flags` that say a policy of partial reliability.
const POLICY_MASK: u16 = 0x30;
const POLICY_TTL: u16 = 0x10;
/// Bits that a sender may set: `SCTP_UNORDERED`, `SCTP_ADDR_OVER`, `SCTP_ABORT`, `SCTP_SACK_IMMEDIATELY`,
/// `SCTP_SENDALL`, `SCTP_EOF`, and a policy.
const SENDER_FLAGS: u16 = 0x1 | 0x2 | 0x4 | 0x8 | 0x40 | 0x200 | POLICY_MASK;

/// Option that has a `struct sctp_sndinfo`, and its length.
const SCTP_DEFAULT_SNDINFO: i32 = 34;
const SNDINFO_LEN: usize = 16;

/// Length of `struct cmsghdr`.
const HEADER: usize = 16;

/// Control messages of one send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendControl {
    /// Options of the message (`SCTP_SNDRCV`, `SCTP_SNDINFO`).
    pub info: Option<SendInfo>,
    /// Policy of partial reliability and its value (`SCTP_PRINFO`).
    pub policy: Option<(u16, u32)>,
    /// Number of a key (`SCTP_AUTHINFO`).
    pub key: Option<u16>,
    /// Bytes of a `struct sctp_initmsg`, for an association that begins with this message (`SCTP_INIT`).
    pub init: Option<[u8; 8]>,
    /// More addresses of a peer with whom an association begins (`SCTP_DSTADDRV4`, `SCTP_DSTADDRV6`).
    pub addresses: Vec<IpAddr>,
}

impl SendControl {
    /// Reads the control messages of a send. Those of other levels are left alone.
    ///
    /// # Errors
    /// `EINVAL` as Linux has it: for a wrong length, an unknown type, or flags that no sender may set.
    pub fn read(mut bytes: &[u8]) -> Result<Self, Errno> {
        let mut read = Self::default();
        while bytes.len() >= HEADER {
            let len = usize::try_from(u64::from_ne_bytes(array(bytes, 0)?)).map_err(|_| Errno::EINVAL)?;
            if len < HEADER || len > bytes.len() {
                return Err(Errno::EINVAL);
            }
            let level = i32::from_ne_bytes(array(bytes, 8)?);
            if level == IPPROTO_SCTP {
                read.take(i32::from_ne_bytes(array(bytes, 12)?), &bytes[HEADER..len])?;
            }
            bytes = bytes.get(len.next_multiple_of(8)..).unwrap_or_default();
        }
        Ok(read)
    }

    /// Options of the message as a whole, where the message says all of them or the socket's defaults are at hand.
    pub fn whole(&self, defaults: impl FnOnce() -> SendInfo) -> Option<SendInfo> {
        if self.info.is_none() && self.policy.is_none() && self.key.is_none() {
            return None;
        }
        let mut info = self.info.unwrap_or_else(defaults);
        if let Some((policy, value)) = self.policy {
            (info.policy, info.policy_value) = (policy, value);
        }
        info.key = self.key.or(info.key);
        Some(info)
    }

    /// Request before the message, if an association is to begin with it as it says.
    pub fn beginning(&self, destination: Option<SocketAddr>) -> Option<requests::Request> {
        let first = destination.filter(|_| self.init.is_some() || !self.addresses.is_empty())?;
        let others = self.addresses.iter().map(|ip| SocketAddr::new(*ip, first.port()));
        Some(requests::Request::Begin {
            init: self.init,
            peers: std::iter::once(first).chain(others).collect(),
        })
    }

    /// True if options of the message are those of the socket but for some.
    pub const fn needs_defaults(&self) -> bool {
        self.info.is_none() && (self.policy.is_some() || self.key.is_some())
    }

    fn take(&mut self, kind: i32, data: &[u8]) -> Result<(), Errno> {
        match kind {
            SCTP_INIT => self.init = Some(whole(data)?),
            SCTP_SNDRCV => self.info = Some(sndrcv(&whole::<32>(data)?)?),
            SCTP_SNDINFO => self.info = Some(sndinfo(data)?),
            SCTP_PRINFO => {
                let data: [u8; 8] = whole(data)?;
                let policy = u16::from_ne_bytes(array(&data, 0)?);
                if policy & !POLICY_MASK != 0 {
                    return Err(Errno::EINVAL);
                }
                let value = if policy == 0 { 0 } else { u32::from_ne_bytes(array(&data, 4)?) };
                self.policy = Some((policy, value));
            }
            SCTP_AUTHINFO => self.key = Some(u16::from_ne_bytes(whole(data)?)),
            SCTP_DSTADDRV4 => self.addresses.push(Ipv4Addr::from(array::<4>(data, 0)?).into()),
            SCTP_DSTADDRV6 => self.addresses.push(Ipv6Addr::from(array::<16>(data, 0)?).into()),
            _ => return Err(Errno::EINVAL),
        }
        Ok(())
    }
}

/// Options of a `struct sctp_sndrcvinfo`.
///
/// # Errors
/// `EINVAL` for flags that no sender may set.
fn sndrcv(data: &[u8; 32]) -> Result<SendInfo, Errno> {
    let flags = u16::from_ne_bytes(array(data, 4)?);
    let value = u32::from_ne_bytes(array(data, 16)?);
    let (flags, policy) = split(flags)?;
    Ok(SendInfo {
        stream: u16::from_ne_bytes(array(data, 0)?),
        flags,
        payload_protocol: u32::from_ne_bytes(array(data, 8)?),
        context: u32::from_ne_bytes(array(data, 12)?),
        association: i32::from_ne_bytes(array(data, 28)?),
        // A time to live without a policy is one of the kind that came first.
        policy: if policy == 0 && value != 0 { POLICY_TTL } else { policy },
        policy_value: value,
        key: None,
    })
}

/// Question for the options that a socket has for messages that say none: [`sndinfo`] reads the reply's value.
pub fn defaults_question() -> requests::Request {
    let (level, name, value) = (IPPROTO_SCTP, SCTP_DEFAULT_SNDINFO, vec![0; SNDINFO_LEN]);
    requests::Request::GetOption { level, name, room: 16, value, waits: false }
}

/// Options of a `struct sctp_sndinfo`.
///
/// # Errors
/// `EINVAL` for another length, or flags that no sender may set.
pub fn sndinfo(data: &[u8]) -> Result<SendInfo, Errno> {
    let data: &[u8; SNDINFO_LEN] = data.try_into().map_err(|_| Errno::EINVAL)?;
    let (flags, policy) = split(u16::from_ne_bytes(array(data, 2)?))?;
    Ok(SendInfo {
        stream: u16::from_ne_bytes(array(data, 0)?),
        flags,
        payload_protocol: u32::from_ne_bytes(array(data, 4)?),
        context: u32::from_ne_bytes(array(data, 8)?),
        association: i32::from_ne_bytes(array(data, 12)?),
        policy,
        policy_value: 0,
        key: None,
    })
}

/// Flags of a message, and its policy.
fn split(flags: u16) -> Result<(u16, u16), Errno> {
    if flags & !SENDER_FLAGS == 0 {
        Ok((flags & !POLICY_MASK, flags & POLICY_MASK))
    } else {
        Err(Errno::EINVAL)
    }
}

/// State of the message behind (`struct sctp_nxtinfo`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NextInfo {
    /// Number of its stream.
    pub stream: u16,
    /// Flags: `SCTP_UNORDERED`, `SCTP_COMPLETE`, `SCTP_NOTIFICATION`.
    pub flags: u16,
    /// Payload protocol identifier.
    pub payload_protocol: u32,
    /// Length of what has come of it.
    pub length: u32,
    /// Association, as a one-to-many socket numbers it.
    pub association: i32,
}

/// Control messages that a program wants with what it receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// `SCTP_SNDRCV`, by `SCTP_EVENTS`.
    pub sndrcv: bool,
    /// `SCTP_RCVINFO`, by `SCTP_RECVRCVINFO`.
    pub rcvinfo: bool,
    /// `SCTP_NXTINFO`, by `SCTP_RECVNXTINFO`.
    pub nxtinfo: bool,
}

/// Control messages of one receive, in the place of the program.
#[derive(Debug)]
pub struct ControlOut<'a> {
    place: &'a mut [u8],
    len: usize,
    is_cut: bool,
}

impl<'a> ControlOut<'a> {
    /// Begins in the program's place.
    pub fn new(place: &'a mut [u8]) -> Self {
        Self { place, len: 0, is_cut: false }
    }

    /// Writes what a program wants of a message, and of the one behind it.
    pub fn put(&mut self, info: MessageInfo, next: Option<NextInfo>, wanted: Wanted) {
        if let Some(next) = next.filter(|_| wanted.nxtinfo) {
            self.put_one(SCTP_NXTINFO, &nxtinfo(next));
        }
        if wanted.rcvinfo {
            self.put_one(SCTP_RCVINFO, &rcvinfo(info));
        }
        if wanted.sndrcv {
            self.put_one(SCTP_SNDRCV, &received(info));
        }
    }

    /// Length of what was written, and true if something had no room (`MSG_CTRUNC`).
    pub fn done(self) -> (usize, bool) {
        (self.len, self.is_cut)
    }

    fn put_one(&mut self, kind: i32, data: &[u8]) {
        let place = &mut self.place[self.len..];
        if place.len() < HEADER {
            self.is_cut = true;
            return;
        }
        let len = HEADER + data.len();
        let taken = len.min(place.len());
        self.is_cut |= taken < len;
        place[..8].copy_from_slice(&(taken as u64).to_ne_bytes());
        place[8..12].copy_from_slice(&IPPROTO_SCTP.to_ne_bytes());
        place[12..HEADER].copy_from_slice(&kind.to_ne_bytes());
        place[HEADER..taken].copy_from_slice(&data[..taken - HEADER]);
        self.len += len.next_multiple_of(8).min(place.len());
    }
}

/// Bytes of a `struct sctp_rcvinfo`.
fn rcvinfo(info: MessageInfo) -> [u8; 28] {
    let mut bytes = [0; 28];
    bytes[0..2].copy_from_slice(&info.stream.to_ne_bytes());
    bytes[2..4].copy_from_slice(&info.ssn.to_ne_bytes());
    bytes[4..6].copy_from_slice(&info.flags.to_ne_bytes());
    let words = [
        info.payload_protocol,
        info.tsn,
        info.cumulative_tsn,
        info.context,
        info.association.cast_unsigned(),
    ];
    put_words(&mut bytes[8..], &words);
    bytes
}

/// Bytes of a `struct sctp_nxtinfo`.
fn nxtinfo(next: NextInfo) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[0..2].copy_from_slice(&next.stream.to_ne_bytes());
    bytes[2..4].copy_from_slice(&next.flags.to_ne_bytes());
    put_words(&mut bytes[4..], &[next.payload_protocol, next.length, next.association.cast_unsigned()]);
    bytes
}

/// Bytes of a `struct sctp_sndrcvinfo` of what has come.
fn received(info: MessageInfo) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[0..2].copy_from_slice(&info.stream.to_ne_bytes());
    bytes[2..4].copy_from_slice(&info.ssn.to_ne_bytes());
    bytes[4..6].copy_from_slice(&info.flags.to_ne_bytes());
    let association = info.association.cast_unsigned();
    let words = [info.payload_protocol, info.context, 0, info.tsn, info.cumulative_tsn, association];
    put_words(&mut bytes[8..], &words);
    bytes
}

fn put_words(place: &mut [u8], words: &[u32]) {
    for (bytes, word) in place.chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_ne_bytes());
    }
}

/// Bytes that are to have just this length.
fn whole<const N: usize>(data: &[u8]) -> Result<[u8; N], Errno> {
    data.try_into().map_err(|_| Errno::EINVAL)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Errno> {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().ok_or(Errno::EINVAL)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(level: i32, kind: i32, data: &[u8]) -> Vec<u8> {
        let mut bytes = ((HEADER + data.len()) as u64).to_ne_bytes().to_vec();
        bytes.extend(level.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = SendControl::read(&bytes);
        }

        #[test]
        fn messages_of_any_data_are_read(kind in -1..10, data in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = SendControl::read(&message(IPPROTO_SCTP, kind, &data));
            let read = SendControl::read(&message(1, kind, &data));
            prop_assert_eq!(read, Ok(SendControl::default()), "of another level");
        }

        #[test]
        fn any_room_is_kept(room in 0_usize..200, sndrcv: bool, rcvinfo: bool, has_next: bool) {
            let mut place = vec![0xAA; room];
            let mut out = ControlOut::new(&mut place);
            let wanted = Wanted { sndrcv, rcvinfo, nxtinfo: true };
            out.put(MessageInfo::default(), has_next.then(NextInfo::default), wanted);
            let (len, is_cut) = out.done();
            let all = usize::from(sndrcv) * 48 + usize::from(rcvinfo) * 48 + usize::from(has_next) * 32;
            prop_assert!(len <= room);
            prop_assert!(len <= room && (is_cut || len == all.min(room)));
            prop_assert!(!is_cut || room < all);
            prop_assert!(is_cut || room + 4 >= all, "the last one needs no room behind it");
        }
    }

    #[test]
    fn the_options_of_a_message_are_read() {
        let mut data = [0; 32];
        data[0] = 3;
        data[4] = 1;
        data[8..12].copy_from_slice(&46_u32.to_be_bytes());
        data[16] = 9;
        data[28] = 5;
        let both = [message(IPPROTO_SCTP, SCTP_SNDRCV, &data), message(IPPROTO_SCTP, SCTP_AUTHINFO, &[7, 0])]
            .concat();
        let read = SendControl::read(&both).unwrap();
        let info = read.whole(|| unreachable!("all are said")).unwrap();
        let expected = SendInfo {
            stream: 3,
            flags: 1,
            payload_protocol: u32::from_ne_bytes([0, 0, 0, 46]),
            association: 5,
            policy: POLICY_TTL,
            policy_value: 9,
            key: Some(7),
            ..SendInfo::default()
        };
        assert_eq!(info, expected);
    }

    #[test]
    fn a_policy_alone_keeps_the_defaults() {
        let read =
            SendControl::read(&message(IPPROTO_SCTP, SCTP_PRINFO, &[0x20, 0, 0, 0, 4, 0, 0, 0])).unwrap();
        let info = read.whole(|| SendInfo { stream: 8, ..SendInfo::default() }).unwrap();
        assert_eq!((info.stream, info.policy, info.policy_value), (8, 0x20, 4));
    }

    #[test]
    fn what_linux_refuses_is_refused() {
        for (kind, data) in [
            (SCTP_SNDRCV, &[0; 31][..]),
            (SCTP_SNDINFO, &[0; 17]),
            (SCTP_RCVINFO, &[0; 28]),
            (SCTP_PRINFO, &[1, 0, 0, 0, 0, 0, 0, 0]),
            (SCTP_AUTHINFO, &[0; 4]),
            (SCTP_DSTADDRV4, &[0; 3]),
            (SCTP_DSTADDRV6, &[0; 15]),
            (SCTP_INIT, &[0; 7]),
            (9, &[]),
            (SCTP_SNDINFO, &[0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ] {
            assert_eq!(SendControl::read(&message(IPPROTO_SCTP, kind, data)), Err(Errno::EINVAL), "{kind}");
        }
        let mut longer_than_all = message(IPPROTO_SCTP, SCTP_AUTHINFO, &[0; 2]);
        longer_than_all[0] = 40;
        assert_eq!(SendControl::read(&longer_than_all), Err(Errno::EINVAL));
    }

    #[test]
    fn a_message_without_room_is_cut_as_linux_cuts_it() {
        let mut place = [0; 60];
        let mut out = ControlOut::new(&mut place);
        let info = MessageInfo { stream: 2, tsn: 9, association: 1, ..MessageInfo::default() };
        out.put(info, None, Wanted { nxtinfo: false, sndrcv: true, rcvinfo: true });
        assert_eq!(out.done(), (48, true));
        assert_eq!(place[..8], 44_u64.to_ne_bytes());
        assert_eq!((place[12], place[16], place[28], place[40]), (3, 2, 9, 1));
    }
}
