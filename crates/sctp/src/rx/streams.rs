//! Order within each stream: messages wait here until their Stream Sequence Number is next.

use std::collections::BTreeMap;

use crate::event::ReceivedMessage;
use crate::types::{StreamId, StreamSequence};

/// A Stream Sequence Number that waits for delivery came under a second TSN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SequenceReused;

#[derive(Clone, Debug)]
struct InboundStream {
    next: StreamSequence,
    /// Counts what `next` counts, without wrapping, so that keys of `waiting` order.
    delivered: u64,
    waiting: BTreeMap<u64, ReceivedMessage>,
}

/// The inbound streams of an association.
#[derive(Clone, Debug)]
pub(crate) struct InboundStreams {
    count: u16,
    /// As many as have been used; an idle stream costs nothing.
    streams: Vec<InboundStream>,
}

impl InboundStreams {
    /// `count` streams, each expecting Stream Sequence Number 0.
    pub(crate) const fn new(count: u16) -> Self {
        Self { count, streams: Vec::new() }
    }

    /// Whether `stream` exists.
    pub(crate) const fn contains(&self, stream: StreamId) -> bool {
        stream.0 < self.count
    }

    /// Takes in a complete ordered message on an existing stream and passes on, in order, all that may be
    /// delivered.
    pub(crate) fn accept(
        &mut self,
        message: ReceivedMessage,
        mut deliver: impl FnMut(ReceivedMessage),
    ) -> Result<(), SequenceReused> {
        let index = usize::from(message.stream.0);
        if index >= self.streams.len() {
            let fresh = || InboundStream { next: StreamSequence(0), delivered: 0, waiting: BTreeMap::new() };
            self.streams.resize_with(index + 1, fresh);
        }
        let stream = &mut self.streams[index];
        let ahead = message.sequence.distance_from(stream.next);
        if ahead == 0 {
            stream.advance();
            deliver(message);
            while let Some(entry) = stream.waiting.first_entry()
                && *entry.key() == stream.delivered
            {
                deliver(entry.remove());
                stream.advance();
            }
            return Ok(());
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.6
        //# If DATA chunks arrive out of order of
        //# their Stream Sequence Number, the endpoint MUST hold the received
        //# DATA chunks from delivery to the ULP until they are reordered.
        // A sender may have 2^16 - 1 ordered messages of a stream in flight (section 6.1), so that whatever is
        // not next lies ahead, be it more than half the space.
        let key = stream.delivered + u64::from(ahead);
        match stream.waiting.insert(key, message) {
            None => Ok(()),
            Some(_) => Err(SequenceReused),
        }
    }
}

impl InboundStream {
    const fn advance(&mut self) {
        self.next = self.next.next();
        self.delivered += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Ppid;
    use bytes::Bytes;
    use proptest::prelude::*;

    fn message(stream: u16, number: u16) -> ReceivedMessage {
        ReceivedMessage {
            stream: StreamId(stream),
            sequence: StreamSequence(number),
            ppid: Ppid(0),
            payload: Bytes::copy_from_slice(&number.to_be_bytes()),
            is_unordered: false,
        }
    }

    fn accept(
        streams: &mut InboundStreams,
        stream: u16,
        number: u16,
    ) -> Result<Vec<ReceivedMessage>, SequenceReused> {
        let mut delivered = Vec::new();
        streams.accept(message(stream, number), |message| delivered.push(message))?;
        Ok(delivered)
    }

    #[test]
    fn one_stream_does_not_hold_up_another() {
        let mut streams = InboundStreams::new(2);
        assert_eq!(accept(&mut streams, 1, 1), Ok(vec![]));
        assert_eq!(accept(&mut streams, 0, 0), Ok(vec![message(0, 0)]));
        assert_eq!(accept(&mut streams, 1, 0), Ok(vec![message(1, 0), message(1, 1)]));
    }

    #[test]
    fn a_sequence_number_under_a_second_tsn_is_refused() {
        let mut streams = InboundStreams::new(1);
        accept(&mut streams, 0, 5).unwrap();
        assert_eq!(accept(&mut streams, 0, 5), Err(SequenceReused));
    }

    #[test]
    fn a_message_may_be_ahead_by_almost_the_whole_space() {
        let mut streams = InboundStreams::new(1);
        assert_eq!(accept(&mut streams, 0, 65_534), Ok(vec![]));
        for number in 0..65_533 {
            accept(&mut streams, 0, number).unwrap();
        }
        assert_eq!(accept(&mut streams, 0, 65_533), Ok(vec![message(0, 65_533), message(0, 65_534)]));
    }

    #[test]
    fn order_holds_when_sequence_numbers_wrap() {
        let mut streams = InboundStreams::new(1);
        for number in 0..65_535 {
            accept(&mut streams, 0, number).unwrap();
        }
        assert_eq!(accept(&mut streams, 0, 0), Ok(vec![]));
        assert_eq!(accept(&mut streams, 0, 65_535), Ok(vec![message(0, 65_535), message(0, 0)]));
    }

    proptest! {
        #[test]
        fn any_order_of_arrival_is_delivered_in_order(order in Just((0_u16..40).collect::<Vec<_>>()).prop_shuffle()) {
            let mut streams = InboundStreams::new(1);
            let mut delivered = Vec::new();
            for number in order {
                delivered.extend(accept(&mut streams, 0, number).unwrap());
            }
            prop_assert_eq!(delivered, (0..40).map(|number| message(0, number)).collect::<Vec<_>>());
        }
    }
}
