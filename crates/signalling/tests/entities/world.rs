//! Points, processes, and lines and associations of a constant delay between them.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_signalling::{
    Level2Config, LineInput, LinkEndConfig, M3uaEventKind, ManagementRequest, PointConfig, PointEventKind,
    PointInput, PointOutput, ScreenedCopy, ScreeningConfig, ServerProcess, ServerProcessInput,
    ServerProcessOutput, SignallingPoint,
};
use slantpath_sigtran::m2pa;
use slantpath_sigtran::transport::{AssociationNumber, TransportInput};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp2::{self, Bearer};
use slantpath_ss7::mtp3::node::{self, LinkSetConfig, Mtp3LinkId, Procedure, SequenceNumbers};
use slantpath_ss7::mtp3::{RoutingLabel, ServiceIndicator, ServiceInformation, Slc, Sls};
use slantpath_ss7::transfer::{Transfer, TransferIndication};

pub(crate) const DELAY: Duration = Duration::from_millis(10);

/// Carrier of a link of a point.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By {
    Association(u32),
    Line,
}

/// A point with a link set of these links to one other, without the restart procedure.
pub(crate) fn point(code: u32, adjacent: u32, links: &[By]) -> PointConfig {
    let mut mtp3 = node::Config::new(&format!("point-{code}"), PointCode(code));
    mtp3.restart = Procedure::Omitted;
    let link = |(slc, by): (u8, &By)| {
        let sequence = match by {
            By::Association(_) => SequenceNumbers::Bits24,
            By::Line => SequenceNumbers::Bits7,
        };
        node::LinkConfig { name: format!("link-{slc}"), slc: Slc(slc), sequence }
    };
    mtp3.link_sets.push(LinkSetConfig {
        name: format!("to-{adjacent}"),
        adjacent: PointCode(adjacent),
        links: (0..).zip(links).map(link).collect(),
    });
    let end = |(link, by): (u16, &By)| {
        let level2 = match by {
            By::Association(id) => {
                Level2Config::Association(AssociationNumber(*id), m2pa::LinkConfig::default())
            }
            By::Line => Level2Config::Line(mtp2::Config::default()),
        };
        LinkEndConfig { link: Mtp3LinkId(link), level2 }
    };
    let links = (0..).zip(links).map(end).collect();
    PointConfig {
        mtp3,
        sccp: None,
        processor: None,
        links,
        gateway: None,
        screening: ScreeningConfig::default(),
    }
}

pub(crate) fn transfer(from: u32, to: u32, sls: u8, number: u32) -> Transfer {
    Transfer {
        service: ServiceInformation {
            indicator: ServiceIndicator::ISUP,
            ..ServiceInformation::from_octet(0)
        },
        label: RoutingLabel { dpc: PointCode(to), opc: PointCode(from), sls: Sls(sls) },
        user_data: Bytes::copy_from_slice(&number.to_be_bytes()),
    }
}

/// Points 0 and 1 have the ends of all lines, by the same numbers of MTP3; an association has the ends that the
/// test has named.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) now: Instant,
    pub(crate) points: Vec<SignallingPoint>,
    pub(crate) processes: Vec<ServerProcess>,
    /// By line and sending point.
    bearers: BTreeMap<(Mtp3LinkId, usize), Bearer>,
    /// Both ends of each association.
    associations: BTreeMap<AssociationNumber, [Holder; 2]>,
    under_way: VecDeque<(Instant, Holder, AssociationNumber, TransportInput)>,
    /// Numbers of messages that came to user parts, by who has them and selection.
    pub(crate) delivered: BTreeMap<(Holder, u8), Vec<u32>>,
    pub(crate) events: Vec<(usize, Option<Mtp3LinkId>, PointEventKind)>,
    pub(crate) m3ua_events: Vec<(Holder, M3uaEventKind)>,
    pub(crate) copies: Vec<ScreenedCopy>,
    /// Statuses that came to user parts, and messages without a number.
    pub(crate) told: Vec<(Holder, TransferIndication)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Holder {
    Point(usize),
    Process(usize),
}

impl World {
    pub(crate) fn new(
        points: Vec<PointConfig>,
        processes: Vec<ServerProcess>,
        associations: &[(u32, [Holder; 2])],
    ) -> Self {
        let associations = associations.iter().map(|(id, ends)| (AssociationNumber(*id), *ends)).collect();
        let points = points.into_iter().map(|point| SignallingPoint::new(Instant::START, point).unwrap());
        let mut world = Self {
            now: Instant::START,
            points: points.collect(),
            processes,
            bearers: BTreeMap::new(),
            associations,
            under_way: VecDeque::new(),
            delivered: BTreeMap::new(),
            events: Vec::new(),
            m3ua_events: Vec::new(),
            copies: Vec::new(),
            told: Vec::new(),
        };
        for (association, ends) in world.associations.clone() {
            for end in ends {
                let up = TransportInput::Up { outbound_streams: 17 };
                world.give(end, association, up);
            }
        }
        world
    }

    pub(crate) fn manage(&mut self, point: usize, request: ManagementRequest) {
        self.points[point].handle_input(self.now, PointInput::Management(request));
    }

    fn give(&mut self, to: Holder, association: AssociationNumber, input: TransportInput) {
        match to {
            Holder::Point(at) => {
                self.points[at].handle_input(self.now, PointInput::Association(association, input));
            }
            Holder::Process(at) => {
                self.processes[at]
                    .handle_input(self.now, ServerProcessInput::Association(association, input));
            }
        }
    }

    /// Runs for so long, from deadline to deadline.
    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let waits = self.exchange();
            let lines = self.bearers.values().filter_map(Bearer::next_arrival);
            let carried = self.under_way.front().map(|(at, ..)| *at);
            let next = waits.into_iter().chain(lines).chain(carried).min();
            self.now = next.unwrap_or(end).min(end);
            if self.now == end {
                return;
            }
            self.arrive();
        }
    }

    fn arrive(&mut self) {
        for ((link, from), bearer) in &mut self.bearers {
            while let Some(arrival) = bearer.poll_arrival(self.now) {
                let input = PointInput::Line(*link, LineInput::Arrival(arrival));
                self.points[1 - from].handle_input(self.now, input);
            }
        }
        while let Some((_, to, association, input)) = self.under_way.pop_front_if(|(at, ..)| *at <= self.now)
        {
            self.give(to, association, input);
        }
    }

    /// Polls everybody until nobody has anything, and gives the first deadline.
    fn exchange(&mut self) -> Option<Instant> {
        let mut deadlines = Vec::new();
        for at in 0..self.points.len() {
            loop {
                let me = Holder::Point(at);
                match self.points[at].poll_output(self.now) {
                    PointOutput::Copied(copy) => self.copies.push(copy),
                    PointOutput::Event(event) => self.events.push((at, event.link, event.kind)),
                    PointOutput::Indication(_, indication) => self.indicated(me, &indication),
                    PointOutput::M3uaEvent(event) => self.m3ua_events.push((me, event.kind)),
                    PointOutput::Transmit(transmit) => self.carry(me, transmit),
                    PointOutput::Unit(link, transmission) => {
                        let bearer = self.bearers.entry((link, at)).or_insert_with(|| Bearer::new(DELAY));
                        bearer.carry(transmission);
                    }
                    PointOutput::Wait(deadline) => break deadlines.extend(deadline),
                    other => panic!("{other:?}"),
                }
            }
        }
        for at in 0..self.processes.len() {
            loop {
                let me = Holder::Process(at);
                match self.processes[at].poll_output(self.now) {
                    ServerProcessOutput::Event(event) => self.m3ua_events.push((me, event.kind)),
                    ServerProcessOutput::Indication(indication) => self.indicated(me, &indication),
                    ServerProcessOutput::Transmit(transmit) => self.carry(me, transmit),
                    ServerProcessOutput::Wait(deadline) => break deadlines.extend(deadline),
                    other => panic!("{other:?}"),
                }
            }
        }
        deadlines.into_iter().min()
    }

    fn carry(&mut self, from: Holder, transmit: slantpath_sigtran::transport::Transmit) {
        let [first, second] = self.associations[&transmit.association];
        let to = if first == from { second } else { first };
        let input = TransportInput::Message {
            stream: transmit.stream,
            payload_protocol: transmit.payload_protocol,
            octets: transmit.octets,
        };
        self.under_way.push_back((self.now + DELAY, to, transmit.association, input));
    }

    fn indicated(&mut self, at: Holder, indication: &TransferIndication) {
        match indication {
            TransferIndication::Transfer(transfer) if transfer.user_data.len() == 4 => {
                let number = u32::from_be_bytes(transfer.user_data.as_ref().try_into().unwrap());
                self.delivered.entry((at, transfer.label.sls.0)).or_default().push(number);
            }
            TransferIndication::Status { .. } | TransferIndication::Transfer(_) => {
                self.told.push((at, indication.clone()));
            }
            TransferIndication::Pause(_) | TransferIndication::Resume(_) => {}
        }
    }
}
