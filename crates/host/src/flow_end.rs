//! One end of a flow: a transport and the application on top of it.

use std::net::IpAddr;

use slantpath_base::{Instant, Stream};
use slantpath_sigtran::transport::{Transmit, TransportInput};
use slantpath_wire::Packet;

use crate::m3ua::{self, ReceivingM3ua, ReceivingStep, SendingM3ua, SendingStep};
use crate::receiver::{Receiver, ReceiverConfig};
use crate::record::{DeliveredMessage, Finality, ReceiverReport, SenderRecords, SenderReport};
use crate::sender::{Offer, Outgoing, Sender, SenderConfig, Want};
use crate::transport::{
    Adaptation, Output, Segment, SegmentReport, Traces, Transport, TransportConfig, TransportEvent,
};

#[derive(Debug)]
enum Application {
    Receiver(Box<Receiver>),
    Sender(Box<Sender>),
}

/// What lies between the transport and the application.
#[derive(Debug)]
enum Layer {
    None,
    Receiving(Box<ReceivingM3ua>),
    Sending(Box<SendingM3ua>),
}

#[derive(Debug)]
pub(crate) struct FlowEnd {
    transport: Transport,
    layer: Layer,
    application: Application,
    /// When the transport or the application wants to be called next.
    deadline: Option<Instant>,
    /// When the paths may be sampled next, if they are probed.
    next_sample: Option<Instant>,
}

impl FlowEnd {
    pub(crate) fn sender(transport: TransportConfig, config: SenderConfig, streams: [Stream; 2]) -> Self {
        let [transport_stream, stream] = streams;
        let traces = Traces {
            messages: config.record_messages || config.record_timeline,
            timers: config.record_timeline,
        };
        let layer = match transport.adaptation {
            Adaptation::M3ua => Layer::Sending(Box::new(SendingM3ua::new())),
            Adaptation::None => Layer::None,
        };
        let transport = Transport::new(transport, transport_stream, traces);
        let next_sample = config.sample_paths.map(|_| Instant::START);
        let application = Application::Sender(Box::new(Sender::new(config, stream)));
        Self { transport, layer, application, deadline: None, next_sample }
    }

    pub(crate) fn receiver(transport: TransportConfig, config: ReceiverConfig, stream: Stream) -> Self {
        let layer = match transport.adaptation {
            Adaptation::M3ua => Layer::Receiving(Box::new(ReceivingM3ua::new())),
            Adaptation::None => Layer::None,
        };
        let mut transport = Transport::new(transport, stream, Traces::default());
        transport.listen();
        let application = Application::Receiver(Box::new(Receiver::new(config)));
        Self { transport, layer, application, deadline: None, next_sample: None }
    }

    pub(crate) const fn protocol(&self) -> u8 {
        self.transport.protocol()
    }

    pub(crate) const fn port(&self) -> u16 {
        self.transport.port()
    }

    pub(crate) const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    pub(crate) fn sender_report(&self) -> Option<&SenderReport> {
        match &self.application {
            Application::Sender(sender) => Some(sender.report()),
            Application::Receiver(_) => None,
        }
    }

    pub(crate) fn receiver_report(&self) -> Option<&ReceiverReport> {
        match &self.application {
            Application::Sender(_) => None,
            Application::Receiver(receiver) => Some(receiver.report()),
        }
    }

    pub(crate) fn take_sender_records(&mut self, finality: Finality) -> Option<SenderRecords> {
        match &mut self.application {
            Application::Sender(sender) => Some(sender.take_records(finality)),
            Application::Receiver(_) => None,
        }
    }

    pub(crate) fn take_deliveries(&mut self) -> Option<Vec<DeliveredMessage>> {
        match &mut self.application {
            Application::Sender(_) => None,
            Application::Receiver(receiver) => Some(receiver.take_deliveries()),
        }
    }

    #[inline]
    pub(crate) fn handle_packet(
        &mut self,
        now: Instant,
        source: IpAddr,
        destination: IpAddr,
        packet: Packet,
    ) {
        self.transport.handle_packet(now, source, destination, packet);
    }

    pub(crate) fn handle_report(&mut self, now: Instant, report: SegmentReport) {
        self.transport.handle_report(now, report);
    }

    pub(crate) fn handle_deadline(&mut self, now: Instant) {
        self.transport.handle_deadline(now);
        match &mut self.layer {
            Layer::None => {}
            Layer::Receiving(m3ua) => m3ua.handle_timeout(now),
            Layer::Sending(m3ua) => m3ua.handle_timeout(now),
        }
    }

    /// The next segment to send; events go up to the application, and what it wants comes down, on the way.
    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        loop {
            match self.transport.poll_output(now) {
                Output::Transmit(segment) => return Some(segment),
                Output::Event(event) => self.handle_event(now, event),
                Output::Wait(transport_deadline) => match self.serve(now) {
                    Served::Again => {}
                    Served::Idle(application_deadline) => {
                        self.deadline = earlier(transport_deadline, application_deadline);
                        self.sample(now);
                        return None;
                    }
                },
            }
        }
    }

    fn handle_event(&mut self, now: Instant, event: TransportEvent) {
        let Some(event) = self.adapt(now, event) else { return };
        match &mut self.application {
            Application::Sender(sender) => match event {
                TransportEvent::Acknowledged(part) => sender.handle_acknowledged(part),
                TransportEvent::Connected { paths, .. } => {
                    sender.report_mut().paths = paths;
                    sender.handle_connected(now);
                }
                TransportEvent::Transmitted { sent, path, again } => {
                    sender.handle_transmitted(now, &sent, path, again);
                }
                TransportEvent::Path { path, kind } => sender.handle_path_event(now, path, kind),
                TransportEvent::Writable => sender.handle_writable(),
                TransportEvent::MessageFailed => sender.report_mut().messages_failed += 1,
                TransportEvent::Ended { failure } => sender.handle_ended(now, failure),
                // Flows are one-way: a receiver sends nothing back.
                TransportEvent::Bytes(_) | TransportEvent::Message { .. } => {}
            },
            Application::Receiver(receiver) => match event {
                TransportEvent::Bytes(bytes) => receiver.handle_bytes(now, &bytes),
                TransportEvent::Message { stream, payload, .. } => {
                    receiver.handle_message(now, stream, &payload);
                }
                TransportEvent::Ended { failure } => {
                    receiver.handle_ended(now, failure.unwrap_or_else(|| "closed".to_owned()));
                }
                TransportEvent::Acknowledged(_)
                | TransportEvent::Connected { .. }
                | TransportEvent::MessageFailed
                | TransportEvent::Path { .. }
                | TransportEvent::Transmitted { .. }
                | TransportEvent::Writable => {}
            },
        }
    }

    /// Lets the adaptation layer see an event first; gives what is for the application.
    fn adapt(&mut self, now: Instant, event: TransportEvent) -> Option<TransportEvent> {
        let input = match (&self.layer, event) {
            (Layer::None, event) => return Some(event),
            (_, TransportEvent::Connected { paths, outbound_streams }) => {
                if let Application::Sender(sender) = &mut self.application {
                    sender.report_mut().paths = paths;
                }
                TransportInput::Up { outbound_streams }
            }
            (_, TransportEvent::Message { stream, payload_protocol, payload }) => {
                m3ua::received(stream, payload_protocol, payload)
            }
            (_, event) => return Some(event),
        };
        match &mut self.layer {
            Layer::None => {}
            Layer::Receiving(m3ua) => m3ua.handle_input(now, input),
            Layer::Sending(m3ua) => m3ua.handle_input(now, input),
        }
        None
    }

    /// Does the next thing that the adaptation layer wants.
    fn serve_layer(&mut self, now: Instant) -> Served {
        let transmit = match (&mut self.layer, &mut self.application) {
            (Layer::Receiving(m3ua), Application::Receiver(receiver)) => match m3ua.poll(now) {
                ReceivingStep::Deliver(selection, payload) => {
                    receiver.handle_message(now, selection, &payload);
                    return Served::Again;
                }
                ReceivingStep::Transmit(transmit) => transmit,
                ReceivingStep::Wait(deadline) => return Served::Idle(deadline),
            },
            (Layer::Sending(m3ua), Application::Sender(sender)) => match m3ua.poll(now) {
                SendingStep::Active => {
                    sender.handle_connected(now);
                    return Served::Again;
                }
                SendingStep::Stopped => {
                    sender.handle_ended(now, Some("M3UA: the traffic was stopped".to_owned()));
                    return Served::Again;
                }
                SendingStep::Transmit(transmit) => transmit,
                SendingStep::Wait(deadline) => return Served::Idle(deadline),
            },
            _ => return Served::Idle(None),
        };
        let Transmit { stream, payload_protocol, octets, .. } = transmit;
        if let Offer::Refused(reason) =
            self.transport.send_management(now, stream.0, payload_protocol, octets)
            && let Application::Sender(sender) = &mut self.application
        {
            sender.handle_ended(now, Some(format!("M3UA: {reason}")));
        }
        Served::Again
    }

    /// Does the next thing that the adaptation layer or the application wants of the transport.
    fn serve(&mut self, now: Instant) -> Served {
        match self.serve_layer(now) {
            Served::Again => Served::Again,
            Served::Idle(layer_deadline) => match self.serve_application(now) {
                Served::Again => Served::Again,
                Served::Idle(deadline) => Served::Idle(earlier(layer_deadline, deadline)),
            },
        }
    }

    fn serve_application(&mut self, now: Instant) -> Served {
        let Application::Sender(sender) = &mut self.application else { return Served::Idle(None) };
        match sender.want(now) {
            Want::Connect => {
                if let Err(failure) = self.transport.connect(now) {
                    sender.handle_ended(now, Some(failure));
                }
            }
            Want::Close => self.transport.close(now),
            Want::Send(outgoing) => {
                let size = outgoing.payload.len();
                let offer = match &mut self.layer {
                    Layer::Sending(m3ua) => match wrapped(m3ua, now, outgoing) {
                        Some(outgoing) => self.transport.send(now, outgoing),
                        None => Offer::Refused("M3UA has no way to the destination".to_owned()),
                    },
                    Layer::None | Layer::Receiving(_) => self.transport.send(now, outgoing),
                };
                sender.offered(now, size, offer);
            }
            Want::Wait(deadline) => return Served::Idle(deadline),
        }
        Served::Again
    }

    /// Probes the paths if they are probed and it is time to.
    fn sample(&mut self, now: Instant) {
        let Application::Sender(sender) = &mut self.application else { return };
        let (Some(at), Some(interval)) = (self.next_sample, sender.config().sample_paths) else { return };
        if at > now {
            return;
        }
        self.next_sample = Some(now.saturating_add(interval));
        self.transport.sample_paths(now, |sample| sender.report_mut().push_sample(sample));
    }
}

/// An MSU as a message of M3UA.
fn wrapped(m3ua: &mut SendingM3ua, now: Instant, outgoing: Outgoing) -> Option<Outgoing> {
    let Transmit { stream, payload_protocol, octets, .. } =
        m3ua.wrap(now, outgoing.stream, outgoing.payload)?;
    Some(Outgoing { stream: stream.0, payload_protocol, payload: octets, ..outgoing })
}

enum Served {
    /// The transport has been told something: drain it again.
    Again,
    /// Nothing to do until this time, or until an event.
    Idle(Option<Instant>),
}

/// The earlier of two deadlines, where none is later than all.
fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
