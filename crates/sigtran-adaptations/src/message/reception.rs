//! Checks of every message before a layer looks at its content: its protocol, its form, its stream.

use bytes::Bytes;
use slantpath_sigtran::asp::{AdaptationLayer, AspMessage, ErrorCode, Scope, kind};
use slantpath_sigtran::common::MessageKind;
use slantpath_sigtran::transport::StreamNumber;

use crate::drops::DropReason;
use crate::message::{Message, Vocabulary};

/// On which streams a message may come, where there is more than one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamRule {
    /// On any stream.
    Any,
    /// On stream 0 only.
    Management,
    /// On any but stream 0.
    Traffic,
}

/// Why a message goes no further, and the ERR that answers it, if one does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal<V: Vocabulary> {
    pub(crate) reason: DropReason,
    pub(crate) answer: Option<AspMessage<V::Layer>>,
}

/// The rule for a message's stream: that of the layer for its own classes, and for the others that management and
/// maintenance have stream 0.
///
/// RFC 3331, section 4.2.1, would rather have ASP traffic maintenance beside the traffic; TS 102 380 has it refused
/// there, and an ASP that uses stream 0 suits both.
fn stream_rule<V: Vocabulary>(of: MessageKind) -> StreamRule {
    if of == kind::BEAT || of == kind::BEAT_ACK {
        StreamRule::Any
    } else if matches!(of.class, 0 | 3 | 4) {
        StreamRule::Management
    } else {
        V::stream_rule(of)
    }
}

/// Reads what a transport delivers. `streams` is how many of them there are.
pub(crate) fn receive<V: Vocabulary>(
    stream: StreamNumber,
    streams: u16,
    payload_protocol: u32,
    octets: &Bytes,
) -> Result<Message<V>, Refusal<V>> {
    if payload_protocol != 0 && payload_protocol != V::Layer::PAYLOAD_PROTOCOL {
        return Err(Refusal { reason: DropReason::WrongPayloadProtocol, answer: None });
    }
    let refuse = |code| {
        let is_error = matches!(octets.as_ref(), [_, _, 0, 0, ..]);
        //= https://www.rfc-editor.org/rfc/rfc3331#section-3.3.3.1
        //# An Error message MUST not be generated in response to other Error
        //# messages.
        let error = || AspMessage::error(code, <V::Layer as AdaptationLayer>::Scope::of(&[]), octets);
        Refusal { reason: DropReason::Refused, answer: (!is_error).then(error) }
    };
    let message = Message::<V>::receive(octets).map_err(|error| refuse(V::error_code(error.error_code())))?;
    let is_allowed = match stream_rule::<V>(message.kind()) {
        StreamRule::Any => true,
        StreamRule::Management => stream == StreamNumber(0),
        StreamRule::Traffic => stream != StreamNumber(0),
    };
    if !is_allowed && streams > 1 {
        return Err(refuse(ErrorCode::INVALID_STREAM_IDENTIFIER));
    }
    Ok(message)
}
