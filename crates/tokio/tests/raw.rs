//! SCTP in IP, over the loopback of a network namespace that the test has for itself: skipped, loudly, without root.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io;
use std::net::IpAddr;
use std::process::Command;

use nix::sched::CloneFlags;
use slantpath_testkit::needs_program;
use slantpath_tokio::{Carriage, Endpoint, EndpointConfig, MessageOptions, OpenError, Peer};

/// Has this thread, and what it starts, act in a network namespace of its own.
fn enter_a_namespace() -> io::Result<()> {
    nix::sched::unshare(CloneFlags::CLONE_NEWNET)?;
    let up = Command::new("ip").args(["link", "set", "lo", "up"]).output()?;
    if up.status.success() { Ok(()) } else { Err(io::Error::other("ip link set lo up has failed")) }
}

#[test]
fn two_addresses_at_each_end_carry_an_association_and_ports_are_kept_apart() {
    if let Err(error) = enter_a_namespace() {
        needs_program(&error, "network namespaces need root, and iproute2");
        return;
    }
    // In this thread: another would be in another namespace.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    runtime.block_on(async {
        let addresses = |ends: [u8; 2]| ends.map(|end| IpAddr::from([127, 0, end, 1])).to_vec();
        let config = EndpointConfig::new(addresses([1, 2]), Carriage::Raw);
        let server = Endpoint::bind(EndpointConfig { port: 5_000, ..config }).await.unwrap();
        let client = Endpoint::bind(EndpointConfig::new(addresses([3, 4]), Carriage::Raw)).await.unwrap();
        // At the same addresses, with another port.
        let neighbour = Endpoint::bind(EndpointConfig::new(addresses([1, 2]), Carriage::Raw)).await.unwrap();
        assert!(neighbour.port() >= 49_152 && neighbour.port() != client.port());
        // And one on the server's own sockets, which is claimed as any other.
        let own = |port| EndpointConfig { port, ..EndpointConfig::new(addresses([1, 2]), Carriage::Raw) };
        let beside = server.bind_beside(&own(5_001)).unwrap();
        let taken = Endpoint::bind(own(5_001)).await.unwrap_err();
        assert!(matches!(taken, OpenError::PortInUse { protocol: "SCTP", port: 5_001, .. }), "{taken:?}");
        let taken = neighbour.bind_beside(&own(5_000)).unwrap_err();
        assert!(matches!(taken, OpenError::PortInUse { protocol: "SCTP", port: 5_000, .. }), "{taken:?}");
        let peer = Peer { addresses: addresses([1, 2]), port: 5_001 };
        let (call, accepted) = tokio::join!(client.connect(&peer), beside.accept());
        call.unwrap().send(0, "beside", MessageOptions::default()).await.unwrap();
        assert_eq!(accepted.unwrap().receive().await.unwrap().unwrap().payload, "beside");
        let peer = Peer { addresses: addresses([1, 2]), port: 5_000 };
        let (call, accepted) = tokio::join!(client.connect(&peer), server.accept());
        let (call, accepted) = (call.unwrap(), accepted.unwrap());
        for number in 0..1_000_u32 {
            call.send(0, number.to_be_bytes().repeat(500), MessageOptions::default()).await.unwrap();
            let message = accepted.receive().await.unwrap().unwrap();
            assert_eq!(message.payload, number.to_be_bytes().repeat(500));
        }
        assert_eq!(call.paths().len(), 2);
        call.shutdown().await.unwrap();
        assert_eq!(neighbour.snapshot().mib.out_of_blues, 0);
    });
}
