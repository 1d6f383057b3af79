//! Endpoints that call each other over SCTP in UDP on the loopback, which needs no privilege. Nothing here sleeps: each
//! test waits for what it asserts.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use bytes::Bytes;
use slantpath_sctp::{self as sctp, Cause, Extension, Extensions, Reliability, StreamId, StreamsChanged};
use slantpath_tokio::{
    Association, AssociationError, AssociationsConfig, Carriage, ConnectError, Dscp, Ecn, Endpoint,
    EndpointConfig, EndpointError, IpFields, Lost, MessageOptions, Notification, OpenError, Peer,
    ProgramMessage, SendError, TryReceiveError,
};

const PORT: u16 = 5_000;
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn config(remote_port: u16) -> EndpointConfig {
    EndpointConfig::new(vec![LOOPBACK], Carriage::Udp { local_port: 0, remote_port })
}

fn peer() -> Peer {
    Peer { addresses: vec![LOOPBACK], port: PORT }
}

/// A server at the usual port, and a client that finds it.
async fn endpoints(change: impl Fn(&mut EndpointConfig)) -> [Endpoint; 2] {
    let mut server = EndpointConfig { port: PORT, ..config(9_899) };
    change(&mut server);
    let server = Endpoint::bind(server).await.unwrap();
    let mut client = config(server.addresses().unwrap()[0].port());
    change(&mut client);
    [Endpoint::bind(client).await.unwrap(), server]
}

/// An association, and its ends.
async fn association(client: &Endpoint, server: &Endpoint) -> [Association; 2] {
    let peer = peer();
    let (call, accepted) = tokio::join!(client.connect(&peer), server.accept());
    [call.unwrap(), accepted.unwrap()]
}

async fn text(association: &Association) -> String {
    let ProgramMessage { payload, .. } = association.receive().await.unwrap().unwrap();
    String::from_utf8(payload.to_vec()).unwrap()
}

#[tokio::test]
async fn messages_keep_their_stream_their_protocol_and_their_order_both_ways() {
    let marked = IpFields { hop_limit: 9, dscp: Dscp::new(46).unwrap(), ecn: Ecn::NotCapable };
    let [client, server] = endpoints(|config| config.sctp.ip = marked).await;
    let [call, accepted] = association(&client, &server).await;
    assert_eq!(call.peer().unwrap(), (LOOPBACK, PORT).into());
    assert_eq!(accepted.peer().unwrap(), (LOOPBACK, client.port()).into());
    assert_eq!((call.outbound_streams(), accepted.outbound_streams()), (16, 16));
    let options = MessageOptions { payload_protocol: 46, is_unordered: true, ..MessageOptions::default() };
    call.send(3, "one", options).await.unwrap();
    let payload = Bytes::from_static(b"one");
    let ip = Some(marked);
    let expected =
        ProgramMessage { stream: 3, payload_protocol: 46, is_unordered: true, payload, options: None, ip };
    assert_eq!(accepted.receive().await.unwrap(), Some(expected));
    // Longer than a packet.
    let long = vec![7; 100_000];
    accepted.send(0, long.clone(), MessageOptions::default()).await.unwrap();
    for number in 0..100 {
        accepted.send(0, format!("{number}"), MessageOptions::default()).await.unwrap();
    }
    assert_eq!(call.receive().await.unwrap().unwrap().payload, long);
    for number in 0..100 {
        assert_eq!(text(&call).await, format!("{number}"));
    }
    let paths = call.paths();
    assert_eq!((paths.len(), paths[0].destination, paths[0].is_primary), (1, LOOPBACK, true));
    let snapshot = server.snapshot();
    assert_eq!((snapshot.associations, snapshot.mib.passive_estabs), (1, 1));
    let row = accepted.mib().expect("it is up");
    assert_eq!((row.local_port, row.rem_port), (server.port(), client.port()));
    assert_eq!(row.rem_addresses.iter().map(|remote| remote.addr).collect::<Vec<_>>(), [LOOPBACK]);
    assert!(snapshot.sockets.packets_received > 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_associations_and_tasks_share_an_endpoint_and_every_message_comes_back_once() {
    let [_, server] = endpoints(|_| {}).await;
    let udp_port = server.addresses().unwrap()[0].port();
    let serving = tokio::spawn(async move {
        let mut served = Vec::new();
        for _ in 0..8 {
            let association = server.accept().await.unwrap();
            served.push(tokio::spawn(async move {
                while let Some(ProgramMessage { stream, payload, .. }) = association.receive().await.unwrap()
                {
                    association.send(stream, payload, MessageOptions::default()).await.unwrap();
                }
            }));
        }
        for task in served {
            task.await.unwrap();
        }
    });
    let callers = (0..8_u32).map(|_| {
        tokio::spawn(async move {
            let client = Endpoint::bind(config(udp_port)).await.unwrap();
            let call = Arc::new(client.connect(&peer()).await.unwrap());
            let sending = tokio::spawn({
                let call = Arc::clone(&call);
                async move {
                    for number in 0..500_u32 {
                        let payload = number.to_be_bytes().repeat(100);
                        call.send(u16::try_from(number % 16).unwrap(), payload, MessageOptions::default())
                            .await
                            .unwrap();
                    }
                }
            });
            let mut seen = [false; 500];
            for _ in 0..500 {
                let message = call.receive().await.unwrap().unwrap();
                let number = u32::from_be_bytes(*message.payload.first_chunk().unwrap());
                assert_eq!(u32::from(message.stream), number % 16);
                assert!(!std::mem::replace(&mut seen[number as usize], true));
            }
            sending.await.unwrap();
            call.shutdown().await.unwrap();
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.unwrap();
    }
    serving.await.unwrap();
}

#[tokio::test]
async fn a_sender_waits_for_a_slow_reader_and_goes_on_when_that_reads() {
    let [client, server] = endpoints(|config| {
        config.sctp.receive_buffer_bytes = 20_000;
        config.sctp.send_buffer_bytes = 20_000;
        config.associations =
            AssociationsConfig { read_ahead_bytes: 10_000, ..AssociationsConfig::default() };
    })
    .await;
    let [call, accepted] = association(&client, &server).await;
    let payload = || vec![1; 1_000];
    // The buffers hold 50 of these: nearly so many are taken, in the end, though nobody reads.
    let mut sent = 0;
    while sent < 47 {
        match call.try_send(0, payload(), MessageOptions::default()) {
            Ok(()) => sent += 1,
            Err(SendError::Refused(sctp::SendError::BufferFull { .. })) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
    // Two that wait are served in their turn, the long one first, which finds no room before somebody reads.
    let long = vec![2; 15_000];
    let ((), (), received) = tokio::join!(
        async { call.send(0, long.clone(), MessageOptions::default()).await.unwrap() },
        async { call.send(0, payload(), MessageOptions::default()).await.unwrap() },
        async {
            let mut received = Vec::new();
            for _ in 0..sent + 2 {
                received.push(accepted.receive().await.unwrap().unwrap().payload.len());
            }
            received
        }
    );
    assert_eq!(received[..sent], vec![1_000; sent]);
    assert_eq!(received[sent..], [15_000, 1_000]);
}

#[tokio::test]
async fn a_receive_that_is_dropped_takes_nothing_and_a_connect_that_is_dropped_gives_up() {
    let [client, server] = endpoints(|_| {}).await;
    let [call, accepted] = association(&client, &server).await;
    for number in 0..50 {
        // Each is polled once, and dropped.
        let ready = tokio::select! {
            biased;
            message = accepted.receive() => Some(message),
            () = std::future::ready(()) => None,
        };
        assert!(ready.is_none());
        call.send(0, format!("{number}"), MessageOptions::default()).await.unwrap();
        assert_eq!(text(&accepted).await, format!("{number}"));
    }
    // Nobody is there, and nothing says so.
    let other = Peer { addresses: vec![LOOPBACK], port: PORT + 1 };
    let silent = std::net::UdpSocket::bind((LOOPBACK, 0)).unwrap();
    let udp_port = silent.local_addr().unwrap().port();
    let dropped = tokio::select! {
        biased;
        _ = client.connect_by(&other, udp_port) => false,
        () = std::future::ready(()) => true,
    };
    assert!(dropped);
    // The one that is up is all there is, and another to the same peer can be begun.
    while client.snapshot().associations > 1 {
        tokio::task::yield_now().await;
    }
    assert!(matches!(
        client.connect(&peer()).await.unwrap_err(),
        ConnectError::Refused(slantpath_sctp::ConnectError::AlreadyAssociated(LOOPBACK))
    ));
}

#[tokio::test]
async fn who_goes_on_to_the_next_server_gets_there_and_calls_it_again_as_soon_as_that_is_over() {
    let [client, server] = endpoints(|_| {}).await;
    let silent = std::net::UdpSocket::bind((LOOPBACK, 0)).unwrap();
    let udp_port = silent.local_addr().unwrap().port();
    let dead = Peer { addresses: vec![LOOPBACK], port: PORT + 1 };
    for _ in 0..3 {
        let given_up = tokio::select! {
            biased;
            _ = client.connect_by(&dead, udp_port) => false,
            () = std::future::ready(()) => true,
        };
        assert!(given_up);
        // Aborted or released, it is on its way to its end when the next call begins.
        let [call, accepted] = association(&client, &server).await;
        call.abort("enough");
        let [again, accepted_again] = association(&client, &server).await;
        drop((call, accepted, again));
        assert_eq!(accepted_again.receive().await.unwrap(), None);
    }
    client.close().await.unwrap();
    assert_eq!(client.snapshot().associations, 0);
    let closed = client.connect(&peer()).await.unwrap_err();
    assert!(matches!(closed, ConnectError::Endpoint(EndpointError::Closed)));
}

#[tokio::test]
async fn a_peer_is_called_behind_a_udp_port_of_its_own() {
    let [_, server] = endpoints(|_| {}).await;
    let udp_port = server.addresses().unwrap()[0].port();
    let client = Endpoint::bind(config(1)).await.unwrap();
    let peer = peer();
    let (call, accepted) = tokio::join!(client.connect_by(&peer, udp_port), server.accept());
    call.unwrap().send(0, "found", MessageOptions::default()).await.unwrap();
    assert_eq!(text(&accepted.unwrap()).await, "found");
}

#[tokio::test]
async fn one_that_is_dropped_delivers_what_was_sent_and_one_that_is_aborted_says_why() {
    let [client, server] = endpoints(|_| {}).await;
    let [call, accepted] = association(&client, &server).await;
    for number in 0..1_000 {
        call.send(0, format!("{number}"), MessageOptions::default()).await.unwrap();
    }
    // What it never reads holds nothing up.
    accepted.send(0, vec![0; 100_000], MessageOptions::default()).await.unwrap();
    drop(call);
    for number in 0..1_000 {
        assert_eq!(text(&accepted).await, format!("{number}"));
    }
    assert_eq!(accepted.receive().await.unwrap(), None);
    accepted.ended().await.unwrap();
    let late = accepted.send(0, "late", MessageOptions::default()).await.unwrap_err();
    assert!(matches!(late, SendError::Ended), "{late:?}");

    let [call, accepted] = association(&client, &server).await;
    accepted.abort("no room");
    let error = call.receive().await.unwrap_err();
    let AssociationError::Lost(Lost::PeerAborted(causes)) = &error else { panic!("{error:?}") };
    assert_eq!(causes[..], [Cause::UserInitiatedAbort(Bytes::from_static(b"no room"))]);
    assert_eq!(error.to_string(), "the peer has aborted the association: by its user: no room");
    assert!(matches!(call.shutdown().await.unwrap_err(), AssociationError::Lost(_)));
    assert_eq!(call.notification().await, None);
}

#[tokio::test]
async fn what_cannot_be_sent_or_called_or_bound_is_said_by_its_type() {
    let [client, server] = endpoints(|_| {}).await;
    let [call, _accepted] = association(&client, &server).await;
    let refused = |outcome: Result<(), SendError>| match outcome.unwrap_err() {
        SendError::Refused(error) => error,
        other => panic!("{other:?}"),
    };
    let options = MessageOptions::default();
    let no_stream = sctp::SendError::NoSuchStream { stream: StreamId(16), available: 16 };
    assert_eq!(refused(call.send(16, "x", options).await), no_stream);
    assert_eq!(refused(call.send(0, "", options).await), sctp::SendError::Empty);
    let too_long = refused(call.send(0, vec![0; 10_000_000], options).await);
    assert!(matches!(too_long, sctp::SendError::TooLong { len: 10_000_000, .. }));

    // An endpoint without a port of this number answers that there is none.
    let other = Peer { addresses: vec![LOOPBACK], port: PORT + 1 };
    let error = client.connect(&other).await.unwrap_err();
    assert!(matches!(&error, ConnectError::Lost(Lost::Nobody)), "{error:?}");
    // Nor is anybody at a UDP port that is free, as the system says.
    let free = std::net::UdpSocket::bind((LOOPBACK, 0)).unwrap().local_addr().unwrap().port();
    let error = client.connect_by(&other, free).await.unwrap_err();
    assert_eq!(error.to_string(), "nobody takes associations at that port of the peer");
    let mut taken = config(9_899);
    taken.carriage = Carriage::Udp { local_port: server.addresses().unwrap()[0].port(), remote_port: 9_899 };
    assert!(matches!(Endpoint::bind(taken).await.unwrap_err(), OpenError::PortInUse { protocol: "UDP", .. }));
    let nowhere = EndpointConfig { addresses: Vec::new(), ..config(9_899) };
    assert!(matches!(Endpoint::bind(nowhere).await.unwrap_err(), OpenError::NoAddress));
    let any = EndpointConfig { addresses: vec![Ipv4Addr::UNSPECIFIED.into()], ..config(9_899) };
    assert!(matches!(Endpoint::bind(any).await.unwrap_err(), OpenError::Unusable { .. }));
    let mut contrary = config(9_899);
    contrary.sctp.rto_min = slantpath_tokio::Duration::from_secs(90);
    assert!(matches!(Endpoint::bind(contrary).await.unwrap_err(), OpenError::Settings(_)));
}

#[tokio::test]
async fn closing_ends_all_in_order_and_wakes_who_waits() {
    let [client, server] = endpoints(|_| {}).await;
    let [call, accepted] = association(&client, &server).await;
    accepted.send(0, "farewell", MessageOptions::default()).await.unwrap();
    let (accepting, closing, received) = tokio::join!(server.accept(), server.close(), async {
        let farewell = text(&call).await;
        (farewell, call.receive().await.unwrap())
    });
    assert!(matches!(accepting.unwrap_err(), EndpointError::Closed));
    closing.unwrap();
    assert_eq!(received, ("farewell".to_owned(), None));
    assert_eq!(server.snapshot().associations, 0);
    let error = server.connect(&peer()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Endpoint(EndpointError::Closed)), "{error:?}");
    let error = client.connect(&peer()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Lost(Lost::Nobody)), "{error:?}");
}

#[tokio::test]
async fn an_endpoint_that_is_dropped_lets_its_associations_go_on_and_gives_its_port_back_after_them() {
    let [client, server] = endpoints(|_| {}).await;
    let [call, accepted] = association(&client, &server).await;
    let address = server.addresses().unwrap()[0];
    drop(server);
    accepted.send(0, "still there", MessageOptions::default()).await.unwrap();
    assert_eq!(text(&call).await, "still there");
    drop(accepted);
    assert_eq!(call.receive().await.unwrap(), None);
    // The task of the endpoint has the socket until it has seen to the end of the association.
    while std::net::UdpSocket::bind(address).is_err() {
        tokio::task::yield_now().await;
    }
}

#[test]
fn with_its_runtime_gone_an_endpoint_says_so() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let first = runtime();
    let (client, call, _server) = first.block_on(async {
        let [client, server] = endpoints(|_| {}).await;
        let [call, accepted] = association(&client, &server).await;
        drop(accepted);
        (client, call, server)
    });
    drop(first);
    let error = runtime().block_on(async { client.accept().await.unwrap_err() });
    assert!(matches!(error, EndpointError::Failed(_)), "{error:?}");
    let error = runtime().block_on(async { call.receive().await.unwrap_err() });
    assert!(matches!(error, AssociationError::Endpoint(EndpointError::Failed(_))), "{error:?}");
}

#[tokio::test]
async fn a_message_with_a_lifetime_of_nothing_is_not_sent() {
    let [client, server] =
        endpoints(|config| config.sctp.extensions = Extensions::NONE.with(Extension::PartialReliability))
            .await;
    let [call, accepted] = association(&client, &server).await;
    let reliability = Reliability::Lifetime(slantpath_tokio::Duration::ZERO);
    call.send(0, "never", MessageOptions { reliability, ..MessageOptions::default() }).await.unwrap();
    call.send(0, "ever", MessageOptions::default()).await.unwrap();
    assert_eq!(text(&accepted).await, "ever");
    let [client, server] = endpoints(|_| {}).await;
    let [call, _accepted] = association(&client, &server).await;
    let refused = call.send(0, "never", MessageOptions { reliability, ..MessageOptions::default() }).await;
    assert_eq!(refused.unwrap_err().to_string(), "the other end has not agreed to \"partial-reliability\"");
}

#[tokio::test]
async fn several_sctp_ports_share_a_udp_port_and_outlive_each_other() {
    let [client, server] = endpoints(|_| {}).await;
    let udp = server.addresses().unwrap()[0].port();
    let beside = EndpointConfig { port: PORT + 1, ..config(9_899) };
    let second = server.bind_beside(&beside).unwrap();
    assert_eq!((second.port(), second.addresses().unwrap()[0].port()), (PORT + 1, udp));
    let theirs = Peer { addresses: vec![LOOPBACK], port: PORT + 1 };
    let [first_call, first] = association(&client, &server).await;
    let (call, accepted) = tokio::join!(client.connect(&theirs), second.accept());
    let (call, accepted) = (call.unwrap(), accepted.unwrap());
    for (from, to, word) in
        [(&first_call, &first, "one"), (&call, &accepted, "two"), (&accepted, &call, "back")]
    {
        from.send(0, word, MessageOptions::default()).await.unwrap();
        assert_eq!(text(to).await, word);
    }
    assert_eq!([&server, &second].map(|endpoint| endpoint.snapshot().associations), [1, 1]);
    // The first goes with its association; the second goes on, takes callers, and can call.
    server.close().await.unwrap();
    drop((server, first, first_call));
    accepted.send(0, "still", MessageOptions::default()).await.unwrap();
    assert_eq!(text(&call).await, "still");
    let third = client.bind_beside(&EndpointConfig { port: 0, ..config(udp) }).unwrap();
    let (again, taken) = tokio::join!(third.connect(&theirs), second.accept());
    assert_eq!(taken.unwrap().peer().unwrap(), (LOOPBACK, third.port()).into());
    drop(again);
    // What would not be the same sockets is refused, and so is a port that is taken.
    let refused = |config: EndpointConfig| second.bind_beside(&config).unwrap_err();
    assert!(
        matches!(refused(beside.clone()), OpenError::PortInUse { protocol: "SCTP", port, .. } if port == PORT + 1)
    );
    assert!(matches!(refused(EndpointConfig { port: PORT + 2, ..config(1) }), OpenError::Settings(_)));
    let elsewhere = EndpointConfig::new(vec![IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2))], beside.carriage);
    assert!(matches!(refused(elsewhere), OpenError::Settings(_)));
}

#[tokio::test]
async fn commands_of_extensions_reach_sctp_and_what_comes_of_them_is_told() {
    let offered = Extensions::of(&[Extension::Reconfiguration]);
    let [client, server] = endpoints(|config| config.sctp.extensions = offered).await;
    let [call, accepted] = association(&client, &server).await;
    assert_eq!(call.command(|sctp, id, now| sctp.add_streams(now, id, 4, 0)), Some(Ok(())));
    for association in [&call, &accepted] {
        let Notification::Sctp(event) = association.notification().await.unwrap() else {
            panic!("streams were added")
        };
        assert!(matches!(*event, sctp::Event::StreamsChanged(StreamsChanged::Added { .. })), "{event:?}");
    }
    call.send(19, "on a stream that was added", MessageOptions::default()).await.unwrap();
    assert_eq!(text(&accepted).await, "on a stream that was added");
    assert_eq!(call.command(|sctp, id, now| sctp.request_heartbeat(now, id, LOOPBACK)), Some(true));
    call.shutdown().await.unwrap();
    assert_eq!(call.command(|_, _, _| ()), None, "it has ended");
}

#[tokio::test]
async fn without_waiting_what_is_not_there_now_is_told_from_the_end() {
    let [client, server] = endpoints(|_| {}).await;
    let [call, accepted] = association(&client, &server).await;
    assert!(matches!(accepted.try_receive(), Err(TryReceiveError::Nothing)));
    call.send(0, "last words", MessageOptions::default()).await.unwrap();
    call.shutdown().await.unwrap();
    accepted.ended().await.unwrap();
    assert_eq!(accepted.try_receive().unwrap().payload, "last words");
    assert!(matches!(accepted.try_receive(), Err(TryReceiveError::Ended)));
    let [call, accepted] = association(&client, &server).await;
    call.abort("enough");
    accepted.ended().await.unwrap_err();
    let error = accepted.try_receive().unwrap_err();
    assert!(matches!(error, TryReceiveError::Failed(AssociationError::Lost(_))), "{error}");
}

#[tokio::test]
async fn an_association_lasts_as_long_as_one_of_its_clones() {
    let [client, server] = endpoints(|_| {}).await;
    let [call, accepted] = association(&client, &server).await;
    let clone = call.clone();
    drop(call);
    let sender = tokio::spawn(async move { clone.send(0, "from a clone", MessageOptions::default()).await });
    assert_eq!(text(&accepted).await, "from a clone");
    sender.await.unwrap().unwrap();
    // The task has dropped the last one.
    assert_eq!(accepted.receive().await.unwrap(), None);
}

#[tokio::test]
async fn what_is_required_is_agreed_on_or_there_is_no_association() {
    use slantpath_tokio::{Extension as Offered, Extensions as Set};
    let authentication = Set::of(&[Offered::Authentication]);
    let requiring = EndpointConfig { port: PORT, ..config(9_899) };
    let mut requiring = requiring;
    (requiring.sctp.extensions, requiring.sctp.required_extensions) = (authentication, authentication);
    let server = Endpoint::bind(requiring).await.unwrap();
    let client = Endpoint::bind(config(server.addresses().unwrap()[0].port())).await.unwrap();
    let error = client.connect(&peer()).await.unwrap_err();
    assert!(error.to_string().ends_with("required and not offered: authentication"), "{error}");
}
