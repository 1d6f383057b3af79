//! Two points over two links of MTP2, one of which loses its bearer under load.

use std::collections::BTreeMap;

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp2;
use slantpath_ss7::mtp3::node::{Function, Mtp3LinkId, Output, SequenceNumbers};
use slantpath_ss7::mtp3::{Node, RoutingLabel, ServiceIndicator, ServiceInformation, Sls};
use slantpath_ss7::transfer::{Transfer, TransferIndication};

use super::network::{link_set, node};
use crate::mtp2::line::Line;

struct Pair {
    now: Instant,
    nodes: [Node; 2],
    /// By link; the ends are by node.
    lines: [Line; 2],
    /// Messages that were delivered, by node and selection.
    delivered: BTreeMap<(usize, u8), Vec<u32>>,
}

impl Pair {
    fn new() -> Self {
        let point = |code, far| {
            let sets = vec![link_set(far, 2, SequenceNumbers::Bits7)];
            Node::new(node(code, Function::EndPoint, sets)).unwrap()
        };
        let line = || Line::new(&mtp2::Config::default(), Duration::from_millis(10), 0.0, 1);
        let nodes = [point(1, 2), point(2, 1)];
        let mut pair =
            Self { now: Instant::START, nodes, lines: [line(), line()], delivered: BTreeMap::new() };
        for at in [0, 1] {
            for link in [Mtp3LinkId(0), Mtp3LinkId(1)] {
                pair.nodes[at].activate(pair.now, link);
            }
        }
        pair
    }

    fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        while self.now < until {
            self.now += Duration::from_millis(1);
            for line in &mut self.lines {
                line.advance_to(self.now);
            }
            self.exchange();
        }
    }

    fn exchange(&mut self) {
        let mut is_idle = false;
        while !is_idle {
            is_idle = true;
            for at in [0, 1] {
                for (link, line) in (0..).map(Mtp3LinkId).zip(&mut self.lines) {
                    for indication in line.indications(at) {
                        is_idle = false;
                        self.nodes[at].handle_link(self.now, link, indication);
                    }
                }
                loop {
                    match self.nodes[at].poll_output(self.now) {
                        Output::Wait(_) => break,
                        Output::Link(link, request) => {
                            is_idle = false;
                            self.lines[usize::from(link.0)].request(at, request);
                        }
                        Output::Indication(_, TransferIndication::Transfer(transfer)) => {
                            let number = u32::from_be_bytes(transfer.user_data.as_ref().try_into().unwrap());
                            self.delivered.entry((at, transfer.label.sls.0)).or_default().push(number);
                        }
                        Output::Indication(..) | Output::Management(_) => {}
                    }
                }
            }
        }
    }

    fn send(&mut self, from: usize, sls: u8, number: u32) {
        let codes = [PointCode(1), PointCode(2)];
        let transfer = Transfer {
            service: ServiceInformation::from_octet(ServiceIndicator::SCCP.value()),
            label: RoutingLabel { dpc: codes[1 - from], opc: codes[from], sls: Sls(sls) },
            user_data: Bytes::copy_from_slice(&number.to_be_bytes()),
        };
        self.nodes[from].transfer(self.now, &transfer).unwrap();
        self.exchange();
    }

    fn is_available(&self, link: u16) -> bool {
        self.nodes.iter().all(|node| node.is_link_available(Mtp3LinkId(link)))
    }
}

#[test]
fn a_lost_bearer_loses_and_repeats_no_message_and_the_link_comes_back() {
    let mut pair = Pair::new();
    pair.pass(Duration::from_secs(20));
    assert!(pair.is_available(0) && pair.is_available(1));
    // A message of 9 octets every 8 ms each way: a quarter of what the remaining link carries.
    for number in 0..4_000_u32 {
        for from in [0, 1] {
            pair.send(from, u8::try_from(number % 16).unwrap(), number);
        }
        if number == 1_000 {
            // Longer than the 128 ms after which the ends give it up.
            pair.lines[1].cut(Duration::from_millis(130));
        }
        if number == 1_100 {
            assert!(!pair.is_available(1));
        }
        pair.pass(Duration::from_millis(8));
    }
    pair.pass(Duration::from_secs(20));
    assert!(pair.is_available(0) && pair.is_available(1));
    for at in [0, 1] {
        for sls in 0..16 {
            let expected: Vec<_> = (0..4_000).filter(|number| number % 16 == u32::from(sls)).collect();
            assert_eq!(pair.delivered[&(at, sls)], expected, "to {at} with SLS {sls}");
        }
        let counters = pair.nodes[at].counters();
        assert_eq!((counters.sequenced_changeovers, counters.unsequenced_changeovers), (1, 0));
        assert!(counters.discarded_in_all() == 0, "{counters:?}");
    }
}
