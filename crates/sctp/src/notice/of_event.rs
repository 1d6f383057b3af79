//! Events that code acts on, as notices.

use crate::addressing::AddressEvent;
use crate::authentication::{AuthenticationEvent, WrongKey};
use crate::cause::Cause;
use crate::chunk::{AddressChange, ReconfigurationResult};
use crate::event::Event;
use crate::reconfiguration::{StreamChange, StreamsChanged};
use crate::types::StreamId;

use super::Notice;
use super::value::{AddressRequest, PeerAddress, StreamAnswer, StreamRequest, StreamsStep};

impl Event {
    /// Notice of what the event tells; `None` for messages, for what is said of each of them, for the beginning and the
    /// end of the association, and for what only a trace tells.
    pub fn notice(&self) -> Option<Notice> {
        Some(match self {
            Self::Notice(notice) => (**notice).clone(),
            Self::Restarted => Notice::Restarted {},
            Self::PathChanged { address, state } => Notice::PathChanged { path: *address, state: *state },
            Self::PrimaryChanged { address } => Notice::PrimaryChanged { path: *address },
            Self::PeerReported(causes) => Notice::PeerReported { causes: shortened(words(causes)) },
            Self::ShutdownReceived => Notice::ShutdownReceived {},
            Self::Abandoned { message, policy, was_sent } => Notice::Abandoned {
                message: numbered(message.context),
                stream: message.stream.0,
                policy: *policy,
                sent: *was_sent,
            },
            Self::PartialDeliveryAborted { stream, sequence, is_unordered } => {
                let sequence = (!is_unordered).then_some(sequence.0);
                Notice::PartialDeliveryAborted { stream: stream.0, sequence }
            }
            Self::ReconfigurationAnswered { change, result } => streams_answered(change, *result),
            Self::StreamsChanged(change) => streams_changed(change),
            Self::Addresses(event) => addresses(event),
            Self::Authentication(event) => {
                let (key, known) = match event {
                    AuthenticationEvent::NewKey(_) => return None,
                    AuthenticationEvent::NotOffered => (None, None),
                    AuthenticationEvent::Failed(WrongKey::Different(key)) => (Some(*key), Some(true)),
                    AuthenticationEvent::Failed(WrongKey::Unknown(key)) => (Some(*key), Some(false)),
                };
                Notice::NotAuthenticated { key, known }
            }
            Self::Acknowledged { .. }
            | Self::Arrived { .. }
            | Self::Closed(_)
            | Self::Established { .. }
            | Self::Received(_)
            | Self::ReceivedPart(_)
            | Self::SendBufferDrained { .. }
            | Self::SendFailed { .. }
            | Self::T3Rtx { .. }
            | Self::Trace(_)
            | Self::Transmitted { .. } => return None,
        })
    }
}

/// Messages without a number of their own are all sent with the greatest one.
fn numbered(context: u64) -> Option<u64> {
    (context != u64::MAX).then_some(context)
}

/// Streams that are named; `None`: all.
fn listed(streams: &[StreamId]) -> Option<Vec<u16>> {
    const MOST: usize = 256;
    (!streams.is_empty()).then(|| streams.iter().take(MOST).map(|stream| stream.0).collect())
}

fn streams_answered(change: &StreamChange, result: ReconfigurationResult) -> Notice {
    let (request, streams, count) = match change {
        StreamChange::ResetOutbound(streams) => (StreamRequest::ResetOutbound, listed(streams), None),
        StreamChange::ResetInbound(streams) => (StreamRequest::ResetInbound, listed(streams), None),
        StreamChange::ResetAssociation => (StreamRequest::ResetAssociation, None, None),
        StreamChange::AddOutbound(count) => (StreamRequest::AddOutbound, None, Some(*count)),
        StreamChange::AddInbound(count) => (StreamRequest::AddInbound, None, Some(*count)),
    };
    let answer = match result {
        ReconfigurationResult::NothingToDo => StreamAnswer::NothingToDo,
        ReconfigurationResult::Performed => StreamAnswer::Performed,
        ReconfigurationResult::Denied => StreamAnswer::Denied,
        ReconfigurationResult::WrongSsn => StreamAnswer::WrongStream,
        ReconfigurationResult::AlreadyInProgress => StreamAnswer::AlreadyInProgress,
        ReconfigurationResult::BadSequenceNumber => StreamAnswer::BadSequenceNumber,
        ReconfigurationResult::InProgress => StreamAnswer::InProgress,
        ReconfigurationResult::Unknown(_) => StreamAnswer::Unknown,
    };
    Notice::StreamsAnswered { request, streams, count, answer }
}

fn streams_changed(change: &StreamsChanged) -> Notice {
    let (change, streams, counts) = match change {
        StreamsChanged::OutboundReset(streams) => (StreamsStep::OutboundReset, listed(streams), None),
        StreamsChanged::InboundReset(streams) => (StreamsStep::InboundReset, listed(streams), None),
        StreamsChanged::AssociationReset => (StreamsStep::AssociationReset, None, None),
        StreamsChanged::Added { outbound_streams, inbound_streams } => {
            (StreamsStep::Added, None, Some((*outbound_streams, *inbound_streams)))
        }
    };
    let (outbound_streams, inbound_streams) = counts.unzip();
    Notice::StreamsChanged { change, streams, outbound_streams, inbound_streams }
}

fn addresses(event: &AddressEvent) -> Notice {
    match event {
        AddressEvent::Answered { change, is_accepted } => {
            let (request, address) = match change {
                AddressChange::Add(address) => (AddressRequest::Add, Some(*address)),
                AddressChange::Delete(address) => (AddressRequest::Delete, Some(*address)),
                AddressChange::SetPrimary(address) => (AddressRequest::SetPrimary, Some(*address)),
                AddressChange::Unknown { .. } => (AddressRequest::Unknown, None),
            };
            Notice::AddressAnswered { request, address, accepted: *is_accepted }
        }
        AddressEvent::PeerAdded(path) => Notice::PeerAddress { change: PeerAddress::Added, path: *path },
        AddressEvent::PeerRemoved(path) => Notice::PeerAddress { change: PeerAddress::Removed, path: *path },
        AddressEvent::PeerPrimary(path) => Notice::PeerAddress { change: PeerAddress::Primary, path: *path },
    }
}

fn words(causes: &[Cause]) -> String {
    let causes: Vec<String> = causes.iter().map(Cause::to_string).collect();
    causes.join(", ")
}

/// Shortens a string, for what a peer says may be long.
fn shortened(text: String) -> String {
    const MOST: usize = 512;
    if text.chars().count() <= MOST { text } else { text.chars().take(MOST).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No two numbers of an event are equal, so that none can stand in another's place.
    #[test]
    fn each_value_of_an_event_is_told_in_its_place() {
        let path = |last| core::net::IpAddr::from([10, 0, 0, last]);
        let cases = [
            (
                Event::StreamsChanged(StreamsChanged::Added { outbound_streams: 1, inbound_streams: 2 }),
                Notice::StreamsChanged {
                    change: StreamsStep::Added,
                    streams: None,
                    outbound_streams: Some(1),
                    inbound_streams: Some(2),
                },
            ),
            (
                Event::ReconfigurationAnswered {
                    change: StreamChange::AddInbound(3),
                    result: ReconfigurationResult::Denied,
                },
                Notice::StreamsAnswered {
                    request: StreamRequest::AddInbound,
                    streams: None,
                    count: Some(3),
                    answer: StreamAnswer::Denied,
                },
            ),
            (
                Event::Addresses(AddressEvent::Answered {
                    change: AddressChange::Delete(path(4)),
                    is_accepted: false,
                }),
                Notice::AddressAnswered {
                    request: AddressRequest::Delete,
                    address: Some(path(4)),
                    accepted: false,
                },
            ),
            (
                Event::Authentication(AuthenticationEvent::Failed(WrongKey::Unknown(4))),
                Notice::NotAuthenticated { key: Some(4), known: Some(false) },
            ),
        ];
        for (event, wanted) in cases {
            assert_eq!(event.notice(), Some(wanted), "{event:?}");
        }
    }

    #[test]
    fn a_long_list_of_streams_and_a_long_word_are_cut() {
        let all: Vec<StreamId> = (0..300).map(StreamId).collect();
        assert_eq!(listed(&all), Some((0..256).collect()));
        assert_eq!(listed(&[]), None);
        assert_eq!(shortened("x".repeat(512)), "x".repeat(512));
        assert_eq!(shortened("x".repeat(513)), format!("{}…", "x".repeat(512)));
    }
}
