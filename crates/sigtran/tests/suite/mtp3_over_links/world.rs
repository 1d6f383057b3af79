//! Two nodes, their links, time, and a record of every message.

use std::collections::BTreeMap;

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Seed};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{
    self, LinkSetConfig, ManagementEvent, Mtp3LinkId, Procedure, SequenceNumbers,
};
use slantpath_ss7::mtp3::{self, RoutingLabel, ServiceIndicator, ServiceInformation, Slc, Sls};
use slantpath_ss7::transfer::{Transfer, TransferIndication};

use super::carrier::Carrier;

/// Kind of carrier of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    M2pa,
    Mtp2,
}

/// Numbers by the end that sent them and their SLS.
pub(crate) type Streams = BTreeMap<(usize, u8), Vec<u32>>;

pub(crate) struct World {
    now: Instant,
    nodes: [mtp3::Node; 2],
    links: Vec<Carrier>,
    delivered: Streams,
    link_failures: u64,
    accepted: u64,
    next: u32,
}

const CODES: [PointCode; 2] = [PointCode(1), PointCode(2)];

impl World {
    /// Two points with a link of each kind, over paths of different length.
    pub(crate) fn new(kinds: &[Kind], seed: u64) -> Self {
        let node = |at: usize| {
            let links = kinds.iter().zip(0..).map(|(kind, slc)| node::LinkConfig {
                name: slc.to_string(),
                slc: Slc(slc),
                sequence: match kind {
                    Kind::M2pa => SequenceNumbers::Bits24,
                    Kind::Mtp2 => SequenceNumbers::Bits7,
                },
            });
            let mut config = node::Config::new(&at.to_string(), CODES[at]);
            config.restart = Procedure::Omitted;
            config.users = vec![ServiceIndicator::ISUP];
            config.link_sets =
                vec![LinkSetConfig { name: "set".into(), adjacent: CODES[1 - at], links: links.collect() }];
            mtp3::Node::new(config).unwrap()
        };
        let seed = Seed::new(seed, 0);
        let links = kinds.iter().zip(0..).map(|(kind, number)| {
            let delay = Duration::from_millis(40) - Duration::from_millis(12) * u64::from(number);
            match kind {
                Kind::M2pa => Carrier::association(number, delay, seed),
                Kind::Mtp2 => Carrier::line(number, delay, seed),
            }
        });
        Self {
            now: Instant::START,
            nodes: [node(0), node(1)],
            links: links.collect(),
            delivered: Streams::new(),
            link_failures: 0,
            accepted: 0,
            next: 0,
        }
    }

    fn link_ids(&self) -> impl Iterator<Item = u16> + use<> {
        0..u16::try_from(self.links.len()).unwrap()
    }

    /// All links come into service.
    pub(crate) fn begin(&mut self) {
        for link in self.link_ids() {
            self.mend_link(link);
            self.activate(0, link);
            self.activate(1, link);
        }
        self.run(Duration::from_secs(15));
        for link in self.link_ids() {
            assert!(
                self.nodes.iter().all(|node| node.is_link_available(Mtp3LinkId(link))),
                "{}",
                self.report()
            );
        }
    }

    /// Ends whatever troubles the links, and waits until all that can arrive has.
    pub(crate) fn end_all_trouble(&mut self) {
        for link in self.link_ids() {
            self.mend_link(link);
            for end in [0, 1] {
                self.activate(end, link);
                self.processor_outage(end, link, false);
                self.uninhibit(end, link);
            }
        }
        self.run(Duration::from_secs(60));
    }

    pub(crate) fn send(&mut self, from: usize, sls: u8) {
        let transfer = Transfer {
            service: ServiceInformation::from_octet(ServiceIndicator::ISUP.value()),
            label: RoutingLabel { dpc: CODES[1 - from], opc: CODES[from], sls: Sls(sls) },
            user_data: Bytes::copy_from_slice(&self.next.to_be_bytes()),
        };
        self.next += 1;
        self.accepted += u64::from(self.nodes[from].transfer(self.now, &transfer).is_ok());
        self.settle();
    }

    pub(crate) fn activate(&mut self, end: usize, link: u16) {
        self.nodes[end].activate(self.now, Mtp3LinkId(link));
        self.settle();
    }

    pub(crate) fn deactivate(&mut self, end: usize, link: u16) {
        self.nodes[end].deactivate(self.now, Mtp3LinkId(link));
        self.settle();
    }

    pub(crate) fn inhibit(&mut self, end: usize, link: u16) {
        // A refusal is an answer too.
        let _ = self.nodes[end].inhibit(self.now, Mtp3LinkId(link));
        self.settle();
    }

    pub(crate) fn uninhibit(&mut self, end: usize, link: u16) {
        self.nodes[end].uninhibit(self.now, Mtp3LinkId(link));
        self.settle();
    }

    pub(crate) fn processor_outage(&mut self, end: usize, link: u16, holds: bool) {
        self.nodes[end].local_processor_outage(self.now, Mtp3LinkId(link), holds);
        self.settle();
    }

    pub(crate) fn break_link(&mut self, link: u16) {
        self.links[usize::from(link)].fail(self.now);
        self.settle();
    }

    pub(crate) fn mend_link(&mut self, link: u16) {
        self.links[usize::from(link)].mend(self.now);
        self.settle();
    }

    /// Lets time pass.
    pub(crate) fn run(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            self.settle();
            let now = self.now;
            let links = self.links.iter_mut().filter_map(|link| link.next_event(now));
            let nodes = self.nodes.iter_mut().filter_map(|node| match node.poll_output(now) {
                node::Output::Wait(deadline) => deadline,
                other => panic!("{other:?} was not asked for"),
            });
            match links.chain(nodes).min() {
                Some(next) if next <= end => self.now = self.now.max(next),
                _ => break,
            }
            for link in &mut self.links {
                link.arrive(self.now);
            }
        }
        self.now = end;
    }

    /// Does what nodes and links want at this instant.
    fn settle(&mut self) {
        let mut is_idle = false;
        while !is_idle {
            is_idle = true;
            for end in [0, 1] {
                loop {
                    match self.nodes[end].poll_output(self.now) {
                        node::Output::Link(link, request) => {
                            self.links[usize::from(link.0)].request(self.now, end, request);
                        }
                        node::Output::Indication(_, TransferIndication::Transfer(transfer)) => {
                            let number = u32::from_be_bytes(transfer.user_data[..].try_into().unwrap());
                            self.delivered.entry((1 - end, transfer.label.sls.0)).or_default().push(number);
                        }
                        node::Output::Management(ManagementEvent::LinkUnavailable(_)) => {
                            self.link_failures += 1;
                        }
                        node::Output::Indication(..) | node::Output::Management(_) => {}
                        node::Output::Wait(_) => break,
                    }
                    is_idle = false;
                }
                for (link, id) in self.links.iter_mut().zip(0..) {
                    while let Some(indication) = link.poll(self.now, end) {
                        is_idle = false;
                        self.nodes[end].handle_link(self.now, Mtp3LinkId(id), indication);
                    }
                }
            }
        }
    }

    pub(crate) const fn delivered(&self) -> &Streams {
        &self.delivered
    }

    /// Gives the number of times that a link that was available failed at an end.
    pub(crate) const fn link_failures(&self) -> u64 {
        self.link_failures
    }

    /// Gives the number of messages that the nodes took.
    pub(crate) const fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Gives the number of messages that were counted as discarded, by nodes and links.
    pub(crate) fn counted(&self) -> u64 {
        let nodes: u64 = self.nodes.iter().map(|node| node.counters().discarded_in_all()).sum();
        nodes + self.links.iter().map(|link| link.discarded(0) + link.discarded(1)).sum::<u64>()
    }

    pub(crate) fn report(&self) -> String {
        let nodes = self.nodes.each_ref().map(|node| format!("{:?}", node.counters()));
        let links: Vec<String> = self.links.iter().map(Carrier::report).collect();
        format!("{}\n{}", nodes.join("\n"), links.join("\n"))
    }
}
