//! Events of SCTP and TCP, in one set of words.

use std::net::IpAddr;
use std::ops::Range;

use bytes::Bytes;
use slantpath_sctp as sctp;
use slantpath_tcp as tcp;
use slantpath_wire::ip::IpFields;

use super::{OutgoingMessage, SocketState};
use crate::path_event::PathEventKind;

/// Event that an application is told.
#[derive(Debug)]
pub enum SocketEvent {
    /// A message has been given up, as its reliability asks (SCTP).
    Abandoned(Abandoned),
    /// The peer has a part of the flow for good. Only if messages are traced.
    Acknowledged(AcknowledgedPart),
    /// Something has come that will be delivered. Only if arrivals are traced.
    Arrived(ArrivedPart),
    /// The next bytes of the stream (TCP).
    Bytes(Bytes),
    /// The association or connection is up.
    Connected {
        /// The peer's addresses, in the order in which its paths are numbered.
        paths: Vec<IpAddr>,
        /// Number of streams that can be sent on.
        outbound_streams: u16,
    },
    /// The association or connection is over, in order or for the reason given.
    Ended {
        /// Failure that ended it; `None` if it ended in order.
        failure: Option<String>,
        /// Reason of the end in SCTP's own words.
        reason: Option<Box<sctp::CloseReason>>,
    },
    /// A whole message (SCTP).
    Message {
        /// Number of its stream.
        stream: u16,
        /// Place within its association.
        place: MessagePlace,
        /// Payload protocol identifier, which tells the kind of content.
        payload_protocol: u32,
        /// The bytes.
        payload: Bytes,
        /// Fields of the IP header of the packet that brought the last of it.
        ip: IpFields,
    },
    /// A message will never be acknowledged (SCTP).
    MessageFailed {
        /// The message, if nothing of it was ever sent.
        unsent: Option<Box<OutgoingMessage>>,
    },
    /// Something has happened to a path (SCTP).
    Path {
        /// Number of the path.
        path: u8,
        /// Kind of the event.
        kind: PathEventKind,
    },
    /// The peer has begun anew (SCTP).
    Restarted,
    /// A part of what was sent went out.
    Transmitted {
        /// The part of what was sent.
        sent: SentPart,
        /// Number of the path that it took.
        path: u8,
        /// True for a retransmission.
        again: bool,
    },
    /// There is room again for what was refused for want of it.
    Writable,
    /// Event of an extension of SCTP; most applications ask for none.
    Sctp(Box<sctp::Event>),
}

/// Content that the packet at hand has brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrivedPart {
    /// A part of the stream (TCP), some of which may have come before.
    Bytes(Range<u64>),
    /// The last of a message (SCTP).
    Message(MessagePlace),
}

/// Place of a message within its association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessagePlace {
    /// The one with this number of a stream.
    Ordered {
        /// Number of the stream.
        stream: u16,
        /// Number of the message on the stream, which begins anew after 2^16.
        sequence: u16,
    },
    /// The next of those that may overtake others.
    Unordered,
}

/// Part of a flow that went out in one transmission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentPart {
    /// A range of the byte stream (TCP).
    Bytes(Range<u64>),
    /// A message, or a fragment of it (SCTP).
    Message(u32),
}

/// Part of a flow that the peer has acknowledged for good: it will not be retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcknowledgedPart {
    /// The byte stream up to this offset (TCP).
    Bytes(u64),
    /// A message (SCTP).
    Message(u32),
    /// A message that was given no number (SCTP).
    Unnumbered,
}

/// A message that has been given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abandoned {
    /// Number of the message, if it has one.
    pub number: Option<u32>,
    /// Number of its stream.
    pub stream: u16,
    /// Policy by which it was given up.
    pub policy: sctp::ReliabilityPolicy,
    /// True if a part of the message had been sent.
    pub was_sent: bool,
}

impl SocketEvent {
    /// A whole message.
    #[inline]
    pub(super) fn of_message(message: sctp::ReceivedMessage) -> Self {
        let sctp::ReceivedMessage { stream, sequence, ppid, tsn: _, payload, is_unordered, ip } = message;
        let place = place_of(stream, sequence, is_unordered);
        Self::Message { stream: stream.0, place, payload_protocol: ppid.0, payload, ip }
    }
}

#[inline]
const fn place_of(
    stream: sctp::StreamId,
    sequence: sctp::StreamSequence,
    is_unordered: bool,
) -> MessagePlace {
    if is_unordered {
        MessagePlace::Unordered
    } else {
        MessagePlace::Ordered { stream: stream.0, sequence: sequence.0 }
    }
}

/// The number of the path to `address`.
pub(super) fn path_number(paths: &[IpAddr], address: IpAddr) -> Option<u8> {
    u8::try_from(paths.iter().position(|path| *path == address)?).ok()
}

/// The number of the path to `address`, which is new if it is met for the first time.
fn number_path(paths: &mut Vec<IpAddr>, address: IpAddr) -> u8 {
    path_number(paths, address).unwrap_or_else(|| {
        paths.push(address);
        path_number(paths, address).unwrap_or(u8::MAX)
    })
}

pub(super) fn sctp_event(event: sctp::Event, paths: &mut Vec<IpAddr>) -> Option<SocketEvent> {
    match event {
        sctp::Event::Abandoned { message, policy, was_sent } => Some(SocketEvent::Abandoned(Abandoned {
            number: u32::try_from(message.context).ok(),
            stream: message.stream.0,
            policy,
            was_sent,
        })),
        sctp::Event::Acknowledged { context } => {
            let part = u32::try_from(context).map_or(AcknowledgedPart::Unnumbered, AcknowledgedPart::Message);
            Some(SocketEvent::Acknowledged(part))
        }
        sctp::Event::Arrived { stream, sequence, is_unordered } => {
            Some(SocketEvent::Arrived(ArrivedPart::Message(place_of(stream, sequence, is_unordered))))
        }
        sctp::Event::Established { outbound_streams, .. } => {
            Some(SocketEvent::Connected { paths: paths.clone(), outbound_streams })
        }
        sctp::Event::Received(message) => Some(SocketEvent::of_message(message)),
        sctp::Event::Transmitted { context, destination, transmission, .. } => {
            let path = number_path(paths, destination);
            // What an adaptation layer sends for itself has no number.
            let number = u32::try_from(context).ok()?;
            Some(SocketEvent::Transmitted { sent: SentPart::Message(number), path, again: transmission > 1 })
        }
        sctp::Event::PathChanged { address, state } => {
            let kind = match state {
                sctp::PathState::Active => PathEventKind::Active,
                sctp::PathState::Inactive => PathEventKind::Inactive,
                sctp::PathState::PotentiallyFailed => PathEventKind::PotentiallyFailed,
                // Nothing becomes unconfirmed.
                sctp::PathState::Unconfirmed => return None,
            };
            Some(SocketEvent::Path { path: number_path(paths, address), kind })
        }
        sctp::Event::PrimaryChanged { address } => {
            Some(SocketEvent::Path { path: number_path(paths, address), kind: PathEventKind::Primary })
        }
        sctp::Event::T3Rtx { address, change } => {
            let kind = match change {
                sctp::T3RtxChange::Expired { rto, outstanding } => {
                    PathEventKind::T3RtxExpired { rto, outstanding_bytes: outstanding }
                }
                sctp::T3RtxChange::Restarted { rto } => PathEventKind::T3RtxRestarted { rto },
                sctp::T3RtxChange::Started { rto } => PathEventKind::T3RtxStarted { rto },
                sctp::T3RtxChange::Stopped => PathEventKind::T3RtxStopped,
            };
            Some(SocketEvent::Path { path: number_path(paths, address), kind })
        }
        sctp::Event::Restarted => Some(SocketEvent::Restarted),
        sctp::Event::SendBufferDrained { .. } => Some(SocketEvent::Writable),
        sctp::Event::SendFailed { message, was_sent } => {
            let unsent = (!was_sent).then(|| Box::new(OutgoingMessage::given_back(message)));
            Some(SocketEvent::MessageFailed { unsent })
        }
        sctp::Event::Closed(reason) => Some(SocketEvent::Ended {
            failure: (reason != sctp::CloseReason::ShutdownComplete).then(|| reason.to_string()),
            reason: Some(Box::new(reason)),
        }),
        // Parts have been put together; else nothing that an application acts on or counts.
        sctp::Event::PartialDeliveryAborted { .. }
        | sctp::Event::ReceivedPart(_)
        | sctp::Event::ShutdownReceived
        | sctp::Event::Trace(_) => None,
        // What few applications ask for goes to all that may: SCTP tells it in its own words.
        event => Some(SocketEvent::Sctp(Box::new(event))),
    }
}

pub(super) fn tcp_event(event: tcp::Event, socket: &SocketState) -> Option<SocketEvent> {
    match event {
        tcp::Event::Acked { up_to_bytes } => {
            Some(SocketEvent::Acknowledged(AcknowledgedPart::Bytes(up_to_bytes)))
        }
        tcp::Event::Arrived { start_bytes, end_bytes } => {
            Some(SocketEvent::Arrived(ArrivedPart::Bytes(start_bytes..end_bytes)))
        }
        tcp::Event::Connected => {
            Some(SocketEvent::Connected { paths: socket.paths.clone(), outbound_streams: 1 })
        }
        tcp::Event::Data(bytes) => Some(SocketEvent::Bytes(bytes)),
        tcp::Event::Transmitted { start_bytes, end_bytes, transmissions } => Some(SocketEvent::Transmitted {
            sent: SentPart::Bytes(start_bytes..end_bytes),
            path: 0,
            again: transmissions > 1,
        }),
        tcp::Event::Writable => Some(SocketEvent::Writable),
        tcp::Event::Closed => Some(SocketEvent::Ended { failure: None, reason: None }),
        tcp::Event::Reset(cause) => {
            Some(SocketEvent::Ended { failure: Some(cause.to_string()), reason: None })
        }
        tcp::Event::PeerClosed => None,
    }
}
