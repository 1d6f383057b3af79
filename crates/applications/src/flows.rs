//! Flows of a host: their ends, and what is remembered of them.

use slantpath_base::Seed;
use slantpath_host::{MessageReports, Peers, Reports, SocketId, TransportConfig};

use crate::adaptation::FlowAdaptation;
use crate::application::{Application, Host, Kind};
use crate::flow_end::FlowEnd;
use crate::receiver::{MessageRecords, ReceiverConfig};
use crate::record::{DeliveredMessage, Finality, ReceiverReport, SenderRecords, SenderReport};
use crate::sender::{Measurement, SenderConfig};
use crate::workload::workload_stream;

/// Host with ends of flows.
pub trait Flows {
    /// Adds a sending end. `seed` and `path` name the flow, from which its streams of chance derive.
    ///
    /// # Panics
    /// If its port is in use.
    fn add_sender(
        &mut self,
        transport: TransportConfig,
        config: SenderConfig,
        seed: Seed,
        path: &str,
    ) -> SocketId;

    /// Adds a receiving end for one peer, which listens from the start of the run.
    ///
    /// # Panics
    /// If its port is in use.
    fn add_receiver(
        &mut self,
        transport: TransportConfig,
        config: ReceiverConfig,
        seed: Seed,
        path: &str,
    ) -> SocketId;

    /// Report of the sender of a flow; `None` for any other socket.
    fn sender_report(&self, id: SocketId) -> Option<&SenderReport>;

    /// Report of the receiver of a flow; `None` for any other socket.
    fn receiver_report(&self, id: SocketId) -> Option<&ReceiverReport>;

    /// Takes records of the sender of a flow, which forgets them; `None` for a receiver. Nothing of the run changes.
    fn take_sender_records(&mut self, id: SocketId, finality: Finality) -> Option<SenderRecords>;

    /// Begins anew to look for the longest time without a delivery, as at the end of a warm-up.
    fn restart_gap(&mut self, id: SocketId);

    /// Takes the deliveries that the receiver of a flow has recorded and forgets; `None` for a sender.
    fn take_deliveries(&mut self, id: SocketId) -> Option<Vec<DeliveredMessage>>;
}

impl Flows for Host {
    fn add_sender(
        &mut self,
        transport: TransportConfig,
        config: SenderConfig,
        seed: Seed,
        path: &str,
    ) -> SocketId {
        let stream = seed.stream(&format!("{path}/sender/transport"));
        let reports = reports(&config);
        let flow = FlowEnd::sender(config, workload_stream(seed, path));
        self.add(transport, None, reports, stream, Application(Kind::Flow(Box::new(flow))))
    }

    fn add_receiver(
        &mut self,
        transport: TransportConfig,
        config: ReceiverConfig,
        seed: Seed,
        path: &str,
    ) -> SocketId {
        let stream = seed.stream(&format!("{path}/receiver/transport"));
        // With an adaptation layer, messages of SCTP are not those of the flow.
        let arrivals = config.records == MessageRecords::TimesAndJourneys
            && !matches!(config.adaptation, FlowAdaptation::Signalling(_));
        let reports = Reports { arrivals, ..Reports::default() };
        let flow = Kind::Flow(Box::new(FlowEnd::receiver(config)));
        self.add(transport, Some(Peers::One), reports, stream, Application(flow))
    }

    fn sender_report(&self, id: SocketId) -> Option<&SenderReport> {
        flow(self, id)?.sender_report()
    }

    fn receiver_report(&self, id: SocketId) -> Option<&ReceiverReport> {
        flow(self, id)?.receiver_report()
    }

    fn take_sender_records(&mut self, id: SocketId, finality: Finality) -> Option<SenderRecords> {
        flow_mut(self, id)?.take_sender_records(finality)
    }

    fn restart_gap(&mut self, id: SocketId) {
        if let Some(flow) = flow_mut(self, id) {
            flow.restart_gap();
        }
    }

    fn take_deliveries(&mut self, id: SocketId) -> Option<Vec<DeliveredMessage>> {
        flow_mut(self, id)?.take_deliveries()
    }
}

/// Events that a sender has the transport report.
fn reports(config: &SenderConfig) -> Reports {
    let messages = config.record_messages
        || config.record_timeline
        || matches!(config.measurement, Measurement::DelaysAndRetransmissions);
    Reports {
        messages: MessageReports::all_if(messages),
        timers: config.record_timeline,
        ..Reports::default()
    }
}

fn flow(host: &Host, id: SocketId) -> Option<&FlowEnd> {
    match &host.application(id)?.0 {
        Kind::Flow(flow) => Some(flow),
        _ => None,
    }
}

fn flow_mut(host: &mut Host, id: SocketId) -> Option<&mut FlowEnd> {
    match &mut host.application_mut(id)?.0.0 {
        Kind::Flow(flow) => Some(flow),
        _ => None,
    }
}
