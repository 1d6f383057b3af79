//! Wishes of management at the ASP, and links that share an association.

use super::*;

/// Tells whether the ASP is up, whether it has the link's traffic, and what the gateway holds its server for.
fn states(pair: &Pair) -> (bool, bool, Option<AsState>) {
    let asp = pair.asp.asp();
    (asp.is_up(), asp.is_active(), pair.gateway.asps().as_state(&Pair::interface()))
}

#[test]
fn an_asp_goes_down_comes_up_takes_the_traffic_and_gives_it_back_as_management_asks() {
    let mut pair = Pair::in_service();
    let recovery = asp::GatewayConfig::default().recovery;
    pair.asp.down(pair.now);
    pair.run();
    pair.wait(recovery);
    assert_eq!(states(&pair), (false, false, Some(AsState::Down)));
    let failed = LinkIndication::OutOfService(OutOfServiceReason::BearerFailed);
    assert_eq!(pair.to_level_3, std::slice::from_ref(&failed));
    // Nothing of what was wanted before is wanted over a new association.
    pair.disconnect();
    pair.connect();
    assert_eq!(states(&pair), (false, false, Some(AsState::Down)));
    pair.asp.up(pair.now);
    pair.run();
    assert_eq!(states(&pair), (true, false, Some(AsState::Inactive)));
    pair.asp.activate(pair.now, &[Pair::interface()]);
    pair.run();
    assert_eq!(states(&pair), (true, true, Some(AsState::Active)));
    assert_eq!(pair.to_level_3, [failed.clone(), LinkIndication::InService]);
    pair.asp.deactivate(pair.now, &[Pair::interface()]);
    pair.run();
    pair.wait(recovery);
    assert_eq!(states(&pair), (true, false, Some(AsState::Inactive)));
    assert_eq!(pair.to_level_3, [failed.clone(), LinkIndication::InService, failed]);
}

#[test]
fn each_link_has_a_stream_of_its_own_both_ways_as_far_as_there_are_streams() {
    let links = [1, 2, 3];
    for (streams, expected) in [(1, [0, 0, 0]), (2, [1, 1, 1]), (3, [1, 2, 1]), (17, links)] {
        let mut pair = Pair::new(8);
        for link in links {
            pair.gateway.add_link(link.into(), LinkConfig::default(), asp::ServerConfig::default());
            pair.asp.add_link(link.into(), None);
        }
        pair.asp.start(pair.now);
        pair.connect_over(streams);
        for interface in links.map(InterfaceIdentifier::from) {
            for request in [LinkRequest::Start, LinkRequest::Transmit(unit())] {
                pair.asp.handle_request(pair.now, &interface, request);
                pair.run();
            }
            pair.gateway.handle_link(pair.now, &interface, LinkIndication::Received(unit()));
            pair.asp.audit(&interface);
            pair.run();
        }
        let both_ways = |(link, stream): (u32, u32)| {
            let stream = StreamNumber(u16::try_from(stream).unwrap());
            [true, false].map(|to_asp| (to_asp, link.into(), stream))
        };
        let expected: BTreeSet<_> = links.into_iter().zip(expected).flat_map(both_ways).collect();
        assert_eq!(pair.taken, expected, "{streams}");
    }
}
