//! Polling: the associations that are polled, and the times when there is nothing to poll.

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_sctp::{
    AssociationId, Cause, CloseReason, ConnectError, ConnectOptions, Endpoint, Event, FirstSack, Message,
    Output, Ppid, SctpConfig, StreamId,
};
use slantpath_wire::Packet;
use slantpath_wire::ip::Envelope;

use crate::net::{Net, Route, v4};

fn message(len: usize) -> Message {
    Message {
        stream: StreamId(0),
        ppid: Ppid(7),
        payload: vec![7; len].into(),
        is_unordered: false,
        context: 0,
        options: None,
    }
}

/// Hosts 0 and 1 with an association each to host 2, whose ends of them are given.
fn served() -> (Net, [AssociationId; 2]) {
    let first_sack = FirstSack::AsAnyOther;
    let config = SctpConfig { heartbeat_interval: None, first_sack, ..SctpConfig::default() };
    let mut net = Net::calm();
    let hosts = [1, 2, 3].map(|host| net.add(&[v4(1, host)], 5_000, config.clone()));
    net.listen(2);
    for host in &hosts[..2] {
        net.connect(*host, 2);
    }
    net.run_for(Duration::from_secs(1));
    let ids: Vec<_> = net.hosts[2].events.drain(..).map(|(id, _)| id).collect();
    (net, ids.try_into().expect("two associations"))
}

/// Has a host send a message to host 2, which takes it in and is not polled.
fn tell(net: &mut Net, host: usize) {
    let id = net.hosts[host].last.expect("its association");
    net.hosts[host].endpoint.send(net.now, id, message(100)).expect("an empty buffer");
    let mut packet = Packet::default();
    let output = net.hosts[host].endpoint.poll_output(net.now, &mut packet);
    let Output::Transmit { source, destination, ip, .. } = output else { panic!("{output:?}") };
    let envelope = Envelope { source, destination, fields: ip };
    net.hosts[2].endpoint.handle_packet(net.now, &envelope, &packet);
}

fn next(net: &mut Net) -> Result<Route, Option<AssociationId>> {
    match net.hosts[2].endpoint.poll_output(net.now, &mut Packet::default()) {
        Output::Transmit { source, destination, .. } => Ok((source, destination)),
        Output::Event(id, Event::Received(_)) => Err(Some(id)),
        Output::Wait(_) => Err(None),
        Output::Event(_, event) => panic!("{event:?}"),
    }
}

#[test]
fn an_endpoint_is_idle_once_it_has_told_all_and_its_deadline_is_set() {
    let (mut net, [first, _]) = served();
    tell(&mut net, 0);
    assert!(!net.hosts[2].endpoint.is_idle());
    assert_eq!(next(&mut net), Err(Some(first)));
    assert!(net.hosts[2].endpoint.is_idle());
    // The SACK.
    assert_eq!(net.hosts[2].endpoint.deadline(), Some(net.now + Duration::from_millis(200)));
    assert_eq!(next(&mut net), Err(None));
}

#[test]
fn whoever_answers_what_it_was_told_last_speaks_before_others() {
    let (mut net, [first, second]) = served();
    tell(&mut net, 0);
    tell(&mut net, 1);
    assert_eq!(next(&mut net), Err(Some(first)));
    assert!(!net.hosts[2].endpoint.is_idle(), "the second has something to say");
    net.hosts[2].endpoint.send(net.now, first, message(100)).expect("an empty buffer");
    assert_eq!(next(&mut net), Ok((v4(1, 3), v4(1, 1))));
    assert_eq!(next(&mut net), Err(Some(second)));
    assert!(net.hosts[2].endpoint.is_idle());
    assert_eq!(next(&mut net), Err(None));
}

#[test]
fn whoever_has_been_told_all_stands_behind_those_to_whom_something_happened_since() {
    let (mut net, [first, second]) = served();
    tell(&mut net, 0);
    assert_eq!(next(&mut net), Err(Some(first)));
    tell(&mut net, 1);
    tell(&mut net, 0);
    assert_eq!(next(&mut net), Err(Some(second)));
    assert_eq!(next(&mut net), Ok((v4(1, 3), v4(1, 1))), "the SACK for the first's second packet");
    assert_eq!([next(&mut net), next(&mut net)], [Err(Some(first)), Err(None)]);
}

#[test]
fn a_message_behind_others_that_cannot_leave_at_this_moment_wakes_nobody() {
    let (mut net, [first, _]) = served();
    let now = net.now;
    let is_idle_after = |net: &mut Net, now: Instant| {
        net.hosts[2].endpoint.send(now, first, message(1_000)).expect("room in the buffer");
        let is_idle = net.hosts[2].endpoint.is_idle();
        while !matches!(net.hosts[2].endpoint.poll_output(now, &mut Packet::default()), Output::Wait(_)) {}
        is_idle
    };
    let sends: Vec<bool> = (0..8).map(|_| is_idle_after(&mut net, now)).collect();
    // Max.Burst is four; the fifth and the first behind it are tried in vain.
    assert_eq!(sends, [false, false, false, false, false, true, true, true]);
    assert!(!is_idle_after(&mut net, now + Duration::from_millis(1)), "a burst of its own");
}

#[test]
fn with_the_last_packet_that_a_window_lets_out_all_is_said() {
    let (mut net, [first, _]) = served();
    for _ in 0..8 {
        net.hosts[2].endpoint.send(net.now, first, message(1_000)).expect("room in the buffer");
    }
    let (endpoint, mut packet) = (&mut net.hosts[2].endpoint, Packet::default());
    let idle: Vec<bool> = (0..4)
        .map(|_| {
            let departing = endpoint.poll_transmit(net.now, &mut packet).expect("Max.Burst is four");
            assert_eq!(departing.envelope.destination, v4(1, 1));
            endpoint.is_idle()
        })
        .collect();
    assert_eq!(idle, [false, false, false, true]);
    // T3-rtx, with the least RTO.
    assert_eq!(endpoint.deadline(), Some(net.now + Duration::from_secs(1)));
    assert!(endpoint.poll_event().is_none() && endpoint.poll_transmit(net.now, &mut packet).is_none());
}

#[test]
fn what_a_sack_acknowledges_is_told_with_it() {
    let (mut net, [first, _]) = served();
    tell(&mut net, 0);
    tell(&mut net, 0);
    let (endpoint, mut packet) = (&mut net.hosts[2].endpoint, Packet::default());
    assert!(endpoint.poll_event().is_none(), "a packet comes before");
    assert!(endpoint.poll_transmit(net.now, &mut packet).is_some());
    for is_last in [false, true] {
        let (id, event) = endpoint.poll_event().expect("a message");
        assert!(id == first && matches!(event, Event::Received(_)), "{event:?}");
        assert_eq!(endpoint.is_idle(), is_last);
    }
    assert_eq!(endpoint.deadline(), None);
}

#[test]
fn an_association_that_is_lent_for_several_messages_is_polled_once_it_has_a_packet() {
    let (mut net, [first, _]) = served();
    let now = net.now;
    let endpoint = &mut net.hosts[2].endpoint;
    assert_eq!(endpoint.lend(first, |association| association.has_output()), Some(false));
    assert!(endpoint.is_idle(), "nothing was sent");
    let outputs = endpoint.lend(first, |association| {
        [0, 1].map(|_| association.send(now, message(1_000)).map(|()| association.has_output()))
    });
    assert_eq!(outputs, Some([Ok(true), Ok(true)]));
    let sent = [0, 1, 2].map(|_| endpoint.poll_transmit(now, &mut Packet::default()).is_some());
    assert_eq!(sent, [true, true, false]);
}

#[test]
fn an_association_that_is_not_established_is_not_lent() {
    let mut net = Net::calm();
    let host = net.add(&[v4(1, 1)], 5_000, SctpConfig::default());
    net.add(&[v4(1, 2)], 5_000, SctpConfig::default());
    let id = net.connect(host, 1);
    assert_eq!(net.hosts[host].endpoint.lend(id, |_| ()), None);
}

#[test]
fn a_place_is_anothers_only_once_the_end_of_its_association_has_been_polled() {
    let mut net = Net::calm();
    let host = net.add(&[v4(1, 1)], 5_000, SctpConfig::default());
    let endpoint = &mut net.hosts[host].endpoint;
    let now = Instant::START;
    let connect = |endpoint: &mut Endpoint, last| {
        let peer_addresses = vec![v4(1, last)];
        let options =
            ConnectOptions { local_port: 5_000, peer_addresses, peer_port: 7, ..Default::default() };
        endpoint.connect(now, &options).unwrap()
    };
    let given_up = connect(endpoint, 2);
    assert!(endpoint.abort(now, given_up, Bytes::new()));
    let next = connect(endpoint, 2);
    assert_eq!((given_up.index(), next.index()), (0, 1));
    let mut end = None;
    while !endpoint.is_idle() {
        match endpoint.poll_output(now, &mut Packet::default()) {
            Output::Event(id, event) => end = Some((id, event)),
            Output::Transmit { .. } | Output::Wait(_) => {}
        }
    }
    let closed = Event::Closed(CloseReason::Aborted(Cause::UserInitiatedAbort(Bytes::new())));
    assert_eq!(end, Some((given_up, closed)));
    let third = connect(endpoint, 3);
    assert_eq!(third.index(), 0);
    assert_ne!(third, given_up);
}

#[test]
fn a_peer_whose_association_is_on_its_way_to_its_end_is_called_once_that_has_been_polled() {
    let (mut net, [id, _]) = served();
    let options = ConnectOptions {
        local_port: 5_000,
        peer_addresses: vec![v4(1, 1)],
        peer_port: 5_000,
        ..Default::default()
    };
    let connect = |net: &mut Net| net.hosts[2].endpoint.connect(net.now, &options);
    assert_eq!(connect(&mut net), Err(ConnectError::AlreadyAssociated(v4(1, 1))));
    assert!(net.hosts[2].endpoint.abort(net.now, id, Bytes::new()));
    assert_eq!(connect(&mut net), Err(ConnectError::Ending(v4(1, 1))));
    net.drain(2);
    assert!(connect(&mut net).is_ok());

    let (mut net, [id, _]) = served();
    assert!(net.hosts[2].endpoint.shutdown(net.now, id));
    assert_eq!(connect(&mut net), Err(ConnectError::Ending(v4(1, 1))));
    net.drain(2);
    net.run_for(Duration::from_secs(1));
    assert!(connect(&mut net).is_ok());
}
