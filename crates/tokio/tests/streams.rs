//! Messages, notifications and callers as streams, and a sink, over the loopback. Nothing here sleeps.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::task::Poll;

use bytes::Bytes;
use futures_core::{FusedStream, Stream};
use futures_sink::Sink;
use slantpath_tokio::{
    Association, Carriage, Endpoint, EndpointConfig, MessageOptions, Notification, Outgoing, Peer,
    SctpConfig, SendError,
};

const PORT: u16 = 5_000;
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

async fn next<S: Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    poll_fn(|cx| Pin::new(&mut *stream).poll_next(cx)).await
}

async fn send(sink: &mut Outgoing, payload: &[u8]) -> Result<(), SendError> {
    poll_fn(|cx| Pin::new(&mut *sink).poll_ready(cx)).await?;
    Pin::new(sink).start_send(Bytes::copy_from_slice(payload))
}

async fn close(sink: &mut Outgoing) -> Result<(), SendError> {
    poll_fn(|cx| Pin::new(&mut *sink).poll_close(cx)).await
}

/// A server, a client, and both ends of an association that a stream of callers has given.
async fn pair(sctp: SctpConfig) -> ([Endpoint; 2], [Association; 2]) {
    let config = |remote_port, port| {
        let carriage = Carriage::Udp { local_port: 0, remote_port };
        EndpointConfig { port, sctp: sctp.clone(), ..EndpointConfig::new(vec![LOOPBACK], carriage) }
    };
    let server = Endpoint::bind(config(9_899, PORT)).await.unwrap();
    let client = Endpoint::bind(config(server.addresses().unwrap()[0].port(), 0)).await.unwrap();
    let peer = Peer { addresses: vec![LOOPBACK], port: PORT };
    let mut callers = server.callers();
    let (call, accepted) = tokio::join!(client.connect(&peer), next(&mut callers));
    let ends = [call.unwrap(), accepted.unwrap().unwrap()];
    assert!(!callers.is_terminated() && is_pending(&mut callers).await);
    ([server, client], ends)
}

async fn is_pending<S: Stream + Unpin>(stream: &mut S) -> bool {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *stream).poll_next(cx).is_pending())).await
}

#[tokio::test]
async fn a_sink_sends_on_its_stream_what_a_stream_of_messages_gives_until_the_end() {
    let ([server, client], [call, accepted]) = pair(SctpConfig::default()).await;
    let options = MessageOptions { payload_protocol: 46, ..MessageOptions::default() };
    let mut sink = call.outgoing(3, options);
    let mut messages = accepted.messages();
    assert!(is_pending(&mut messages).await, "nothing has come");
    for text in ["one", "two"] {
        send(&mut sink, text.as_bytes()).await.unwrap();
    }
    close(&mut sink).await.unwrap();
    for text in ["one", "two"] {
        let message = next(&mut messages).await.unwrap().unwrap();
        let got = (message.stream, message.payload_protocol, &message.payload[..]);
        assert_eq!(got, (3, 46, text.as_bytes()));
    }
    // Closed, the sink takes nothing from others.
    call.send(0, "three", MessageOptions::default()).await.unwrap();
    assert_eq!(&next(&mut messages).await.unwrap().unwrap().payload[..], b"three");
    assert!(!messages.is_terminated());
    call.shutdown().await.unwrap();
    assert!(next(&mut messages).await.is_none());
    assert!(messages.is_terminated() && next(&mut messages).await.is_none());
    assert!(matches!(send(&mut sink, b"late").await, Err(SendError::Ended)));
    let mut callers = server.callers();
    let (closed, caller) = tokio::join!(server.close(), next(&mut callers));
    closed.unwrap();
    assert!(caller.is_none() && callers.is_terminated());
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_sink_is_halted_by_a_full_buffer_and_keeps_the_order() {
    let sctp =
        SctpConfig { send_buffer_bytes: 20_000, receive_buffer_bytes: 20_000, ..SctpConfig::default() };
    let (_endpoints, [call, accepted]) = pair(sctp).await;
    let mut sink = call.outgoing(1, MessageOptions::default());
    let message = |number: u32| [&number.to_be_bytes()[..], &[0; 9_996]].concat();
    // Two fit. The third is taken, and waits: the sink is not ready.
    for number in 0..3 {
        send(&mut sink, &message(number)).await.unwrap();
    }
    let is_ready = poll_fn(|cx| Poll::Ready(Pin::new(&mut sink).poll_ready(cx).is_ready())).await;
    assert!(!is_ready);
    let sender = async {
        for number in 3..40 {
            send(&mut sink, &message(number)).await.unwrap();
        }
        close(&mut sink).await.unwrap();
    };
    let receiver = async {
        let mut messages = accepted.messages();
        for number in 0..40_u32 {
            let payload = next(&mut messages).await.unwrap().unwrap().payload;
            assert_eq!((payload.len(), &payload[..4]), (10_000, &number.to_be_bytes()[..]));
        }
    };
    tokio::join!(sender, receiver);
}

#[tokio::test]
async fn an_association_that_is_lost_is_the_last_item_of_its_messages() {
    let (_endpoints, [call, accepted]) = pair(SctpConfig::default()).await;
    let (mut messages, mut notifications) = (accepted.messages(), accepted.notifications());
    let received = tokio::spawn(async move { (next(&mut messages).await, next(&mut messages).await) });
    let notified = tokio::spawn(async move {
        while let Some(notification) = next(&mut notifications).await {
            let _: Notification = notification;
        }
        notifications.is_terminated()
    });
    call.abort("enough");
    let (last, none) = received.await.unwrap();
    assert!(last.unwrap().is_err() && none.is_none());
    assert!(notified.await.unwrap());
}
