//! An association as M3UA uses it: which stream a message takes, and the octets that go out.

use bytes::{Bytes, BytesMut};
use slantpath_ss7::mtp3::Sls;

use crate::asp::{AdaptationLayer, AspMessage, ErrorCode};
use crate::m3ua::{Data, M3ua, Message};
use crate::transport::{AssociationNumber, StreamNumber, Transmit};

/// State that M3UA keeps of an association that is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) outbound_streams: u16,
    pub(super) is_congested: bool,
}

impl Link {
    /// The stream of a signalling link selection: messages of one selection stay in sequence.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.1.1
    //# DATA messages MUST be sent on an SCTP
    //# stream other than stream '0'.
    pub(super) fn stream(self, sls: Sls) -> Option<StreamNumber> {
        let data_streams = self.outbound_streams.saturating_sub(1);
        (data_streams > 0).then(|| StreamNumber(1 + u16::from(sls.0) % data_streams))
    }
}

/// Writes messages for the transport. Small ones share an allocation.
#[derive(Clone, Debug, Default)]
pub(super) struct Writer {
    arena: BytesMut,
}

/// Octets allocated at a time.
const ARENA_LEN: usize = 16 * 1024;

impl Writer {
    /// Octets of a DATA message.
    pub(super) fn data(&mut self, data: &Data) -> Bytes {
        let len = data.len();
        if self.arena.capacity() < len {
            self.arena = BytesMut::with_capacity(len.max(ARENA_LEN));
        }
        data.write(&mut self.arena);
        self.arena.split().freeze()
    }

    /// Any other message, on stream 0.
    pub(super) fn management(association: AssociationNumber, message: &Message) -> Transmit {
        let mut octets = Vec::new();
        message.emit(&mut octets);
        Transmit {
            association,
            stream: StreamNumber(0),
            payload_protocol: M3ua::PAYLOAD_PROTOCOL,
            report: None,
            octets: octets.into(),
        }
    }
}

/// Tells whether the transport says that a message is another protocol's. A sender that gives no identifier is
/// understood.
pub(super) const fn is_of_other_protocol(payload_protocol: u32) -> bool {
    payload_protocol != 0 && payload_protocol != M3ua::PAYLOAD_PROTOCOL
}

/// Tells whether a message came on a stream that is not for it, so that "Invalid Stream Identifier" is the answer.
//= https://www.rfc-editor.org/rfc/rfc4666#section-3.8.1
//# The "Invalid Stream Identifier" error is sent if a message is
//# received on an unexpected SCTP stream (e.g., a Management message was
//# received on a stream other than "0").
pub(super) fn is_on_wrong_stream(message: &Message, stream: StreamNumber) -> bool {
    match message {
        Message::Data(_) => stream.0 == 0,
        Message::Asp(
            AspMessage::AspUp { .. }
            | AspMessage::AspUpAck { .. }
            | AspMessage::AspDown { .. }
            | AspMessage::AspDownAck { .. }
            | AspMessage::Ntfy { .. },
        ) => stream.0 != 0,
        _ => false,
    }
}

/// The answer to octets that are no message.
pub(super) fn error_about(code: ErrorCode, octets: &[u8]) -> Message {
    Message::Asp(AspMessage::error(code, crate::asp::RoutingContexts::default(), octets))
}

/// Tells whether octets are an ERR, which no ERR answers.
//= https://www.rfc-editor.org/rfc/rfc4666#section-3.8.1
//# Error messages MUST NOT be generated in response
//# to other Error messages.
pub(super) fn is_error(octets: &[u8]) -> bool {
    matches!(octets, [_, _, 0, 0, ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_never_takes_stream_zero() {
        for outbound_streams in 2..40 {
            let link = Link { outbound_streams, is_congested: false };
            for sls in 0..=u8::MAX {
                let stream = link.stream(Sls(sls)).unwrap();
                assert!(stream.0 > 0 && stream.0 < outbound_streams);
            }
        }
        assert_eq!(Link { outbound_streams: 1, is_congested: false }.stream(Sls(0)), None);
    }
}
