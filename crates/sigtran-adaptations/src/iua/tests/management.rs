//! Wishes of management at the ASP, and D channels that share associations.

use slantpath_sigtran::asp::{self, Scope as _};

use super::*;
use crate::interface::Interfaces;

/// Tells whether the ASP is up, whether it has the channel's traffic, and what the gateway holds its server for.
fn states(pair: &Pair) -> (bool, bool, Option<AsState>) {
    let asp = pair.asp.asp();
    (asp.is_up(), asp.is_active(), pair.gateway.asps().as_state(&interface()))
}

#[test]
fn an_asp_that_goes_down_or_gives_the_traffic_back_releases_its_data_links_and_stays_away() {
    type Wish = fn(&mut DataLinkProcess, Instant);
    let down: Wish = DataLinkProcess::down;
    let inactive: Wish = |asp, now| asp.deactivate(now, &[interface()]);
    for (wish, is_up, ends) in [(down, false, AsState::Down), (inactive, true, AsState::Inactive)] {
        let mut pair = Pair::established();
        wish(&mut pair.asp, pair.now);
        pair.run();
        pair.wait(asp::GatewayConfig::default().recovery);
        assert_eq!(states(&pair), (is_up, false, Some(ends)));
        assert_eq!(pair.to_q931, [DataLinkIndication::ReleasedByPeer(ReleaseReason::Other)]);
        pair.disconnect();
        pair.connect();
        assert_eq!(states(&pair), (is_up, false, Some(ends)));
        pair.asp.start(pair.now);
        pair.run();
        assert_eq!(states(&pair), (true, true, Some(AsState::Active)));
    }
}

#[test]
fn call_control_of_every_endpoint_is_released_when_nobody_serves_its_channel_any_longer() {
    let mut pair = Pair::established();
    pair.gateway.handle_endpoint(&interface(), 64, TeiStatus::Assigned);
    // Another channel, which nobody has served.
    pair.gateway.add_interface(2.into(), &[0], asp::ServerConfig::default());
    pair.disconnect();
    let released = |pair: &mut Pair, at| {
        pair.gateway.handle_deadline(at);
        let mut released = Vec::new();
        loop {
            match pair.gateway.poll_output(at) {
                SignallingGatewayOutput::DataLink(interface, dlci, request) => {
                    assert_eq!(request, DataLinkRequest::Release(ReleaseReason::Management));
                    released.push((interface, dlci));
                }
                SignallingGatewayOutput::Wait(_) => return released,
                _ => {}
            }
        }
    };
    let recovery = pair.now + asp::GatewayConfig::default().recovery;
    assert_eq!(released(&mut pair, recovery - Duration::from_nanos(1)), []);
    let endpoints = [LINK, Dlci { tei: 64, ..LINK }];
    assert_eq!(released(&mut pair, recovery), endpoints.map(|dlci| (interface(), dlci)));
}

/// Class of the messages about terminal endpoints, and of those about data links.
const MANAGEMENT: u8 = 0;
const BOUNDARY: u8 = 5;

#[test]
fn each_channel_has_a_stream_of_its_own_both_ways_and_terminal_endpoints_have_the_first() {
    let channels = [1, 2, 3];
    for (streams, expected) in [(1, [0, 0, 0]), (2, [1, 1, 1]), (3, [1, 2, 1]), (17, channels)] {
        let mut pair = Pair::new(8);
        for channel in channels {
            pair.gateway.add_interface(channel.into(), &[LINK.tei], asp::ServerConfig::default());
            pair.asp.add_interface(channel.into(), TrafficMode::Override);
        }
        pair.asp.start(pair.now);
        pair.connect_over(streams);
        for interface in channels.map(InterfaceIdentifier::from) {
            for request in [DataLinkRequest::Establish, DataLinkRequest::Data(setup())] {
                pair.asp.handle_request(pair.now, &interface, LINK, request);
                pair.run();
            }
            pair.gateway.handle_data_link(&interface, LINK, DataLinkIndication::Data(setup()));
            pair.gateway.handle_endpoint(&interface, 64, TeiStatus::Assigned);
            pair.asp.request_status(&interface, LINK);
            pair.asp.query_endpoints(&interface);
            pair.run();
        }
        let both_ways = |(channel, stream): (u32, u32)| {
            let stream = StreamNumber(u16::try_from(stream).unwrap());
            [true, false].into_iter().flat_map(move |to_asp| {
                let of = |(class, stream)| (to_asp, class, channel.into(), stream);
                [(MANAGEMENT, StreamNumber(0)), (BOUNDARY, stream)].map(of)
            })
        };
        let expected: BTreeSet<_> = channels.into_iter().zip(expected).flat_map(both_ways).collect();
        assert_eq!(pair.taken, expected, "{streams}");
    }
}

/// A gateway whose channels these ASPs share, all active.
fn shared(channels: &[InterfaceIdentifier], asps: &[AssociationNumber]) -> SignallingGateway {
    let mut gateway = SignallingGateway::new(SignallingGatewayConfig::default()).unwrap();
    let traffic_mode = Some(TrafficMode::Loadshare);
    for channel in channels {
        let server = asp::ServerConfig { traffic_mode, ..asp::ServerConfig::default() };
        gateway.add_interface(channel.clone(), &[LINK.tei], server);
    }
    for association in asps {
        let input = TransportInput::Up { outbound_streams: 4 };
        gateway.handle_transport(Instant::START, *association, input);
        let up = AspMessage::AspUp { asp_identifier: None, info: None };
        let scope = Interfaces::of(channels);
        let active = AspMessage::AspActive { traffic_mode, scope, labels: (), info: None };
        for message in [up, active] {
            let octets = Message::Asp(message).to_bytes();
            let input = TransportInput::Message { stream: StreamNumber(0), payload_protocol: 1, octets };
            gateway.handle_transport(Instant::START, *association, input);
        }
    }
    taken(&mut gateway);
    gateway
}

/// Takes the associations that the gateway has sent something over, and what it has told Q.921 of its receiver.
fn taken(gateway: &mut SignallingGateway) -> (Vec<AssociationNumber>, Vec<(InterfaceIdentifier, bool)>) {
    let (mut over, mut told) = (Vec::new(), Vec::new());
    loop {
        match gateway.poll_output(Instant::START) {
            SignallingGatewayOutput::Busy(interface, is_busy) => told.push((interface, is_busy)),
            SignallingGatewayOutput::Transmit(transmit) => over.push(transmit.association),
            SignallingGatewayOutput::Wait(_) => return (over, told),
            _ => {}
        }
    }
}

#[test]
fn the_asps_of_a_loadshare_share_the_channels_and_one_that_is_congested_makes_its_own_busy() {
    let (channels, asps) = ([1, 2, 3].map(InterfaceIdentifier::from), [5, 6].map(AssociationNumber));
    let mut gateway = shared(&channels, &asps);
    for channel in &channels {
        gateway.handle_data_link(channel, LINK, DataLinkIndication::UnitData(setup()));
    }
    assert_eq!(taken(&mut gateway), (vec![asps[0], asps[1], asps[0]], vec![]));
    for is_congested in [true, false] {
        gateway.handle_transport(Instant::START, asps[1], TransportInput::Congested(is_congested));
        assert_eq!(taken(&mut gateway).1, [(channels[1].clone(), is_congested)]);
    }
}
