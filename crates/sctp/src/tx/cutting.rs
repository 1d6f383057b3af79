//! A message is cut into chunks, and each message of a stream is numbered.

use bytes::Bytes;

use crate::chunk::{Data, DataFlags, FragmentPlace};
use crate::event::Message;
use crate::reliability::Reliability;
use crate::types::{FragmentSequence, MessageId, StreamId, StreamSequence, Tsn};

/// A chunk that has just been cut, and what belongs to it but does not go on the wire.
#[derive(Debug)]
pub(crate) struct Cut {
    pub(crate) data: Data,
    pub(crate) context: u64,
    /// With the last of several fragments: the message as it was given, in case that it fails.
    pub(crate) whole: Option<Bytes>,
    /// Position of the fragment, which only I-DATA has.
    pub(super) place: FragmentPlace,
    /// If the message may be given up: which it is of all that were handed over.
    pub(super) perishable: Option<u64>,
}

/// A message some of whose fragments have been cut.
#[derive(Clone, Debug)]
pub(super) struct InProgress {
    message: Message,
    message_id: MessageId,
    arrival: u64,
    offset: usize,
    fragments: u32,
}

/// The next number of each stream, as far as they have been used.
#[derive(Clone, Debug)]
pub(super) enum MessageNumbers {
    /// The Stream Sequence Numbers of DATA.
    Sequences(Vec<StreamSequence>),
    /// The Message Identifiers of I-DATA: of ordered and of unordered messages.
    Identifiers(Vec<[MessageId; 2]>),
}

impl MessageNumbers {
    /// Number that the next ordered message of a stream will have, of an identifier its last 16 bits.
    pub(super) fn peek(&self, stream: StreamId) -> StreamSequence {
        let place = usize::from(stream.0);
        match self {
            Self::Sequences(next) => next.get(place).copied().unwrap_or(StreamSequence(0)),
            Self::Identifiers(next) => {
                next.get(place).map_or(StreamSequence(0), |[ordered, _]| ordered.stream_sequence())
            }
        }
    }

    /// The number of the next message of a stream. That of DATA has 16 bits.
    #[inline]
    pub(super) fn next(&mut self, stream: StreamId, is_unordered: bool) -> MessageId {
        match self {
            Self::Sequences(sequences) => MessageId(next_sequence(sequences, stream, is_unordered).0.into()),
            Self::Identifiers(identifiers) => next_identifier(identifiers, stream, is_unordered),
        }
    }
}

impl MessageNumbers {
    /// Tells if the next message of each of some streams has number 0.
    pub(super) fn begin_anew(&self, is_meant: impl Fn(StreamId) -> bool) -> bool {
        let streams = (0_u16..).map(StreamId);
        match self {
            Self::Sequences(next) => streams.zip(next).all(|(stream, next)| next.0 == 0 || !is_meant(stream)),
            Self::Identifiers(next) => {
                let mut streams = streams.zip(next);
                streams.all(|(stream, next)| *next == [MessageId(0); 2] || !is_meant(stream))
            }
        }
    }

    /// The next message of each of some streams has number 0.
    pub(super) fn reset(&mut self, is_meant: impl Fn(StreamId) -> bool) {
        let streams = (0_u16..).map(StreamId);
        match self {
            Self::Sequences(all) => {
                for (_, next) in streams.zip(all).filter(|(stream, _)| is_meant(*stream)) {
                    *next = StreamSequence(0);
                }
            }
            Self::Identifiers(all) => {
                for (_, next) in streams.zip(all).filter(|(stream, _)| is_meant(*stream)) {
                    *next = [MessageId(0); 2];
                }
            }
        }
    }
}

/// The Stream Sequence Number of the next message of a stream.
#[inline]
pub(super) fn next_sequence(
    sequences: &mut Vec<StreamSequence>,
    stream: StreamId,
    is_unordered: bool,
) -> StreamSequence {
    let index = usize::from(stream.0);
    if index >= sequences.len() {
        sequences.resize(index + 1, StreamSequence(0));
    }
    let sequence = sequences[index];
    //= https://www.rfc-editor.org/rfc/rfc9260#section-6.5
    //# For unordered user
    //# messages, the Stream Sequence Number MUST NOT be changed.
    if !is_unordered {
        sequences[index] = sequence.next();
    }
    sequence
}

fn next_identifier(identifiers: &mut Vec<[MessageId; 2]>, stream: StreamId, is_unordered: bool) -> MessageId {
    let index = usize::from(stream.0);
    if index >= identifiers.len() {
        identifiers.resize(index + 1, [MessageId(0); 2]);
    }
    //= https://www.rfc-editor.org/rfc/rfc8260#section-2.1
    //# The sender uses two counters for
    //# each outgoing stream: one for ordered messages and one for
    //# unordered messages.
    let next = &mut identifiers[index][usize::from(is_unordered)];
    let identifier = *next;
    *next = identifier.next();
    identifier
}

impl InProgress {
    /// A message of which nothing has been cut.
    pub(super) fn begin(message: Message, arrival: u64, numbers: &mut MessageNumbers) -> Self {
        let message_id = numbers.next(message.stream, message.is_unordered);
        Self { message, message_id, arrival, offset: 0, fragments: 0 }
    }

    pub(super) const fn stream(&self) -> StreamId {
        self.message.stream
    }

    pub(super) const fn arrival(&self) -> u64 {
        self.arrival
    }

    pub(super) const fn set_arrival(&mut self, arrival: u64) {
        self.arrival = arrival;
    }

    /// Number of bytes that have not been cut.
    pub(super) const fn rest(&self) -> usize {
        self.message.payload.len() - self.offset
    }

    /// Message that is being cut.
    pub(super) const fn message(&self) -> &Message {
        &self.message
    }

    pub(super) fn into_message(self) -> Message {
        self.message
    }

    /// Cuts the next fragment, of at most `max_payload` bytes of payload, and numbers it `tsn`. The one with the E bit
    /// is the last.
    pub(super) fn cut(&mut self, max_payload: usize, tsn: Tsn) -> Cut {
        let len = self.message.payload.len();
        let start = self.offset;
        let end = len.min(start + max_payload);
        self.offset = end;
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.9
        //# 3)  The transmitter MUST also set the B/E bits of the first DATA
        //# chunk in the series to 10, the B/E bits of the last DATA chunk in
        //# the series to 01, and the B/E bits of all other DATA chunks in
        //# the series to 00.
        let mut flags = if end == len {
            last_flags(&self.message).with(DataFlags::ENDING)
        } else {
            unordered_flag(self.message.is_unordered)
        };
        if start == 0 {
            flags = flags.with(DataFlags::BEGINNING);
        }
        let payload = self.message.payload.slice(start..end);
        let is_last_of_several = end == len && start > 0;
        let whole = is_last_of_several.then(|| self.message.payload.clone());
        self.chunk(flags, tsn, payload, whole)
    }

    /// Gives the rest up: the last fragment, without payload, and how many bytes it had.
    pub(super) fn drop_rest(&mut self, tsn: Tsn) -> (Cut, usize) {
        let rest = self.rest();
        self.offset = self.message.payload.len();
        let flags = unordered_flag(self.message.is_unordered).with(DataFlags::ENDING);
        (self.chunk(flags, tsn, Bytes::new(), None), rest)
    }

    fn chunk(&mut self, flags: DataFlags, tsn: Tsn, payload: Bytes, whole: Option<Bytes>) -> Cut {
        let fragment = FragmentSequence(self.fragments);
        self.fragments = self.fragments.wrapping_add(1);
        let Message { stream, ppid, context, ref options, .. } = self.message;
        let reliability = options.as_ref().map_or(Reliability::Full, |options| options.reliability);
        Cut {
            data: Data { flags, tsn, stream, sequence: self.message_id.stream_sequence(), ppid, payload },
            context,
            whole,
            place: FragmentPlace { message_id: self.message_id, fragment },
            perishable: (reliability != Reliability::Full).then_some(self.arrival),
        }
    }
}

/// The flags of a message's last chunk, but for its place in the message.
#[inline]
pub(super) fn last_flags(message: &Message) -> DataFlags {
    let flags = unordered_flag(message.is_unordered);
    //= https://www.rfc-editor.org/rfc/rfc7053#section-5.1
    //# The application requests to set the I bit of the last DATA chunk
    //# of a user message when providing the user message to the SCTP
    //# implementation
    match &message.options {
        Some(options) if options.sack_immediately => flags.with(DataFlags::IMMEDIATE),
        _ => flags,
    }
}

const fn unordered_flag(is_unordered: bool) -> DataFlags {
    if is_unordered { DataFlags::UNORDERED } else { DataFlags::MIDDLE }
}
