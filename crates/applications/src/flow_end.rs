//! One end of a flow: an application that sends or receives, with a layer below it if the flow asks for one.

use slantpath_base::{Instant, Stream};
use slantpath_host::{
    MessagePlace, MessageSource as _, Offer, Others, OutgoingMessage, Reaction, Served, Socket, SocketEvent,
};
use slantpath_sctp as sctp;
use slantpath_wire::transport::{StreamNumber, Transmit, TransportInput};

use crate::adaptation::FlowAdaptation;
use crate::earlier::earlier;
use crate::failover::Failover;
use crate::layer::{ReceivingLayer, ReceivingStep, SendingLayer, SendingStep};
use crate::receiver::{Receiver, ReceiverConfig};
use crate::record::{DeliveredMessage, Finality, ReceiverReport, SenderRecords, SenderReport};
use crate::sender::{Sender, SenderConfig, Want};

#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a flow's end is boxed already, and is looked at for every packet"
)]
// Which it is stands in front of it, and not in one of its gaps.
#[repr(u8)]
enum Role {
    Receiver(Receiver),
    Sender(Sender),
}

/// Layer between the socket and the sender or receiver.
#[derive(Debug)]
enum Layer {
    None,
    Receiving(Box<Below<dyn ReceivingLayer>>),
    Sending(Box<Below<dyn SendingLayer>>),
}

/// A layer of signalling behind one pointer, since few flows have any.
#[derive(Debug)]
struct Below<L: ?Sized> {
    name: &'static str,
    layer: Box<L>,
}

/// Of many flows none is in the cache when a message comes or is due: what that touches lies together, in this order.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct FlowEnd {
    layer: Layer,
    /// Earliest instant of the next sample of the paths, if they are probed.
    next_sample: Option<Instant>,
    role: Role,
}

impl FlowEnd {
    pub(crate) fn sender(config: SenderConfig, stream: Stream) -> Self {
        let layer = match config.adaptation {
            FlowAdaptation::Signalling(by) => {
                Layer::Sending(Box::new(Below { name: by.name, layer: (by.sending)() }))
            }
            // Messages are framed as they are composed.
            FlowAdaptation::GtpU { .. } | FlowAdaptation::None | FlowAdaptation::Rtp { .. } => Layer::None,
        };
        let next_sample = config.sample_paths.map(|_| Instant::START);
        Self { layer, role: Role::Sender(Sender::new(config, stream)), next_sample }
    }

    pub(crate) fn receiver(config: ReceiverConfig) -> Self {
        let layer = match config.adaptation {
            FlowAdaptation::Signalling(by) => {
                Layer::Receiving(Box::new(Below { name: by.name, layer: (by.receiving)() }))
            }
            FlowAdaptation::GtpU { .. } | FlowAdaptation::None | FlowAdaptation::Rtp { .. } => Layer::None,
        };
        Self { layer, role: Role::Receiver(Receiver::new(config)), next_sample: None }
    }

    pub(crate) fn sender_report(&self) -> Option<&SenderReport> {
        match &self.role {
            Role::Sender(sender) => Some(sender.report()),
            Role::Receiver(_) => None,
        }
    }

    pub(crate) fn receiver_report(&self) -> Option<&ReceiverReport> {
        match &self.role {
            Role::Sender(_) => None,
            Role::Receiver(receiver) => Some(receiver.report()),
        }
    }

    pub(crate) fn take_sender_records(&mut self, finality: Finality) -> Option<SenderRecords> {
        match &mut self.role {
            Role::Sender(sender) => Some(sender.take_records(finality)),
            Role::Receiver(_) => None,
        }
    }

    pub(crate) fn take_deliveries(&mut self) -> Option<Vec<DeliveredMessage>> {
        match &mut self.role {
            Role::Sender(_) => None,
            Role::Receiver(receiver) => Some(receiver.take_deliveries()),
        }
    }

    pub(crate) fn restart_gap(&mut self) {
        if let Role::Receiver(receiver) = &mut self.role {
            receiver.restart_gap();
        }
    }

    pub(crate) fn handle_deadline(&mut self, now: Instant) {
        match &mut self.layer {
            Layer::None => {}
            Layer::Receiving(below) => below.layer.handle_deadline(now),
            Layer::Sending(below) => below.layer.handle_deadline(now),
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "an event is large to move, and most come no further")]
    pub(crate) fn handle_event(
        &mut self,
        now: Instant,
        event: SocketEvent,
        socket: &mut Socket<'_>,
    ) -> Reaction {
        if let (Layer::None, Role::Receiver(receiver)) = (&self.layer, &mut self.role) {
            // Nearly all that a receiver is told.
            if let Some(reaction) = take_in(receiver, now, &event, socket) {
                return reaction;
            }
        }
        self.handle_any_event(now, event, socket)
    }

    #[inline(never)]
    fn handle_any_event(&mut self, now: Instant, event: SocketEvent, socket: &mut Socket<'_>) -> Reaction {
        let Some(event) = self.adapt(now, event) else { return Reaction::Serve };
        match &mut self.role {
            Role::Sender(sender) => match event {
                SocketEvent::Acknowledged(part) => {
                    sender.handle_acknowledged(part);
                    return Reaction::None;
                }
                SocketEvent::Connected { paths, .. } => {
                    sender.report_mut().paths = paths;
                    sender.handle_connected(now);
                }
                SocketEvent::Transmitted { sent, path, again } => {
                    sender.handle_transmitted(now, &sent, path, again);
                    return Reaction::None;
                }
                SocketEvent::Path { path, kind } => {
                    sender.handle_path_event(now, path, kind);
                    return Reaction::None;
                }
                SocketEvent::Writable => sender.handle_writable(),
                SocketEvent::Abandoned(abandoned) => {
                    sender.handle_abandoned(abandoned);
                    return Reaction::None;
                }
                SocketEvent::Sctp(event) => {
                    if let sctp::Event::StreamsChanged(sctp::StreamsChanged::Added {
                        outbound_streams, ..
                    }) = *event
                    {
                        sender.handle_streams_added(outbound_streams);
                    }
                    if let sctp::Event::Notice(notice) = &*event
                        && let Some(failover) = Failover::of(now, notice)
                    {
                        sender.handle_failover(failover);
                    }
                    return Reaction::None;
                }
                SocketEvent::MessageFailed { .. } => sender.report_mut().messages_failed += 1,
                SocketEvent::Ended { failure, reason: _ } => sender.handle_ended(now, failure),
                // Flows are one-way: a receiver sends nothing back but echoes.
                SocketEvent::Message { payload, .. } => {
                    sender.handle_reply(now, &payload);
                    return Reaction::None;
                }
                SocketEvent::Arrived(_) | SocketEvent::Bytes(_) | SocketEvent::Restarted => {}
            },
            Role::Receiver(receiver) => {
                if let Some(reaction) = take_in(receiver, now, &event, socket) {
                    return reaction;
                }
                if let SocketEvent::Ended { failure, reason: _ } = event {
                    receiver.handle_ended(now, failure.unwrap_or_else(|| "closed".to_owned()));
                }
            }
        }
        Reaction::Serve
    }

    /// Lets the adaptation layer see an event first; gives what is for the application.
    fn adapt(&mut self, now: Instant, event: SocketEvent) -> Option<SocketEvent> {
        let input = match (&self.layer, event) {
            (Layer::None, event) => return Some(event),
            (_, SocketEvent::Connected { paths, outbound_streams }) => {
                if let Role::Sender(sender) = &mut self.role {
                    sender.report_mut().paths = paths;
                }
                TransportInput::Up { outbound_streams }
            }
            (_, SocketEvent::Message { stream, payload_protocol, payload, .. }) => {
                TransportInput::Message { stream: StreamNumber(stream), payload_protocol, octets: payload }
            }
            (_, event) => return Some(event),
        };
        match &mut self.layer {
            Layer::None => {}
            Layer::Receiving(below) => below.layer.handle_input(now, input),
            Layer::Sending(below) => below.layer.handle_input(now, input),
        }
        None
    }

    /// Does the next thing that the adaptation layer wants.
    fn serve_layer(&mut self, now: Instant, socket: &mut Socket<'_>) -> Served {
        let transmit = match (&mut self.layer, &mut self.role) {
            (Layer::Receiving(below), Role::Receiver(receiver)) => match below.layer.poll(now) {
                ReceivingStep::Deliver(selection, payload) => {
                    receiver.handle_message(now, Some(selection), &payload, None);
                    pause_while_busy(receiver, now, socket);
                    return Served::Again;
                }
                ReceivingStep::Transmit(transmit) => transmit,
                ReceivingStep::Wait(deadline) => return Served::Idle(deadline),
            },
            (Layer::Sending(below), Role::Sender(sender)) => match below.layer.poll(now) {
                SendingStep::Active => {
                    sender.handle_connected(now);
                    return Served::Again;
                }
                SendingStep::Stopped => {
                    sender.handle_ended(now, Some(format!("{}: the traffic was stopped", below.name)));
                    return Served::Again;
                }
                SendingStep::Transmit(transmit) => transmit,
                SendingStep::Wait(deadline) => return Served::Idle(deadline),
            },
            _ => return Served::Idle(None),
        };
        let Transmit { stream, payload_protocol, octets, .. } = transmit;
        // It is one of a handful: whatever keeps it from being sent keeps the layer from coming up, and T(ack) sends it
        // again.
        let message = OutgoingMessage {
            number: None,
            stream: stream.0,
            unordered: false,
            payload_protocol,
            payload: octets,
            options: None,
        };
        if let Offer::Refused(reason) = socket.send(now, message)
            && let (Layer::Sending(below), Role::Sender(sender)) = (&self.layer, &mut self.role)
        {
            sender.handle_ended(now, Some(format!("{}: {reason}", below.name)));
        }
        Served::Again
    }

    /// Does the next thing that the adaptation layer or the application wants of the socket, or several.
    pub(crate) fn serve(&mut self, now: Instant, others: Others, socket: &mut Socket<'_>) -> Served {
        match self.serve_layer(now, socket) {
            Served::Again => Served::Again,
            Served::Idle(layer_deadline) => match self.serve_role(now, others, socket) {
                Served::Again => Served::Again,
                Served::Idle(deadline) => Served::Idle(earlier(layer_deadline, deadline)),
            },
        }
    }

    fn serve_role(&mut self, now: Instant, others: Others, socket: &mut Socket<'_>) -> Served {
        let sender = match &mut self.role {
            Role::Receiver(receiver) => return serve_receiver(receiver, now, socket),
            Role::Sender(sender) => sender,
        };
        loop {
            match sender.want(now) {
                Want::Connect => {
                    if let Err(failure) = socket.open(now) {
                        sender.handle_ended(now, Some(failure));
                    }
                }
                Want::Close => socket.close(now),
                Want::Send(outgoing) => {
                    let size = outgoing.payload.len();
                    let offer = match &mut self.layer {
                        Layer::Sending(below) => send_wrapped(below, now, outgoing, socket),
                        Layer::None | Layer::Receiving(_) => socket.send(now, outgoing),
                    };
                    sender.offered(now, size, offer);
                }
                Want::Wait(deadline) => return Served::Idle(deadline),
            }
            // An adaptation layer speaks before each.
            let is_alone = others == Others::Idle && socket.is_quiet();
            if !is_alone || !matches!(self.layer, Layer::None) {
                return Served::Again;
            }
            socket.fill(now, sender);
            if !socket.is_quiet() {
                return Served::Again;
            }
        }
    }

    /// Earliest instant of the next sample of the paths, if they are probed.
    #[inline]
    pub(crate) const fn next_sample(&self) -> Option<Instant> {
        self.next_sample
    }

    /// Probes the paths if they are probed and it is time to.
    #[inline]
    pub(crate) fn sample(&mut self, now: Instant, socket: &mut Socket<'_>) {
        if self.next_sample.is_some_and(|at| at <= now) {
            self.take_sample(now, socket);
        }
    }

    #[inline(never)]
    fn take_sample(&mut self, now: Instant, socket: &mut Socket<'_>) {
        let Role::Sender(sender) = &mut self.role else { return };
        let Some(interval) = sender.config().sample_paths else { return };
        self.next_sample = Some(now.saturating_add(interval));
        socket.sample_paths(now, |sample| sender.report_mut().push_sample(sample));
    }
}

/// Hands what has come in of the flow to its receiver; `None` if the event is another.
#[expect(clippy::inline_always, reason = "it is no longer than a call, and nearly all events pass it")]
#[inline(always)]
fn take_in(
    receiver: &mut Receiver,
    now: Instant,
    event: &SocketEvent,
    socket: &mut Socket<'_>,
) -> Option<Reaction> {
    match event {
        SocketEvent::Bytes(bytes) => receiver.handle_bytes(now, bytes),
        SocketEvent::Message { stream, place, payload, .. } => {
            let journey = receiver.take_journey(*place);
            let ordered = (*place != MessagePlace::Unordered).then_some(*stream);
            receiver.handle_message(now, ordered, payload, journey);
        }
        SocketEvent::Arrived(arrival) => {
            if let Some(journey) = socket.journey() {
                receiver.note_arrival(arrival.clone(), journey);
            }
            return Some(Reaction::None);
        }
        SocketEvent::Abandoned(_)
        | SocketEvent::Sctp(_)
        | SocketEvent::Acknowledged(_)
        | SocketEvent::Connected { .. }
        | SocketEvent::Ended { .. }
        | SocketEvent::MessageFailed { .. }
        | SocketEvent::Path { .. }
        | SocketEvent::Restarted
        | SocketEvent::Transmitted { .. }
        | SocketEvent::Writable => return None,
    }
    Some(pause_while_busy(receiver, now, socket))
}

/// Has the transport hold back what comes while a receiver is busy with what it has read.
fn pause_while_busy(receiver: &Receiver, now: Instant, socket: &mut Socket<'_>) -> Reaction {
    if receiver.busy_until().is_none() {
        return Reaction::None;
    }
    socket.pause(now);
    Reaction::Serve
}

/// Lets a receiver go on that has been busy: it reads what it has in hand before it takes more.
fn serve_receiver(receiver: &mut Receiver, now: Instant, socket: &mut Socket<'_>) -> Served {
    match receiver.busy_until() {
        Some(until) if until <= now => {
            if !receiver.read_next(now) {
                socket.resume_for_one(now);
            }
            Served::Again
        }
        busy_until => Served::Idle(busy_until),
    }
}

/// Sends a message as one of the layer's.
#[inline(never)]
fn send_wrapped(
    below: &mut Below<dyn SendingLayer>,
    now: Instant,
    outgoing: OutgoingMessage,
    socket: &mut Socket<'_>,
) -> Offer {
    let Some(transmit) = below.layer.wrap(now, outgoing.stream, outgoing.payload) else {
        return Offer::Refused(format!("{} has no way to the destination", below.name));
    };
    let Transmit { stream, payload_protocol, octets, .. } = transmit;
    socket.send(now, OutgoingMessage { stream: stream.0, payload_protocol, payload: octets, ..outgoing })
}
