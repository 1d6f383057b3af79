//! The messages of M2PA: a header of their own, then User Data or a link status (RFC 4165, section 2).

use bytes::Bytes;
use slantpath_wire::{Reader, WireError};

use crate::m2pa::SequenceNumber;

/// M2PA's payload protocol identifier (RFC 4165, section 7.1).
pub const PAYLOAD_PROTOCOL: u32 = 5;

/// Octets before the data of a message: the common header and the one with the sequence numbers.
pub const HEADER_LEN: usize = 16;

/// Octets of the shortest MSU, from its service information octet on: in Q.703, section 2.3.3, the length indicator
/// of a message is greater than 2, and counts them.
pub const SHORTEST_MSU: usize = 3;

/// A message of M2PA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Backward sequence number: the last User Data that the sender has taken.
    pub bsn: SequenceNumber,
    /// Forward sequence number: of this User Data, or of the last one sent.
    pub fsn: SequenceNumber,
    /// Content of the message.
    pub body: Body,
}

/// Content of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// User Data without data: it only acknowledges.
    Acknowledgement,
    /// Link Status message.
    LinkStatus(LinkStatus),
    /// User Data with an MSU.
    UserData(UserData),
}

/// An MSU and its priority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserData {
    /// Used by the Japanese MTP only, 0 in all others.
    pub priority: Priority,
    /// From the service information octet on, at least [`SHORTEST_MSU`] octets.
    pub msu: Bytes,
}

/// The octet before an MSU: the priority of the Japanese MTP (JT-Q703) in its two high bits, and six bits that are
/// spare. What a peer has put there is kept: M2PA of other ages has a length there, and a message is written as it
/// was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(u8);

impl Priority {
    /// From 0 to 3, beside spare bits of 0.
    pub const fn new(priority: u8) -> Option<Self> {
        if priority < 4 { Some(Self(priority << 6)) } else { None }
    }

    /// Gives the priority, 0 to 3.
    pub const fn value(self) -> u8 {
        self.0 >> 6
    }

    /// The octet, spare bits included.
    pub const fn octet(self) -> u8 {
        self.0
    }
}

/// The state of a link as its end tells it (RFC 4165, section 2.3.2), in the order of their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkStatus {
    /// 1: alignment begins.
    Alignment,
    /// 2: proving, with a filler that may be empty.
    ProvingNormal(Bytes),
    /// 3: proving in an emergency, with a filler that may be empty.
    ProvingEmergency(Bytes),
    /// 4: proving is over, or the end of a processor outage has been understood.
    Ready,
    /// 5: level 3 cannot be served.
    ProcessorOutage,
    /// 6: it can again.
    ProcessorRecovered,
    /// 7: receive congestion.
    Busy,
    /// 8: it is over.
    BusyEnded,
    /// 9: out of service.
    OutOfService,
}

/// Why octets are no message of M2PA. Such a message is discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// A class other than 11.
    #[error("message class {0} is not 11")]
    Class(u8),
    /// The length in the header is not the message's.
    #[error("the header says {declared} octets, the message has {received}")]
    Length {
        /// Length according to the header.
        declared: u32,
        /// Length of the message that came.
        received: usize,
    },
    /// A link status that only proving may have is longer than its state.
    #[error("link status {state} has {excess} octets after its state, and only proving may have a filler")]
    StatusLength {
        /// The state's number.
        state: u32,
        /// Octets too many.
        excess: usize,
    },
    /// A link status that is not known.
    #[error("link status {0} is not known")]
    Status(u32),
    /// The headers or the link status are not whole.
    #[error("the message is cut short: {0}")]
    Truncated(#[from] WireError),
    /// A type other than User Data and Link Status.
    #[error("message type {0} is not supported")]
    Type(u8),
    /// User Data that cannot hold an MSU.
    #[error("an MSU of {0} octets is shorter than {SHORTEST_MSU}")]
    UserDataTooShort(usize),
    /// A version other than 1.
    #[error("version {0} is not 1")]
    Version(u8),
}

impl Message {
    /// Reads a whole message, without copying its data.
    pub fn parse(octets: &Bytes) -> Result<Self, MessageError> {
        let Some((header, data)) = octets.split_first_chunk::<HEADER_LEN>() else {
            return Err(WireError::Truncated { wanted: HEADER_LEN, left: octets.len() }.into());
        };
        //= https://www.rfc-editor.org/rfc/rfc4165#section-2.1.2
        //# The Spare field SHOULD be set to all zeroes (0's) by the sender and
        //# ignored by the receiver.
        let [version, _spare, class, kind, l0, l1, l2, l3, _, b0, b1, b2, _, f0, f1, f2] = *header;
        if version != VERSION {
            return Err(MessageError::Version(version));
        }
        if class != CLASS {
            return Err(MessageError::Class(class));
        }
        let declared = u32::from_be_bytes([l0, l1, l2, l3]);
        if usize::try_from(declared) != Ok(octets.len()) {
            return Err(MessageError::Length { declared, received: octets.len() });
        }
        let body = match kind {
            USER_DATA => match data {
                [] => Body::Acknowledgement,
                data if data.len() <= SHORTEST_MSU => {
                    return Err(MessageError::UserDataTooShort(data.len() - 1));
                }
                [first, ..] => {
                    let priority = Priority(*first);
                    Body::UserData(UserData { priority, msu: octets.slice(HEADER_LEN + 1..) })
                }
            },
            LINK_STATUS => Body::LinkStatus(parse_status(data, octets)?),
            _ => return Err(MessageError::Type(kind)),
        };
        let bsn = SequenceNumber::from_octets([b0, b1, b2]);
        let fsn = SequenceNumber::from_octets([f0, f1, f2]);
        Ok(Self { bsn, fsn, body })
    }

    /// Octets that [`Message::emit`] appends.
    pub fn emitted_len(&self) -> usize {
        HEADER_LEN
            + match &self.body {
                Body::Acknowledgement => 0,
                Body::LinkStatus(status) => STATE_LEN + status.filler().len(),
                Body::UserData(data) => 1 + data.msu.len(),
            }
    }

    /// Appends the message. One that was read comes back octet for octet, but for the three spare octets of its
    /// headers, which are 0.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.reserve(self.emitted_len());
        match &self.body {
            Body::Acknowledgement => out.extend_from_slice(&self.header(USER_DATA)),
            Body::LinkStatus(status) => {
                let mut start = [0; HEADER_LEN + STATE_LEN];
                start[..HEADER_LEN].copy_from_slice(&self.header(LINK_STATUS));
                start[HEADER_LEN..].copy_from_slice(&status.state().to_be_bytes());
                out.extend_from_slice(&start);
                out.extend_from_slice(status.filler());
            }
            //= https://www.rfc-editor.org/rfc/rfc4165#section-2.3.1
            //# M2PA SHALL NOT add padding to the MTP3 message.
            Body::UserData(UserData { priority, msu }) => {
                let mut start = [priority.octet(); HEADER_LEN + 1];
                start[..HEADER_LEN].copy_from_slice(&self.header(USER_DATA));
                out.extend_from_slice(&start);
                out.extend_from_slice(msu);
            }
        }
    }

    fn header(&self, kind: u8) -> [u8; HEADER_LEN] {
        let declared = u32::try_from(self.emitted_len()).expect("a message is shorter than 4 GiB");
        let [l0, l1, l2, l3] = declared.to_be_bytes();
        let [_, b0, b1, b2] = self.bsn.number().to_be_bytes();
        let [_, f0, f1, f2] = self.fsn.number().to_be_bytes();
        [VERSION, 0, CLASS, kind, l0, l1, l2, l3, 0, b0, b1, b2, 0, f0, f1, f2]
    }
}

/// `data` is what follows the headers of `octets`.
fn parse_status(data: &[u8], octets: &Bytes) -> Result<LinkStatus, MessageError> {
    let mut reader = Reader::new(data);
    let state = reader.u32()?;
    let filler = || octets.slice(HEADER_LEN + STATE_LEN..);
    let status = match state {
        1 => LinkStatus::Alignment,
        2 => return Ok(LinkStatus::ProvingNormal(filler())),
        3 => return Ok(LinkStatus::ProvingEmergency(filler())),
        4 => LinkStatus::Ready,
        5 => LinkStatus::ProcessorOutage,
        6 => LinkStatus::ProcessorRecovered,
        7 => LinkStatus::Busy,
        8 => LinkStatus::BusyEnded,
        9 => LinkStatus::OutOfService,
        _ => return Err(MessageError::Status(state)),
    };
    let excess = reader.left();
    if excess == 0 { Ok(status) } else { Err(MessageError::StatusLength { state, excess }) }
}

impl LinkStatus {
    /// The state's number on the wire.
    pub const fn state(&self) -> u32 {
        match self {
            Self::Alignment => 1,
            Self::ProvingNormal(_) => 2,
            Self::ProvingEmergency(_) => 3,
            Self::Ready => 4,
            Self::ProcessorOutage => 5,
            Self::ProcessorRecovered => 6,
            Self::Busy => 7,
            Self::BusyEnded => 8,
            Self::OutOfService => 9,
        }
    }

    fn filler(&self) -> &[u8] {
        match self {
            Self::ProvingNormal(filler) | Self::ProvingEmergency(filler) => filler,
            _ => &[],
        }
    }
}

const VERSION: u8 = 1;
const CLASS: u8 = 11;
const USER_DATA: u8 = 1;
const LINK_STATUS: u8 = 2;
const STATE_LEN: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn status(status: LinkStatus) -> Message {
        let none = SequenceNumber::BEFORE_FIRST;
        Message { bsn: none, fsn: none, body: Body::LinkStatus(status) }
    }

    fn emitted(message: &Message) -> Vec<u8> {
        let mut octets = Vec::new();
        message.emit(&mut octets);
        octets
    }

    fn parse(octets: &[u8]) -> Result<Message, MessageError> {
        Message::parse(&Bytes::copy_from_slice(octets))
    }

    #[test]
    fn alignment_is_20_octets() {
        let expected = [1, 0, 11, 2, 0, 0, 0, 20, 0, 255, 255, 255, 0, 255, 255, 255, 0, 0, 0, 1];
        assert_eq!(emitted(&status(LinkStatus::Alignment)), expected);
    }

    #[test]
    fn user_data_is_the_priority_and_the_msu() {
        let octets = [1, 9, 11, 1, 0, 0, 0, 20, 7, 0, 1, 2, 7, 3, 4, 5, 0x7f, 0x83, 1, 2];
        let message = parse(&octets).unwrap();
        assert_eq!((message.bsn.number(), message.fsn.number()), (0x0102, 0x0003_0405));
        let msu = Bytes::from_static(&[0x83, 1, 2]);
        assert_eq!(message.body, Body::UserData(UserData { priority: Priority(0x7f), msu }));
    }

    #[test]
    fn the_spare_bits_beside_a_priority_are_written_as_they_were_read() {
        for first in 0..=u8::MAX {
            let octets = [1, 0, 11, 1, 0, 0, 0, 20, 0, 0, 1, 2, 0, 3, 4, 5, first, 0x85, 1, 2];
            let message = parse(&octets).unwrap();
            assert_eq!(emitted(&message), octets);
            let Body::UserData(UserData { priority, .. }) = message.body else { panic!("an MSU") };
            assert_eq!((priority.value(), priority.octet()), (first / 64, first));
        }
        assert_eq!(Priority::new(2).map(Priority::octet), Some(0x80));
        assert_eq!(Priority::new(4), None);
    }

    #[test]
    fn every_fault_has_its_name() {
        let sound = emitted(&status(LinkStatus::Ready));
        let with = |at: usize, value: u8| {
            let mut octets = sound.clone();
            octets[at] = value;
            parse(&octets).unwrap_err()
        };
        assert_eq!(with(0, 2), MessageError::Version(2));
        assert_eq!(with(2, 12), MessageError::Class(12));
        assert_eq!(with(3, 4), MessageError::Type(4));
        assert_eq!(with(7, 24), MessageError::Length { declared: 24, received: 20 });
        assert_eq!(with(19, 10), MessageError::Status(10));
        let mut long = sound.clone();
        long.push(0);
        long[7] = 21;
        assert_eq!(parse(&long), Err(MessageError::StatusLength { state: 4, excess: 1 }));
        let short = [1, 0, 11, 1, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(parse(&short), Err(MessageError::UserDataTooShort(0)));
        assert!(matches!(parse(&sound[..7]), Err(MessageError::Truncated(_))));
    }

    fn any_status() -> impl Strategy<Value = LinkStatus> {
        let filler = || prop::collection::vec(any::<u8>(), 0..40).prop_map(Bytes::from);
        prop_oneof![
            Just(LinkStatus::Alignment),
            filler().prop_map(LinkStatus::ProvingNormal),
            filler().prop_map(LinkStatus::ProvingEmergency),
            Just(LinkStatus::Ready),
            Just(LinkStatus::ProcessorOutage),
            Just(LinkStatus::ProcessorRecovered),
            Just(LinkStatus::Busy),
            Just(LinkStatus::BusyEnded),
            Just(LinkStatus::OutOfService),
        ]
    }

    fn any_body() -> impl Strategy<Value = Body> {
        let data =
            (any::<u8>(), prop::collection::vec(any::<u8>(), SHORTEST_MSU..300)).prop_map(|(octet, msu)| {
                Body::UserData(UserData { priority: Priority(octet), msu: Bytes::from(msu) })
            });
        prop_oneof![Just(Body::Acknowledgement), any_status().prop_map(Body::LinkStatus), data]
    }

    proptest! {
        #[test]
        fn messages_round_trip(bsn in 0_u32..1 << 24, fsn in 0_u32..1 << 24, body in any_body()) {
            let number = |number| SequenceNumber::new(number).unwrap();
            let message = Message { bsn: number(bsn), fsn: number(fsn), body };
            let octets = emitted(&message);
            prop_assert_eq!(octets.len(), message.emitted_len());
            prop_assert_eq!(parse(&octets), Ok(message));
        }

        #[test]
        fn any_octets_give_a_message_or_an_error(octets: Vec<u8>) {
            let _ = parse(&octets);
        }

        #[test]
        fn a_damaged_message_gives_a_message_or_an_error(body in any_body(), at: prop::sample::Index, value: u8) {
            let none = SequenceNumber::BEFORE_FIRST;
            let mut octets = emitted(&Message { bsn: none, fsn: none, body });
            let at = at.index(octets.len());
            octets[at] = value;
            if let Ok(message) = parse(&octets) {
                // The spare octets of both headers.
                for at in [1, 8, 12] {
                    octets[at] = 0;
                }
                prop_assert_eq!(emitted(&message), octets);
            }
        }
    }
}
