//! Level 2 of a link at one end, of either kind.

use slantpath_base::{Duration, Instant};
use slantpath_sigtran::m2pa;
use slantpath_sigtran::transport::{AssociationNumber, Transmit, TransportInput};
use slantpath_ss7::link::{LinkIndication, LinkRequest};
use slantpath_ss7::mtp2::{self, Arrival};

/// Carrier of a link, with the settings of its level 2.
#[derive(Clone, Debug, PartialEq)]
pub enum Level2Config {
    /// An association, with M2PA.
    Association(AssociationNumber, m2pa::LinkConfig),
    /// A line, with MTP2.
    Line(mtp2::Config),
}

/// Inputs that a line brings to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineInput {
    /// A unit, good or damaged.
    Arrival(Arrival),
    /// No unit can be delimited any more.
    UnitsLost,
}

/// Counts of one end of a link, of either kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndCounters {
    /// Messages that MTP3 gave.
    pub given: u64,
    /// Of those, refused: the buffer was full, or the link out of service.
    pub refused: u64,
    /// Messages sent for the first time.
    pub sent: u64,
    /// Messages retransmitted: by MTP2 after an error, by M2PA after an outage. What SCTP repeats is not among them.
    pub repeated: u64,
    /// Messages that the far end is known to have taken.
    pub acknowledged: u64,
    /// From when MTP3 gave these until that was known, all together.
    pub acknowledged_after: Duration,
    /// Messages given to MTP3.
    pub received: u64,
    /// Messages received and thrown away: known already, out of turn, or out of service.
    pub discarded: u64,
    /// Units that the line damaged; none for M2PA.
    pub errored: u64,
}

/// One end of a link.
#[derive(Debug)]
pub(crate) enum Level2 {
    M2pa(Box<m2pa::Link>),
    Mtp2(Box<mtp2::Link>),
}

/// Requests of an end of a link to its point.
#[derive(Debug)]
pub(crate) enum Level2Output {
    /// For MTP3.
    Indication(LinkIndication),
    /// On the association of a link of M2PA.
    Transmit(Transmit),
    /// On the line of a link of MTP2.
    Unit(mtp2::Transmission),
    /// Nothing until then, or until something comes.
    Wait(Option<Instant>),
}

impl Level2 {
    pub(crate) fn request(&mut self, now: Instant, request: LinkRequest) {
        match self {
            Self::M2pa(link) => link.handle_request(now, request),
            Self::Mtp2(link) => link.request(now, request),
        }
    }

    /// # Panics
    /// If a line carries the link.
    pub(crate) fn handle_transport(&mut self, now: Instant, input: TransportInput) {
        match self {
            Self::M2pa(link) => link.handle_transport(now, input),
            Self::Mtp2(_) => panic!("a link on a line has no association"),
        }
    }

    /// # Panics
    /// If an association carries the link.
    pub(crate) fn handle_line(&mut self, now: Instant, input: LineInput) {
        let Self::Mtp2(link) = self else { panic!("a link on an association has no line") };
        match input {
            LineInput::Arrival(Arrival::Errored) => link.handle_errored_unit(now),
            LineInput::Arrival(Arrival::Unit(unit, repeats)) => link.handle_unit(now, unit, repeats),
            LineInput::UnitsLost => link.handle_units_lost(now),
        }
    }

    /// Does what is due, and says what to do next.
    pub(crate) fn poll_output(&mut self, now: Instant) -> Level2Output {
        match self {
            Self::M2pa(link) => loop {
                match link.poll_output(now) {
                    m2pa::Output::Indication(indication) => return Level2Output::Indication(indication),
                    m2pa::Output::Transmit(transmit) => return Level2Output::Transmit(transmit),
                    m2pa::Output::Wait(Some(deadline)) if deadline <= now => link.handle_deadline(now),
                    m2pa::Output::Wait(deadline) => return Level2Output::Wait(deadline),
                }
            },
            Self::Mtp2(link) => match link.poll_output(now) {
                mtp2::Output::Indication(indication) => Level2Output::Indication(indication),
                mtp2::Output::Transmit(transmission) => Level2Output::Unit(transmission),
                mtp2::Output::Wait(deadline) => Level2Output::Wait(deadline),
            },
        }
    }

    /// Messages that wait or are not acknowledged.
    pub(crate) fn queued(&self) -> usize {
        match self {
            Self::M2pa(link) => link.to_send(),
            Self::Mtp2(link) => link.queued(),
        }
    }

    pub(crate) fn counters(&self) -> EndCounters {
        match self {
            Self::M2pa(link) => {
                let counters = link.counters();
                let discarded = counters.discarded;
                let refused = discarded.buffer_full + discarded.queue_full + discarded.unsuitable_to_send;
                EndCounters {
                    given: counters.accepted + refused,
                    refused,
                    sent: counters.sent - counters.sent_again,
                    repeated: counters.sent_again,
                    acknowledged: counters.acknowledged,
                    acknowledged_after: link.acknowledged_after(),
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
            Self::Mtp2(link) => {
                let counters = link.counters();
                EndCounters {
                    given: counters.messages_given,
                    refused: counters.refused_buffer_full + counters.refused_out_of_service,
                    sent: counters.messages_sent,
                    repeated: counters.messages_repeated,
                    acknowledged: counters.messages_acknowledged,
                    acknowledged_after: counters.acknowledged_after,
                    received: counters.messages_received,
                    discarded: counters.discarded_repeated
                        + counters.discarded_out_of_sequence
                        + counters.discarded_not_in_service,
                    errored: counters.errored_units,
                }
            }
        }
    }

    /// Gives the counts of what was refused or discarded, by reason, and the name of this level 2.
    pub(crate) fn discards(&self) -> (&'static str, Vec<(&'static str, u64)>) {
        match self {
            Self::M2pa(link) => {
                let discarded = link.counters().discarded;
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
                    ("queue-full", discarded.queue_full),
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
            Self::Mtp2(link) => {
                let counters = link.counters();
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
}
