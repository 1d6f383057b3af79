//! The link: what MTP3 drives from above and an association from below.

mod machines;
mod receive;
mod request;

use std::collections::VecDeque;

use bytes::Bytes;
use slantpath_base::{Duration, Instant, TimerTable};
use slantpath_ss7::link::LinkIndication;
use slantpath_ss7::mtp3::Fsn;

use crate::m2pa::reception::Reception;
use crate::m2pa::transmission::{Sending, Transmission};
use crate::m2pa::{
    AlignmentInput, AlignmentState, Body, ConfigError, Counters, LinkConfig, LinkInput, LinkState,
    LinkStatus, Message, OutageState, PAYLOAD_PROTOCOL, Priority, SequenceNumber, T7From, UserData,
};
use crate::transport::{AssociationNumber, StreamNumber, Transmit, TransportInput};
use slantpath_ss7::link::OutOfServiceReason;

/// A signalling link of M2PA.
///
/// Give it what happens (`handle_*`), then call [`Link::poll_output`] until it says [`Output::Wait`]. It keeps no more
/// than `buffer_max` messages to send and `held_max` received ones.
#[derive(Clone, Debug)]
pub struct Link {
    association: AssociationNumber,
    config: LinkConfig,
    state: LinkState,
    alignment: AlignmentState,
    outage: OutageState,
    timers: TimerTable<TIMERS>,
    level3: Level3,
    /// Proving period in use.
    period: Period,
    /// Indication to MTP3 that the link is in service: given or not.
    service: Service,
    /// State of the peer's receiver, as the peer has said.
    peer: Flow,
    /// State of the association's send buffer, as the association has said. While that is full, messages stay in
    /// `transmission`: they count for congestion, and changeover gets them as never sent.
    transport: Flow,
    /// State of our own receiver, as the driver has said; the next field is the state that the peer has been told.
    receiver: Flow,
    receiver_signalled: Flow,
    earlier_life: EarlierLife,
    /// Word of MTP3 since the peer's last outage began, without which nothing may be sent.
    sending: GoAhead,
    /// Word of MTP3 since our own last outage began, without which nothing may be delivered.
    delivering: GoAhead,
    transmission: Transmission,
    reception: Reception,
    /// From when on T7 counts, for messages sent before: when the link came into service or the peer became free.
    acknowledgements_due_from: Instant,
    /// Number of proving messages that were sent, so that each has another filler.
    proved: u64,
    outputs: VecDeque<Output>,
    counters: Counters,
}

/// Requests of a link to its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Tell MTP3.
    Indication(LinkIndication),
    /// Send on the association, in order on its stream, before what waits on streams of higher number.
    Transmit(Transmit),
    /// Nothing until then, or until something happens.
    Wait(Option<Instant>),
}

/// Requests of MTP3 that hold until the link is out of service.
#[derive(Clone, Copy, Debug)]
struct Level3 {
    period: Period,
    processor: Processor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Processor {
    Out,
    Working,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Period {
    Emergency,
    Normal,
}

/// Possibility that link statuses which the peer sent before the link was last out of service still arrive: until its
/// Out of Service has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EarlierLife {
    MayArrive,
    Over,
}

/// Word of MTP3, by Continue or by Flush, how to go on after an outage. Until then level 2 cannot know whether newer
/// messages have gone another way, behind which the queued ones would come late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GoAhead {
    Awaited,
    Given,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    Indicated,
    NotIndicated,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Congested,
    Free,
}

impl Link {
    /// A link that is not associated yet.
    pub fn new(association: AssociationNumber, config: LinkConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            association,
            config,
            state: LinkState::NotAssociated,
            alignment: AlignmentState::Idle,
            outage: OutageState::NoOutage,
            timers: TimerTable::default(),
            level3: Level3 { period: Period::Normal, processor: Processor::Working },
            period: Period::Normal,
            service: Service::NotIndicated,
            peer: Flow::Free,
            transport: Flow::Free,
            receiver: Flow::Free,
            receiver_signalled: Flow::Free,
            earlier_life: EarlierLife::Over,
            sending: GoAhead::Given,
            delivering: GoAhead::Given,
            transmission: Transmission::new(),
            reception: Reception::new(),
            acknowledgements_due_from: Instant::START,
            proved: 0,
            outputs: VecDeque::new(),
            counters: Counters::default(),
        })
    }

    /// Gives the association that carries the link.
    pub const fn association(&self) -> AssociationNumber {
        self.association
    }

    /// Gives the state of link state control.
    pub const fn state(&self) -> LinkState {
        self.state
    }

    /// Gives the state of alignment control.
    pub const fn alignment_state(&self) -> AlignmentState {
        self.alignment
    }

    /// Whose level 3 cannot be served.
    pub const fn outage_state(&self) -> OutageState {
        self.outage
    }

    /// Gives the counts of the messages that it has sent, taken and discarded.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// From when MTP3 gave the MSUs that the peer has [taken](Counters::acknowledged) until that was known, all
    /// together.
    pub const fn acknowledged_after(&self) -> Duration {
        self.transmission.acknowledged_after()
    }

    /// MSUs that wait or are unacknowledged.
    pub fn to_send(&self) -> usize {
        self.transmission.len()
    }

    /// MSUs that were received and are held until an outage or congestion ends.
    pub fn held(&self) -> usize {
        self.reception.held()
    }

    /// The association has something to tell.
    pub fn handle_transport(&mut self, now: Instant, input: TransportInput) {
        match input {
            TransportInput::Congested(is_congested) => {
                self.transport = if is_congested { Flow::Congested } else { Flow::Free };
            }
            TransportInput::Transmitted(fsn) => {
                if let Some(fsn) = SequenceNumber::new(fsn) {
                    self.transmission.note_transmitted(now, fsn);
                }
            }
            TransportInput::Down => self.lose_association(now),
            TransportInput::Message { stream, payload_protocol, octets } => {
                self.receive(now, stream, payload_protocol, &octets);
            }
            // The peer has begun anew and remembers nothing: for the link that is a loss and a new association.
            TransportInput::Restart => {
                self.lose_association(now);
                self.associate(now);
            }
            //= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.2
            //# The association SHALL contain two streams in each direction.
            TransportInput::Up { outbound_streams } if outbound_streams < STREAMS => {
                self.counters.discarded.too_few_streams += 1;
                self.lose_association(now);
            }
            TransportInput::Up { .. } => self.associate(now),
            // The link has kept it, as all that is not acknowledged: what was sent of that is in doubt.
            TransportInput::Unsent(octets) => {
                if let Ok(Message { fsn, body: Body::UserData(_), .. }) = Message::parse(&octets) {
                    self.transmission.take_back(fsn);
                }
            }
        }
        self.settle(now);
    }

    fn associate(&mut self, now: Instant) {
        self.earlier_life = EarlierLife::Over;
        self.drive_link(now, LinkInput::AssociationUp, OutOfServiceReason::BearerFailed);
    }

    fn lose_association(&mut self, now: Instant) {
        self.transport = Flow::Free;
        self.drive_link(now, LinkInput::AssociationLost, OutOfServiceReason::BearerFailed);
    }

    /// Our own receiver becomes congested, or no more (Q.703, section 9). What comes meanwhile is held, and not
    /// acknowledged.
    pub fn handle_receive_congestion(&mut self, now: Instant, is_congested: bool) {
        self.receiver = if is_congested { Flow::Congested } else { Flow::Free };
        self.settle(now);
    }

    /// The time that [`Output::Wait`] asked for has come.
    pub fn handle_deadline(&mut self, now: Instant) {
        while let Some(timer) = self.timers.take_expired(now) {
            self.expire(now, timer);
            self.settle(now);
        }
    }

    fn expire(&mut self, now: Instant, timer: usize) {
        let input = match timer {
            T5 => return self.send_busy(now),
            T1 => (LinkInput::T1Expired, OutOfServiceReason::PeerNotReady),
            T6 => (LinkInput::LinkFailure, OutOfServiceReason::PeerBusy),
            //= https://www.rfc-editor.org/rfc/rfc4165#section-4.2.1
            //# If any message is
            //# unacknowledged after a period equal to the T7 value, the T7 timer
            //# SHALL expire.
            T7 => (LinkInput::LinkFailure, OutOfServiceReason::AcknowledgementTimeout),
            _ => {
                let input = match timer {
                    T2 => AlignmentInput::T2Expired,
                    T3 => AlignmentInput::T3Expired,
                    T4 => AlignmentInput::T4Expired,
                    _ => AlignmentInput::ProvingIntervalOver,
                };
                self.drive_alignment(now, input);
                return;
            }
        };
        self.drive_link(now, input.0, input.1);
    }

    /// Gives the next output.
    //= https://www.rfc-editor.org/rfc/rfc4165#section-4.2.1
    //# When there is a message to acknowledge, M2PA MUST acknowledge the
    //# message with the next User Data message sent.  If there is no User
    //# Data message available to be sent when there is a message to
    //# acknowledge, M2PA SHOULD generate and send a User Data message with
    //# no data payload, without delay.
    pub fn poll_output(&mut self, now: Instant) -> Output {
        if let Some(output) = self.outputs.pop_front() {
            return output;
        }
        if self.may_send_user_data()
            && let Some(Sending { fsn, msu, is_again }) =
                self.transmission.send_next(now, self.config.outstanding_max)
        {
            self.counters.sent += 1;
            self.counters.sent_again += u64::from(is_again);
            self.reception.acknowledged();
            self.set_t7();
            let body = Body::UserData(UserData { priority: Priority::default(), msu });
            let bsn = self.reception.backward();
            let mut transmit = self.transmit(USER_DATA_STREAM, &Message { bsn, fsn, body });
            if self.config.t7_from == T7From::FirstTransmission {
                transmit.report = Some(Fsn::from(fsn).0);
            }
            return Output::Transmit(transmit);
        }
        if self.reception.owes_acknowledgement() && self.may_acknowledge() {
            self.reception.acknowledged();
            let message = self.message(Body::Acknowledgement);
            return Output::Transmit(self.transmit(USER_DATA_STREAM, &message));
        }
        Output::Wait(self.timers.next_deadline())
    }

    //= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.5
    //# The peer M2PA SHOULD continue receiving and acknowledging messages
    //# while the other end is busy, but MUST NOT send User Data messages
    //# after receiving Link Status Busy and before receiving Link Status
    //# Busy Ended.
    fn may_send_user_data(&self) -> bool {
        let is_allowed = match self.state {
            //= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.3
            //# In the case that MTP2 sends an MSU or SIPO message at the end of
            //# proving, M2PA SHALL send (respectively) a User Data or Link Status
            //# Processor Outage message.
            LinkState::AlignedReady | LinkState::InService => true,
            //= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.4
            //# (c) M2PA SHOULD continue to transmit messages that have been sent
            //# by its upper layer MTP3.
            LinkState::ProcessorOutage => {
                self.outage == OutageState::LocalOutage && self.sending == GoAhead::Given
            }
            _ => false,
        };
        is_allowed && self.peer == Flow::Free && self.transport == Flow::Free
    }

    /// An acknowledgement that has to wait for the association loses nothing: the next message that goes
    /// acknowledges all that came meanwhile.
    fn may_acknowledge(&self) -> bool {
        self.carries_messages() && !self.outage.is_recovering() && self.transport == Flow::Free
    }

    /// Tells whether the link is in service, but for a processor outage.
    fn carries_messages(&self) -> bool {
        matches!(self.state, LinkState::InService | LinkState::ProcessorOutage)
    }

    /// Tells whether retrieval is possible, which would be wrong while messages may still come or go.
    fn is_out_of_service(&self) -> bool {
        matches!(
            self.state,
            LinkState::NotAssociated | LinkState::OutOfService | LinkState::StartAwaitsAssociation
        )
    }

    /// Brings in line what follows from what has just happened.
    fn settle(&mut self, now: Instant) {
        self.settle_local_outage(now);
        self.settle_receive_congestion(now);
        if let Some(status) = self.transmission.new_congestion_status(&self.config.congestion) {
            self.indicate(LinkIndication::Congestion(status));
        }
        self.set_t7();
    }

    /// T7 runs for the oldest message, but not while the peer cannot acknowledge.
    fn set_t7(&mut self) {
        let runs = self.carries_messages() && self.peer == Flow::Free && !self.outage.is_remote();
        match self.transmission.unacknowledged_from(self.config.t7_from) {
            Some(from) if runs => {
                let from = from.max(self.acknowledgements_due_from);
                self.timers.start(T7, from.saturating_add(self.config.timers.t7));
            }
            _ => self.timers.stop(T7),
        }
    }

    fn indicate(&mut self, indication: LinkIndication) {
        self.outputs.push_back(Output::Indication(indication));
    }

    /// A message that is not User Data with data.
    //= https://www.rfc-editor.org/rfc/rfc4165#section-4.2.1
    //# For message types other than User Data, the Forward Sequence Number
    //# is set to the FSN of the last User Data message sent.
    fn message(&self, body: Body) -> Message {
        Message { bsn: self.reception.backward(), fsn: self.transmission.last_sent(), body }
    }

    fn send_status(&mut self, stream: StreamNumber, status: LinkStatus) {
        let message = self.message(Body::LinkStatus(status));
        let transmit = self.transmit(stream, &message);
        self.outputs.push_back(Output::Transmit(transmit));
    }

    fn transmit(&self, stream: StreamNumber, message: &Message) -> Transmit {
        let mut octets = Vec::with_capacity(message.emitted_len());
        message.emit(&mut octets);
        let octets = Bytes::from(octets);
        Transmit {
            association: self.association,
            stream,
            payload_protocol: PAYLOAD_PROTOCOL,
            report: None,
            octets,
        }
    }
}

//= https://www.rfc-editor.org/rfc/rfc4165#section-1.7.3
//# M2PA uses two streams in each direction for each association.
const STREAMS: u16 = 2;
const LINK_STATUS_STREAM: StreamNumber = StreamNumber(0);
const USER_DATA_STREAM: StreamNumber = StreamNumber(1);

const T1: usize = 0;
const T2: usize = 1;
const T3: usize = 2;
const T4: usize = 3;
const T5: usize = 4;
const T6: usize = 5;
const T7: usize = 6;
const PROVING_INTERVAL: usize = 7;
const TIMERS: usize = 8;
