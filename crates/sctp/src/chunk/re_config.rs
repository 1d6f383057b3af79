//! RE-CONFIG and its six parameters (RFC 6525, sections 3.1 and 4).

use slantpath_base::serial_number;
use slantpath_wire::{Reader, WireError, tlv};

use super::{framing, kind};
use crate::bytes_view::{BytesView, trailing_padding};
use crate::types::{StreamId, Tsn};

serial_number! {
    /// Re-configuration Request Sequence Number: counts the requests of one end (RFC 6525, section 4.1).
    pub struct RequestSequence(u32)
}

/// Types of the parameters (RFC 6525, table 2).
mod parameter_kind {
    pub(super) const OUTGOING_SSN_RESET: u16 = 13;
    pub(super) const INCOMING_SSN_RESET: u16 = 14;
    pub(super) const SSN_TSN_RESET: u16 = 15;
    pub(super) const RESPONSE: u16 = 16;
    pub(super) const ADD_OUTGOING_STREAMS: u16 = 17;
    pub(super) const ADD_INCOMING_STREAMS: u16 = 18;
}

/// A RE-CONFIG chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReConfig {
    /// One or two parameters.
    pub parameters: Vec<ReconfigurationParameter>,
}

/// A request, or the answer to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReconfigurationParameter {
    /// The sender resets the Stream Sequence Numbers of streams that it sends on.
    OutgoingSsnReset {
        /// The request's number.
        request: RequestSequence,
        /// The number of the incoming reset that this answers, or of the last request of the receiver.
        response: RequestSequence,
        /// The last TSN that the sender has assigned.
        last_assigned_tsn: Tsn,
        /// Streams to be reset; none: all.
        streams: Vec<StreamId>,
    },
    /// The sender asks the receiver to reset streams that it sends on.
    IncomingSsnReset {
        /// The request's number.
        request: RequestSequence,
        /// Streams to be reset; none: all.
        streams: Vec<StreamId>,
    },
    /// The sender asks that TSNs and all Stream Sequence Numbers of both directions begin anew.
    SsnTsnReset {
        /// The request's number.
        request: RequestSequence,
    },
    /// Answers a request.
    Response {
        /// The number of the request.
        response: RequestSequence,
        /// Outcome of the request.
        result: ReconfigurationResult,
        /// TSNs with which both ends go on, in the answer to an SSN/TSN reset.
        next_tsns: Option<NextTsns>,
    },
    /// The sender wants more streams to send on.
    AddOutgoingStreams {
        /// The request's number.
        request: RequestSequence,
        /// Number of additional streams.
        count: u16,
    },
    /// The sender wants the receiver to have more streams to send on.
    AddIncomingStreams {
        /// The request's number.
        request: RequestSequence,
        /// Number of additional streams.
        count: u16,
    },
}

/// The TSNs after an SSN/TSN reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextTsns {
    /// Of the next DATA chunk of who answers.
    pub sender: Tsn,
    /// Of the next DATA chunk of who has asked.
    pub receiver: Tsn,
}

/// Outcome of a request (RFC 6525, table 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReconfigurationResult {
    /// There was nothing to do.
    NothingToDo,
    /// Success: the request has been carried out.
    Performed,
    /// The peer does not want to.
    Denied,
    /// Error: the request names a stream that does not exist.
    WrongSsn,
    /// Another request is in its way.
    AlreadyInProgress,
    /// Error: the request does not have the number that was expected.
    BadSequenceNumber,
    /// Request that is being carried out.
    InProgress,
    /// A result that is not known here.
    Unknown(u32),
}

impl ReconfigurationResult {
    const fn code(self) -> u32 {
        match self {
            Self::NothingToDo => 0,
            Self::Performed => 1,
            Self::Denied => 2,
            Self::WrongSsn => 3,
            Self::AlreadyInProgress => 4,
            Self::BadSequenceNumber => 5,
            Self::InProgress => 6,
            Self::Unknown(code) => code,
        }
    }

    const fn of_code(code: u32) -> Self {
        match code {
            0 => Self::NothingToDo,
            1 => Self::Performed,
            2 => Self::Denied,
            3 => Self::WrongSsn,
            4 => Self::AlreadyInProgress,
            5 => Self::BadSequenceNumber,
            6 => Self::InProgress,
            code => Self::Unknown(code),
        }
    }
}

impl ReConfig {
    /// The length of resets in both directions without streams, in bytes, and of the padding that streams may need.
    pub(crate) const RESETS_LEN: usize = 16 + 8 + 4;

    /// Tells if the parameters may stand together.
    pub fn is_allowed(&self) -> bool {
        use ReconfigurationParameter::{
            AddIncomingStreams, AddOutgoingStreams, IncomingSsnReset, OutgoingSsnReset, Response, SsnTsnReset,
        };
        //= https://www.rfc-editor.org/rfc/rfc6525#section-3.1
        //# Note that each RE-CONFIG chunk holds at least one parameter and at
        //# most two parameters.  Only the following combinations are allowed:
        // In whichever order: the RFC lists them as sets, and stacks differ.
        match &self.parameters[..] {
            [_] => true,
            [one, other] => {
                matches!(
                    (one, other),
                    (OutgoingSsnReset { .. }, IncomingSsnReset { .. } | Response { .. })
                        | (IncomingSsnReset { .. }, OutgoingSsnReset { .. })
                        | (AddOutgoingStreams { .. }, AddIncomingStreams { .. })
                        | (AddIncomingStreams { .. }, AddOutgoingStreams { .. })
                        | (Response { .. }, OutgoingSsnReset { .. } | Response { .. })
                ) && !matches!((one, other), (SsnTsnReset { .. }, _) | (_, SsnTsnReset { .. }))
            }
            _ => false,
        }
    }

    /// Appends the chunk with header and padding.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        framing::write_fields(out, kind::RE_CONFIG, 0, |out| {
            let mut last = out.len();
            for parameter in &self.parameters {
                last = out.len();
                parameter.write(out);
            }
            trailing_padding(&out[last..])
        });
    }

    pub(super) fn parse(value: BytesView<'_>) -> Result<Self, WireError> {
        let mut reader = Reader::new(value.as_slice());
        let mut parameters = Vec::new();
        while let Some(field) = tlv::read(&mut reader)? {
            parameters.push(ReconfigurationParameter::parse(field.kind, field.value)?);
        }
        Ok(Self { parameters })
    }
}

impl ReconfigurationParameter {
    /// The number of the request; `None` of an answer.
    pub const fn request(&self) -> Option<RequestSequence> {
        match self {
            Self::OutgoingSsnReset { request, .. }
            | Self::IncomingSsnReset { request, .. }
            | Self::SsnTsnReset { request }
            | Self::AddOutgoingStreams { request, .. }
            | Self::AddIncomingStreams { request, .. } => Some(*request),
            Self::Response { .. } => None,
        }
    }

    const fn kind(&self) -> u16 {
        match self {
            Self::OutgoingSsnReset { .. } => parameter_kind::OUTGOING_SSN_RESET,
            Self::IncomingSsnReset { .. } => parameter_kind::INCOMING_SSN_RESET,
            Self::SsnTsnReset { .. } => parameter_kind::SSN_TSN_RESET,
            Self::Response { .. } => parameter_kind::RESPONSE,
            Self::AddOutgoingStreams { .. } => parameter_kind::ADD_OUTGOING_STREAMS,
            Self::AddIncomingStreams { .. } => parameter_kind::ADD_INCOMING_STREAMS,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        tlv::write(out, self.kind(), |out| {
            let mut word = |word: u32| out.extend_from_slice(&word.to_be_bytes());
            match self {
                Self::OutgoingSsnReset { request, response, last_assigned_tsn, streams } => {
                    [request.0, response.0, last_assigned_tsn.0].into_iter().for_each(word);
                    write_streams(streams, out);
                }
                Self::IncomingSsnReset { request, streams } => {
                    word(request.0);
                    write_streams(streams, out);
                }
                Self::SsnTsnReset { request } => word(request.0),
                Self::Response { response, result, next_tsns } => {
                    word(response.0);
                    word(result.code());
                    if let Some(NextTsns { sender, receiver }) = next_tsns {
                        word(sender.0);
                        word(receiver.0);
                    }
                }
                Self::AddOutgoingStreams { request, count } | Self::AddIncomingStreams { request, count } => {
                    word(request.0);
                    word(u32::from(*count) << 16);
                }
            }
        });
    }

    fn parse(kind: u16, value: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(value);
        let first = RequestSequence(reader.u32()?);
        let parameter = match kind {
            parameter_kind::OUTGOING_SSN_RESET => {
                return Ok(Self::OutgoingSsnReset {
                    request: first,
                    response: RequestSequence(reader.u32()?),
                    last_assigned_tsn: Tsn(reader.u32()?),
                    streams: read_streams(&mut reader)?,
                });
            }
            parameter_kind::INCOMING_SSN_RESET => {
                return Ok(Self::IncomingSsnReset { request: first, streams: read_streams(&mut reader)? });
            }
            parameter_kind::SSN_TSN_RESET => Self::SsnTsnReset { request: first },
            parameter_kind::RESPONSE => Self::Response {
                response: first,
                result: ReconfigurationResult::of_code(reader.u32()?),
                //= https://www.rfc-editor.org/rfc/rfc6525#section-4.4
                //# Either both optional fields (Sender's Next TSN and Receiver's Next
                //# TSN) MUST be present, or no field.
                next_tsns: if reader.is_empty() {
                    None
                } else {
                    Some(NextTsns { sender: Tsn(reader.u32()?), receiver: Tsn(reader.u32()?) })
                },
            },
            parameter_kind::ADD_OUTGOING_STREAMS => {
                Self::AddOutgoingStreams { request: first, count: read_count(&mut reader)? }
            }
            parameter_kind::ADD_INCOMING_STREAMS => {
                Self::AddIncomingStreams { request: first, count: read_count(&mut reader)? }
            }
            kind => {
                return Err(WireError::BadValue { field: "re-configuration parameter", value: kind.into() });
            }
        };
        if reader.is_empty() {
            Ok(parameter)
        } else {
            Err(WireError::BadValue { field: "parameter length", value: value.len() as u64 + 4 })
        }
    }
}

fn write_streams(streams: &[StreamId], out: &mut Vec<u8>) {
    for stream in streams {
        out.extend_from_slice(&stream.0.to_be_bytes());
    }
}

fn read_streams(reader: &mut Reader<'_>) -> Result<Vec<StreamId>, WireError> {
    let mut streams = Vec::with_capacity(reader.left() / 2);
    while !reader.is_empty() {
        streams.push(StreamId(reader.u16()?));
    }
    Ok(streams)
}

/// A number of streams and what is reserved behind it.
fn read_count(reader: &mut Reader<'_>) -> Result<u16, WireError> {
    let count = reader.u16()?;
    reader.u16()?;
    Ok(count)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_result() -> impl Strategy<Value = ReconfigurationResult> {
        (0_u32..9).prop_map(ReconfigurationResult::of_code)
    }

    fn any_parameter() -> impl Strategy<Value = ReconfigurationParameter> {
        use ReconfigurationParameter as P;
        let number = || any::<u32>().prop_map(RequestSequence);
        let streams = || proptest::collection::vec(any::<u16>().prop_map(StreamId), 0..9);
        let next = any::<Option<(u32, u32)>>();
        prop_oneof![
            (number(), number(), any::<u32>(), streams()).prop_map(|(request, response, tsn, streams)| {
                P::OutgoingSsnReset { request, response, last_assigned_tsn: Tsn(tsn), streams }
            }),
            (number(), streams()).prop_map(|(request, streams)| P::IncomingSsnReset { request, streams }),
            number().prop_map(|request| P::SsnTsnReset { request }),
            (number(), any_result(), next).prop_map(|(response, result, next)| P::Response {
                response,
                result,
                next_tsns: next
                    .map(|(sender, receiver)| NextTsns { sender: Tsn(sender), receiver: Tsn(receiver) }),
            }),
            (number(), any::<u16>()).prop_map(|(request, count)| P::AddOutgoingStreams { request, count }),
            (number(), any::<u16>()).prop_map(|(request, count)| P::AddIncomingStreams { request, count }),
        ]
    }

    pub(crate) fn any_re_config() -> impl Strategy<Value = ReConfig> {
        proptest::collection::vec(any_parameter(), 1..3).prop_map(|parameters| ReConfig { parameters })
    }

    #[test]
    fn a_reset_of_one_stream_takes_18_bytes_behind_the_chunks_header() {
        let parameter = ReconfigurationParameter::OutgoingSsnReset {
            request: RequestSequence(1),
            response: RequestSequence(2),
            last_assigned_tsn: Tsn(3),
            streams: vec![StreamId(4)],
        };
        let mut out = Vec::new();
        ReConfig { parameters: vec![parameter] }.write(&mut out);
        let bytes = [130, 0, 0, 22, 0, 13, 0, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 4, 0, 0];
        assert_eq!(out, bytes);
    }

    #[test]
    fn an_answer_with_one_of_two_tsns_is_refused() {
        let value = [0, 16, 0, 16, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 9];
        assert!(ReConfig::parse(BytesView::borrowed(&value)).is_err());
    }

    #[test]
    fn only_the_combinations_of_the_rfc_are_allowed() {
        use ReconfigurationParameter as P;
        let request = RequestSequence(1);
        let response =
            P::Response { response: request, result: ReconfigurationResult::Denied, next_tsns: None };
        let outgoing = P::OutgoingSsnReset {
            request,
            response: request,
            last_assigned_tsn: Tsn(0),
            streams: Vec::new(),
        };
        let incoming = P::IncomingSsnReset { request, streams: Vec::new() };
        let all = [
            outgoing,
            incoming,
            P::SsnTsnReset { request },
            response,
            P::AddOutgoingStreams { request, count: 1 },
            P::AddIncomingStreams { request, count: 1 },
        ];
        let is_allowed = |parameters: &[&P]| {
            ReConfig { parameters: parameters.iter().map(|&one| one.clone()).collect() }.is_allowed()
        };
        assert!(all.iter().all(|one| is_allowed(&[one])));
        let mut pairs = Vec::new();
        for (at, one) in all.iter().enumerate() {
            for (other_at, other) in all.iter().enumerate().skip(at) {
                if is_allowed(&[one, other]) {
                    pairs.push((at, other_at));
                }
                assert_eq!(is_allowed(&[one, other]), is_allowed(&[other, one]));
            }
        }
        assert_eq!(pairs, [(0, 1), (0, 3), (3, 3), (4, 5)]);
        assert!(!is_allowed(&[]) && !is_allowed(&[&all[3], &all[3], &all[3]]));
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_re_config_or_an_error(bytes: Vec<u8>) {
            let _ = ReConfig::parse(BytesView::borrowed(&bytes));
        }
    }
}
