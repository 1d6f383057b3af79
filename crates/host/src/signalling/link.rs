//! Level 2 of a link at both ends, of either kind.

use slantpath_base::{Instant, Seed};
use slantpath_sigtran::m2pa;
use slantpath_sigtran::transport::{AssociationId, Transmit, TransportInput};
use slantpath_ss7::link::{LinkIndication, LinkRequest};
use slantpath_ss7::mtp2::{self, Arrival};

use super::config::{Carrier, LinkConfig, LinkEnd, NetworkConfigError, Side};
use super::line::Line;

/// What one end of a link has counted, of either kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndCounters {
    /// Messages that MTP3 gave.
    pub given: u64,
    /// Of those, refused: the buffer was full, or the link out of service.
    pub refused: u64,
    /// Messages sent for the first time.
    pub sent: u64,
    /// Messages sent again: by MTP2 after an error, by M2PA after an outage. What SCTP repeats is not among them.
    pub repeated: u64,
    /// Messages given to MTP3.
    pub received: u64,
    /// Messages received and thrown away: known already, out of turn, or out of service.
    pub discarded: u64,
    /// Units that the line damaged; none for M2PA.
    pub errored: u64,
}

#[derive(Debug)]
pub(super) struct Link {
    pub(super) ends: [LinkEnd; 2],
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Association([Box<m2pa::Link>; 2]),
    Line(Box<(Line, [mtp2::Link; 2])>),
}

/// What an end wants.
#[derive(Debug)]
pub(super) enum Wanted {
    Indication(LinkIndication),
    /// On the association of a link of M2PA.
    Transmit(Transmit),
    Wait(Option<Instant>),
}

impl Link {
    pub(super) fn new(config: LinkConfig, number: usize, seed: Seed) -> Result<Self, NetworkConfigError> {
        let LinkConfig { name, ends, carrier } = config;
        let kind = match carrier {
            Carrier::Association(config) => {
                let association = AssociationId(u32::try_from(number).unwrap_or(u32::MAX));
                let end = || {
                    m2pa::Link::new(association, config.clone())
                        .map_err(|error| NetworkConfigError::M2pa { link: name.clone(), error })
                };
                Kind::Association([Box::new(end()?), Box::new(end()?)])
            }
            Carrier::Line(config) => {
                let end = || {
                    mtp2::Link::new(config.terminal.clone())
                        .map_err(|error| NetworkConfigError::Mtp2 { link: name.clone(), error })
                };
                let line = Line::new(&config, seed, &format!("signalling/links/{name}"));
                Kind::Line(Box::new((line, [end()?, end()?])))
            }
        };
        Ok(Self { ends, kind })
    }

    pub(super) fn request(&mut self, now: Instant, side: Side, request: LinkRequest) {
        match &mut self.kind {
            Kind::Association(ends) => ends[side as usize].handle_request(now, request),
            Kind::Line(line) => line.1[side as usize].request(now, request),
        }
    }

    pub(super) fn handle_transport(&mut self, now: Instant, side: Side, input: TransportInput) {
        if let Kind::Association(ends) = &mut self.kind {
            ends[side as usize].handle_transport(now, input);
        }
    }

    /// Reads what has come, and does what is due.
    pub(super) fn poll(&mut self, now: Instant, side: Side) -> Wanted {
        match &mut self.kind {
            Kind::Association(ends) => {
                let end = &mut ends[side as usize];
                loop {
                    match end.poll_output(now) {
                        m2pa::Output::Indication(indication) => return Wanted::Indication(indication),
                        m2pa::Output::Transmit(transmit) => return Wanted::Transmit(transmit),
                        m2pa::Output::Wait(Some(deadline)) if deadline <= now => end.handle_deadline(now),
                        m2pa::Output::Wait(deadline) => return Wanted::Wait(deadline),
                    }
                }
            }
            Kind::Line(line) => {
                let (line, ends) = &mut **line;
                let end = &mut ends[side as usize];
                while let Some(arrival) = line.poll_arrival(now, side) {
                    match arrival {
                        Arrival::Errored => end.handle_errored_unit(now),
                        Arrival::Unit(unit, repeats) => end.handle_unit(now, unit, repeats),
                    }
                }
                loop {
                    match end.poll_output(now) {
                        mtp2::Output::Indication(indication) => return Wanted::Indication(indication),
                        mtp2::Output::Transmit(transmission) => line.carry(side, transmission),
                        mtp2::Output::Wait(deadline) => return Wanted::Wait(deadline),
                    }
                }
            }
        }
    }

    /// When something next comes to an end by itself.
    pub(super) fn next_arrival(&self) -> Option<Instant> {
        match &self.kind {
            Kind::Association(_) => None,
            Kind::Line(line) => line.0.next_arrival(),
        }
    }

    /// The line breaks: its ends find no unit any more, and give it up when their monitors do. Says whether there is
    /// one that worked.
    pub(super) fn fail(&mut self, now: Instant) -> bool {
        match &mut self.kind {
            Kind::Line(line) if !line.0.is_broken() => {
                line.0.fail();
                line.1.iter_mut().for_each(|end| end.handle_units_lost(now));
                true
            }
            Kind::Association(_) | Kind::Line(_) => false,
        }
    }

    /// The line works again. Says whether there is one that did not.
    pub(super) fn restore(&mut self, now: Instant) -> bool {
        match &mut self.kind {
            Kind::Line(line) if line.0.is_broken() => {
                line.0.restore(now);
                true
            }
            Kind::Association(_) | Kind::Line(_) => false,
        }
    }

    /// What an end has refused or thrown away, by reason, and the name of its level 2.
    pub(super) fn discards(&self, side: Side) -> (&'static str, Vec<(&'static str, u64)>) {
        match &self.kind {
            Kind::Association(ends) => {
                let discarded = ends[side as usize].counters().discarded;
                let reasons = vec![
                    ("buffer-full", discarded.buffer_full),
                    ("flushed-received", discarded.flushed_received),
                    ("flushed-to-send", discarded.flushed_to_send),
                    ("held-at-failure", discarded.held_at_failure),
                    ("held-too-many", discarded.held_too_many),
                    ("malformed", discarded.malformed),
                    ("not-retrieved", discarded.not_retrieved),
                    ("out-of-sequence", discarded.out_of_sequence),
                    ("payload-protocol", discarded.payload_protocol),
                    ("request-ignored", discarded.request_ignored),
                    ("resynchronizing", discarded.resynchronizing),
                    ("status-ignored", discarded.status_ignored),
                    ("too-few-streams", discarded.too_few_streams),
                    ("too-long", discarded.too_long),
                    ("unsuitable-to-send", discarded.unsuitable_to_send),
                    ("user-data-out-of-service", discarded.user_data_out_of_service),
                    ("wrong-stream", discarded.wrong_stream),
                ];
                ("m2pa", reasons)
            }
            Kind::Line(line) => {
                let counters = line.1[side as usize].counters();
                let reasons = vec![
                    ("buffer-full", counters.refused_buffer_full),
                    ("flushed", counters.flushed),
                    ("not-in-service", counters.discarded_not_in_service),
                    ("out-of-sequence", counters.discarded_out_of_sequence),
                    ("out-of-service-to-send", counters.refused_out_of_service),
                    ("repeated", counters.discarded_repeated),
                ];
                ("mtp2", reasons)
            }
        }
    }

    pub(super) fn counters(&self, side: Side) -> EndCounters {
        match &self.kind {
            Kind::Association(ends) => {
                let counters = ends[side as usize].counters();
                let discarded = counters.discarded;
                let refused = discarded.buffer_full + discarded.unsuitable_to_send;
                EndCounters {
                    given: counters.accepted + refused,
                    refused,
                    sent: counters.sent - counters.sent_again,
                    repeated: counters.sent_again,
                    received: counters.delivered,
                    discarded: discarded.out_of_sequence
                        + discarded.user_data_out_of_service
                        + discarded.held_at_failure
                        + discarded.held_too_many
                        + discarded.flushed_received
                        + discarded.resynchronizing
                        + discarded.too_long,
                    errored: 0,
                }
            }
            Kind::Line(line) => {
                let counters = line.1[side as usize].counters();
                EndCounters {
                    given: counters.messages_given,
                    refused: counters.refused_buffer_full + counters.refused_out_of_service,
                    sent: counters.messages_sent,
                    repeated: counters.messages_repeated,
                    received: counters.messages_received,
                    discarded: counters.discarded_repeated
                        + counters.discarded_out_of_sequence
                        + counters.discarded_not_in_service,
                    errored: counters.errored_units,
                }
            }
        }
    }
}
