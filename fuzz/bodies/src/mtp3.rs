//! A node of MTP3 whose links say anything.

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_ss7::PointCode;
use slantpath_ss7::link::{LinkIndication, OutOfServiceReason};
use slantpath_ss7::mtp3::node::{
    self, CongestionMethod, DestinationConfig, Function, LinkSetConfig, Mtp3LinkId, Procedure,
    SequenceNumbers,
};
use slantpath_ss7::mtp3::{
    self, Fsn, Msu, NetworkIndicator, RoutingLabel, ServiceIndicator, ServiceInformation, Slc, Sls,
};
use slantpath_ss7::transfer::Transfer;

/// The messages that may wait.
const HELD_LIMIT: usize = 100;
/// The links of [`config`].
const LINKS: u16 = 4;

/// The first byte chooses the options; the rest are steps of four bytes: what, where, and two numbers. Whatever the
/// links say, a step has an end, and no more messages wait than may.
pub fn node(data: &[u8]) {
    let Some((options, steps)) = data.split_first() else { return };
    let mut node = mtp3::Node::new(config(*options)).expect("the configuration is right");
    let mut now = Instant::from_secs(1);
    let mut accepted = 0;
    for step in steps.chunks_exact(4) {
        let link = Mtp3LinkId(u16::from(step[1]) % LINKS);
        match step[0] % 18 {
            0 => node.activate(now, link),
            1 => node.deactivate(now, link),
            2 => drop(node.inhibit(now, link)),
            3 => node.uninhibit(now, link),
            4 => node.local_processor_outage(now, link, step[2] & 1 == 0),
            5 => now += Duration::from_millis(u64::from(step[2]) * u64::from(step[3])),
            6 => {
                let transfer = transfer(step);
                accepted += u64::from(node.transfer(now, &transfer).is_ok());
            }
            7 => node.handle_link(now, link, LinkIndication::InService),
            8 => node.handle_link(now, link, LinkIndication::OutOfService(OutOfServiceReason::BearerFailed)),
            9 => node.handle_link(now, link, LinkIndication::Bsnt(Fsn(step[2].into()))),
            10 => node.handle_link(now, link, LinkIndication::BsntNotRetrievable),
            11 => node.handle_link(now, link, LinkIndication::RetrievalComplete),
            12 => node.handle_link(now, link, LinkIndication::RemoteProcessorOutage),
            13 => node.handle_link(now, link, LinkIndication::RemoteProcessorRecovered),
            14 => node.handle_link(now, link, LinkIndication::Congestion(step[2])),
            15 => {
                node.handle_link(now, link, LinkIndication::Retrieved(message(ServiceIndicator::SCCP, step)));
            }
            16 => node.handle_link(
                now,
                link,
                LinkIndication::Received(message(ServiceIndicator::MANAGEMENT, step)),
            ),
            _ => node.handle_link(now, link, LinkIndication::Received(message(ServiceIndicator::TEST, step))),
        }
        drain(&mut node, now);
        assert!(node.waiting() <= HELD_LIMIT);
    }
    assert_eq!(node.counters().accepted, accepted);
    // Nothing waits for ever: every procedure has its timer, but for what level 2 owes. Links may fail on the way, as
    // nobody answers their tests.
    for _ in 0..8 {
        for link in (0..LINKS).map(Mtp3LinkId) {
            node.handle_link(now, link, LinkIndication::BsntNotRetrievable);
            drain(&mut node, now);
            node.handle_link(now, link, LinkIndication::RetrievalComplete);
            drain(&mut node, now);
        }
        now += Duration::from_secs(10);
        drain(&mut node, now);
    }
    assert_eq!(node.waiting(), 0);
}

fn drain(node: &mut mtp3::Node, now: Instant) {
    // A step moves at most what waits, and says a few things to each neighbour about each destination; an hour of
    // timers says them often.
    for _ in 0..100_000 {
        if let node::Output::Wait(deadline) = node.poll_output(now) {
            assert!(deadline.is_none_or(|deadline| deadline > now));
            return;
        }
    }
    panic!("a step has no end");
}

/// Two link sets of two links, a destination behind both and one behind the first alone.
fn config(options: u8) -> node::Config {
    let mut config = node::Config::new("node", PointCode(1));
    if options & 1 != 0 {
        config.function = Function::TransferPoint;
    }
    if options & 2 != 0 {
        config.restart = Procedure::Omitted;
    }
    if options & 4 != 0 {
        config.transfer_restricted = Procedure::Used;
    }
    if options & 8 != 0 {
        config.congestion = CongestionMethod::National;
    }
    config.held_limit = HELD_LIMIT;
    let link_set = |adjacent: u32, sequence| LinkSetConfig {
        name: adjacent.to_string(),
        adjacent: PointCode(adjacent),
        links: (0..2)
            .map(|slc| node::LinkConfig { name: slc.to_string(), slc: Slc(slc), sequence })
            .collect(),
    };
    config.link_sets = vec![link_set(2, SequenceNumbers::Bits7), link_set(3, SequenceNumbers::Bits24)];
    let route = |destination, over: &[(u32, u8)]| {
        let route = |(set, priority): &(u32, u8)| node::RouteConfig {
            link_set: set.to_string(),
            priority: *priority,
        };
        DestinationConfig { point_code: PointCode(destination), routes: over.iter().map(route).collect() }
    };
    let second = u8::from(options & 16 == 0);
    config.destinations = vec![
        route(2, &[(2, 0), (3, 1)]),
        route(3, &[(3, 0), (2, 1)]),
        route(4, &[(2, 0), (3, second)]),
        route(5, &[(2, 0)]),
    ];
    config
}

fn transfer(step: &[u8]) -> Transfer {
    Transfer {
        service: ServiceInformation::from_octet(step[1] & 0x30 | ServiceIndicator::SCCP.value()),
        label: RoutingLabel {
            dpc: PointCode(u32::from(step[2]) % 7),
            opc: PointCode(1),
            sls: Sls(step[3] % 16),
        },
        user_data: Bytes::copy_from_slice(step),
    }
}

/// A message whose heading and first octets the step gives. From an adjacent point to this one, unless it is a user's.
fn message(indicator: ServiceIndicator, step: &[u8]) -> Bytes {
    let is_user = indicator == ServiceIndicator::SCCP;
    let label = RoutingLabel {
        dpc: PointCode(if is_user { u32::from(step[2]) % 7 } else { 1 }),
        opc: PointCode(2 + u32::from(step[1] >> 1 & 1)),
        sls: Sls(step[1] & 1),
    };
    let service = ServiceInformation { indicator, network: NetworkIndicator::International, priority: 0 };
    let mut octets = Vec::new();
    // Behind heading and length, the pattern of an early link test.
    let user_part = [step[2], step[3], 0, 0, 0, 1 + (step[1] >> 3)];
    Msu { service, label, user_part: &user_part }.emit(slantpath_ss7::PointCodeFormat::Itu, &mut octets);
    octets.into()
}
