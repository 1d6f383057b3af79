//! Parts of a message put together again, for a layer above that takes messages whole.

use std::collections::BTreeMap;

use bytes::BytesMut;

use crate::event::{PartPlace, ReceivedMessage, ReceivedPart};
use crate::types::StreamId;

/// The messages that an association is delivering in parts: one, or where messages are interleaved, an ordered and an
/// unordered one of each stream.
#[derive(Clone, Debug)]
pub struct PartialMessage {
    limit: u64,
    /// Bytes of all that have been collected.
    collected_bytes: u64,
    messages: BTreeMap<(StreamId, bool), Parts>,
}

#[derive(Clone, Debug)]
enum Parts {
    /// Parts that have come.
    Collected(BytesMut),
    /// They were too many; the rest is thrown away.
    TooLong,
}

/// A message is longer than the layer above takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message is longer than {limit} bytes")]
pub struct MessageTooLong {
    /// The longest that is taken, in bytes.
    pub limit: u64,
}

impl PartialMessage {
    /// For messages of at most `limit` bytes, all that are delivered in parts at one time together: it is the peer that
    /// chooses how long they are, and how many.
    pub const fn new(limit: u64) -> Self {
        Self { limit, collected_bytes: 0, messages: BTreeMap::new() }
    }

    /// Takes the next part; gives the message that it ends. The error is given once for a message, all of which is
    /// thrown away.
    pub fn push(&mut self, part: ReceivedPart) -> Result<Option<ReceivedMessage>, MessageTooLong> {
        let ReceivedPart { stream, sequence, ppid, tsn, payload, is_unordered, place, ip } = part;
        if place == PartPlace::First {
            self.abort(stream, is_unordered);
            self.messages.insert((stream, is_unordered), Parts::Collected(BytesMut::new()));
        }
        let parts = self.messages.get_mut(&(stream, is_unordered));
        let Some(Parts::Collected(collected)) = parts else { return Ok(None) };
        if self.collected_bytes + payload.len() as u64 > self.limit {
            self.collected_bytes -= collected.len() as u64;
            self.messages.insert((stream, is_unordered), Parts::TooLong);
            return Err(MessageTooLong { limit: self.limit });
        }
        collected.extend_from_slice(&payload);
        self.collected_bytes += payload.len() as u64;
        if place != PartPlace::Last {
            return Ok(None);
        }
        let payload = core::mem::take(collected).freeze();
        self.collected_bytes -= payload.len() as u64;
        self.messages.remove(&(stream, is_unordered));
        Ok(Some(ReceivedMessage { stream, sequence, ppid, tsn, payload, is_unordered, ip }))
    }

    /// Throws away what there is of a message: [`Event::PartialDeliveryAborted`](crate::Event::PartialDeliveryAborted).
    pub fn abort(&mut self, stream: StreamId, is_unordered: bool) {
        if let Some(Parts::Collected(collected)) = self.messages.remove(&(stream, is_unordered)) {
            self.collected_bytes -= collected.len() as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Ppid, StreamId, StreamSequence, Tsn};
    use PartPlace::{First, Last, Middle};
    use slantpath_wire::ip::IpFields;

    fn part(place: PartPlace, payload: &'static [u8]) -> ReceivedPart {
        ReceivedPart {
            stream: StreamId(3),
            sequence: StreamSequence(7),
            ppid: Ppid(5),
            tsn: Tsn(9),
            payload: payload.into(),
            is_unordered: false,
            place,
            ip: IpFields::default(),
        }
    }

    #[test]
    fn parts_make_the_message_and_a_first_one_begins_anew() {
        let mut message = PartialMessage::new(6);
        assert_eq!(message.push(part(First, b"lost")), Ok(None));
        assert_eq!(message.push(part(First, b"ab")), Ok(None));
        assert_eq!(message.push(part(Middle, b"cd")), Ok(None));
        let ip = IpFields { hop_limit: 9, ..IpFields::default() };
        let last = ReceivedPart { ip, ..part(Last, b"ef") };
        let whole = message.push(last).unwrap().unwrap();
        assert_eq!((whole.payload, whole.ip), ("abcdef".into(), ip));
        assert_eq!((whole.stream, whole.sequence, whole.ppid), (StreamId(3), StreamSequence(7), Ppid(5)));
        assert_eq!(whole.tsn, Tsn(9));
    }

    #[test]
    fn messages_of_several_streams_are_told_apart_and_count_together() {
        let of_stream = |stream, part: ReceivedPart| ReceivedPart { stream: StreamId(stream), ..part };
        let mut messages = PartialMessage::new(6);
        assert_eq!(messages.push(of_stream(1, part(First, b"ab"))), Ok(None));
        assert_eq!(messages.push(of_stream(2, part(First, b"cd"))), Ok(None));
        let whole = messages.push(of_stream(1, part(Last, b"ef"))).unwrap().unwrap();
        assert_eq!((whole.stream, &whole.payload[..]), (StreamId(1), &b"abef"[..]));
        assert_eq!(messages.push(of_stream(1, part(First, b"ghi"))), Ok(None));
        messages.abort(StreamId(2), false);
        assert_eq!(messages.push(of_stream(3, part(First, b"jkl"))), Ok(None));
        assert_eq!(messages.push(of_stream(1, part(Middle, b"m"))), Err(MessageTooLong { limit: 6 }));
        assert_eq!(messages.push(of_stream(3, part(Last, b"nop"))).unwrap().unwrap().payload, "jklnop");
    }

    #[test]
    fn a_message_that_is_too_long_is_told_once_and_thrown_away_whole() {
        let mut message = PartialMessage::new(5);
        assert_eq!(message.push(part(First, b"abc")), Ok(None));
        assert_eq!(message.push(part(Middle, b"def")), Err(MessageTooLong { limit: 5 }));
        assert_eq!(message.push(part(Middle, b"g")), Ok(None));
        assert_eq!(message.push(part(Last, b"h")), Ok(None));
        assert_eq!(message.push(part(First, b"ab")), Ok(None));
        assert_eq!(message.push(part(Last, b"cde")).unwrap().unwrap().payload, "abcde");
    }
}
