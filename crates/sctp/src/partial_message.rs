//! Parts of a message put together again, for a layer above that takes messages whole.

use bytes::BytesMut;

use crate::event::{PartPlace, ReceivedMessage, ReceivedPart};

/// The message that an association is delivering in parts.
#[derive(Clone, Debug)]
pub struct PartialMessage {
    limit: u64,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// The parts that have come.
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
    /// For messages of at most `limit` bytes: it is the peer that chooses how long they are.
    pub fn new(limit: u64) -> Self {
        Self { limit, state: State::Collected(BytesMut::new()) }
    }

    /// Takes the next part; gives the message that it ends. The error is given once for a message, all of which is
    /// thrown away.
    pub fn push(&mut self, part: ReceivedPart) -> Result<Option<ReceivedMessage>, MessageTooLong> {
        let ReceivedPart { stream, sequence, ppid, payload, is_unordered, place } = part;
        if place == PartPlace::First {
            self.state = State::Collected(BytesMut::new());
        }
        let State::Collected(collected) = &mut self.state else { return Ok(None) };
        if (collected.len() + payload.len()) as u64 > self.limit {
            self.state = State::TooLong;
            return Err(MessageTooLong { limit: self.limit });
        }
        collected.extend_from_slice(&payload);
        Ok((place == PartPlace::Last).then(|| {
            let payload = core::mem::take(collected).freeze();
            ReceivedMessage { stream, sequence, ppid, payload, is_unordered }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Ppid, StreamId, StreamSequence};
    use PartPlace::{First, Last, Middle};

    fn part(place: PartPlace, payload: &'static [u8]) -> ReceivedPart {
        ReceivedPart {
            stream: StreamId(3),
            sequence: StreamSequence(7),
            ppid: Ppid(5),
            payload: payload.into(),
            is_unordered: false,
            place,
        }
    }

    #[test]
    fn parts_make_the_message_and_a_first_one_begins_anew() {
        let mut message = PartialMessage::new(6);
        assert_eq!(message.push(part(First, b"lost")), Ok(None));
        assert_eq!(message.push(part(First, b"ab")), Ok(None));
        assert_eq!(message.push(part(Middle, b"cd")), Ok(None));
        let whole = message.push(part(Last, b"ef")).unwrap().unwrap();
        assert_eq!(whole.payload, "abcdef");
        assert_eq!((whole.stream, whole.sequence, whole.ppid), (StreamId(3), StreamSequence(7), Ppid(5)));
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
