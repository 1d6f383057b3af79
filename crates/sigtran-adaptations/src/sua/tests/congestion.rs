//! Congestion of the way to an ASP, and audits.

use super::*;

fn congestion(level: u8) -> DestinationChange {
    DestinationChange::Congestion(level)
}

/// The second ASP's subsystem.
const FAR: Destination = Destination { point_code: PointCode(2), subsystem: Some(8) };

#[test]
fn senders_are_told_before_the_first_message_is_refused_and_that_comes_back() {
    let mut net = Net::new(8);
    net.connect(0);
    net.connect(1);
    net.disconnect(1);
    net.indications[0].clear();
    for number in 1..=12 {
        net.asps[0].unitdata(1, &unitdata(0, 1));
        net.run();
        // From half of the limit on, once.
        let expected: &[_] = if number < 4 { &[] } else { &[(FAR, congestion(1))] };
        assert_eq!(net.states, expected, "{number}");
        let scon = UserProcessOutput::Destination(FAR, congestion(1));
        assert_eq!(net.indications[0].contains(&scon), number >= 4, "{number}");
        assert_eq!(net.gateway.drops().total() > 0, number > 8, "{number}");
    }
    assert_eq!(net.gateway.drops().of(DropReason::QueueFull), 4);
    let notice = UnitdataNotice::returning(&unitdata(0, 1), return_cause::SUBSYSTEM_CONGESTION);
    let back = net.indications[0]
        .iter()
        .filter(|indication| **indication == UserProcessOutput::Notice(1, notice.clone()));
    assert_eq!(back.count(), 4);
    net.connect(1);
    assert_eq!(net.states, [(FAR, congestion(1)), (FAR, congestion(0))]);
    assert_eq!(net.indications[0].last(), Some(&UserProcessOutput::Destination(FAR, congestion(0))));
}

#[test]
fn what_expires_comes_back() {
    let mut net = Net::connected();
    net.disconnect(1);
    net.asps[0].unitdata(1, &unitdata(0, 1));
    net.run();
    net.wait(Duration::from_secs(3));
    assert_eq!(net.gateway.drops().of(DropReason::RecoveryExpired), 1);
    let notice = UnitdataNotice::returning(&unitdata(0, 1), return_cause::SUBSYSTEM_FAILURE);
    assert!(net.indications[0].contains(&UserProcessOutput::Notice(1, notice)));
}

#[test]
fn a_congested_association_is_told_to_those_who_send_there() {
    let mut net = Net::connected();
    for is_congested in [true, false] {
        net.gateway.handle_transport(net.now, association(1), TransportInput::Congested(is_congested));
        net.run();
    }
    assert_eq!(net.states, [(FAR, congestion(1)), (FAR, congestion(0))]);
    let expected = [1, 0].map(|level| UserProcessOutput::Destination(FAR, congestion(level)));
    assert_eq!(net.indications[0], expected);
    assert_eq!(net.indications[1], []);
}

#[test]
fn limits_that_tell_nothing_before_they_refuse_are_no_configuration() {
    let queue = QueueLimits { max: 2, onset: 2, abatement: 0 };
    let config = SignallingGatewayConfig { queue, ..SignallingGatewayConfig::default() };
    assert!(SignallingGateway::new(config).is_err());
}

#[test]
fn an_audit_that_names_everything_many_times_is_answered_once() {
    let mut net = Net::connected();
    for code in 1_000..2_000 {
        let destination = Destination { point_code: PointCode(code), subsystem: None };
        net.gateway.handle_status(destination, DestinationChange::Availability(Availability::Available));
    }
    net.run();
    let everything = CommonParameter::AffectedPointCodes(vec![(24, PointCode(0)); 8_000]);
    let audit = OwnMessage::empty(kind::DAUD).with_common(everything);
    let octets = crate::sua::Message::Own(audit).to_bytes();
    let message = TransportInput::Message { stream: StreamNumber(1), payload_protocol: 4, octets };
    net.gateway.handle_transport(net.now, association(0), message);
    let mut answers = 0;
    while let SignallingGatewayOutput::Transmit(_) = net.gateway.poll_output(net.now) {
        answers += 1;
    }
    assert_eq!(answers, 4);
}
