//! Connectionless messages at the gateway: hops, and who of a loadshare gets what.

use super::*;

#[test]
fn a_message_without_a_title_to_translate_keeps_its_hops() {
    let mut net = Net::connected();
    let last = Unitdata { hop_count: Some(1), ..unitdata(0, 1) };
    net.asps[0].unitdata(1, &last);
    net.run();
    assert_eq!(net.indications[1], [UserProcessOutput::Unitdata(2, last)]);
}

#[test]
fn a_message_that_has_no_hop_left_comes_back_to_the_asp_that_asked_for_that_and_goes_nowhere() {
    let title = SuaGlobalTitle::international(0, 1, 4, &Digits::parse("4912").unwrap());
    for return_on_error in [true, false] {
        let mut net = Net::connected();
        let mut last = Unitdata { return_on_error, hop_count: Some(1), ..unitdata(0, 1) };
        last.destination = Address::of_title(title.clone(), None);
        net.asps[0].unitdata(1, &last);
        net.run();
        assert_eq!(net.gateway.drops().of(DropReason::HopCounterViolation), 1);
        assert_eq!((net.network.len(), net.indications[1].len()), (0, 0));
        let returned = UnitdataNotice::returning(&last, return_cause::HOP_COUNTER_VIOLATION);
        let expected = return_on_error.then_some(UserProcessOutput::Notice(1, returned));
        assert_eq!(net.indications[0], expected.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn messages_of_one_sequence_of_a_loadshare_go_to_one_asp_and_others_take_turns() {
    let mut gateway = SignallingGateway::new(SignallingGatewayConfig::default()).unwrap();
    let traffic_mode = Some(TrafficMode::Loadshare);
    gateway.add_server(
        1,
        RoutingKey::default(),
        asp::ServerConfig { traffic_mode, ..asp::ServerConfig::default() },
    );
    let asps = [0, 1].map(|at| {
        let mut asp = UserProcess::new(association(at), UserProcessConfig::default()).unwrap();
        asp.add_server(1, traffic_mode);
        asp.start(Instant::START);
        asp
    });
    let mut net = net_of(gateway, asps);
    for (in_sequence, controls, expected) in
        [(true, [4, 4, 4, 9, 4, 9], [4, 2]), (false, [4, 4, 4, 9, 4, 9], [3, 3])]
    {
        net.indications.iter_mut().for_each(Vec::clear);
        for sequence_control in controls {
            let one = Unitdata { in_sequence, sequence_control, ..unitdata(6, 0) };
            net.gateway.handle_network(one.to_message(0));
        }
        net.run();
        assert_eq!(net.indications.each_ref().map(Vec::len), expected, "{in_sequence}");
        if in_sequence {
            let is_of = |indications: &[UserProcessOutput], control| {
                indications.iter().all(|indication| {
                    matches!(indication, UserProcessOutput::Unitdata(_, one) if one.sequence_control == control)
                })
            };
            assert!(is_of(&net.indications[0], 4) && is_of(&net.indications[1], 9));
        }
    }
}

#[test]
fn what_waits_for_an_asp_goes_in_the_order_in_which_it_came() {
    let mut net = Net::connected();
    net.disconnect(1);
    let sent = [&b"first"[..], b"second", b"third"]
        .map(|data| Unitdata { data: Bytes::from_static(data), ..unitdata(0, 1) });
    for one in &sent {
        net.asps[0].unitdata(1, one);
    }
    net.run();
    assert_eq!(net.gateway.queued(2), 3);
    net.connect(1);
    assert_eq!(net.indications[1], sent.map(|one| UserProcessOutput::Unitdata(2, one)));
}
