//! The counters of the SCTP MIB (RFC 3873), of an association from its first packet to its last.

use slantpath_sctp::chunk::{AddressChange, kind};
use slantpath_sctp::{AuthenticationConfig, Extension, Extensions, MibCounters, SctpConfig};

use crate::net::{Net, v4};

fn config() -> SctpConfig {
    SctpConfig { heartbeat_interval: None, ..SctpConfig::default() }
}

/// The counters of both hosts, with the names of the RFC, but for those that are zero.
fn counted(net: &Net) -> [Vec<(&'static str, u64)>; 2] {
    [0, 1].map(|host| {
        let mib: MibCounters = net.hosts[host].endpoint.mib();
        mib.named().into_iter().filter(|(_, count)| *count > 0).collect()
    })
}

#[test]
fn every_counter_follows_an_association_from_its_setup_to_its_end() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config());
    let z = net.add(&[v4(1, 2)], 2_905, config());
    net.listen(z);
    let at_a = net.connect(a, z);
    net.run_for(slantpath_base::Duration::from_secs(1));
    assert_eq!(
        counted(&net),
        [
            vec![
                ("sctpCurrEstab", 1),
                ("sctpActiveEstabs", 1),
                // INIT and COOKIE ECHO, for INIT ACK and COOKIE ACK.
                ("sctpOutCtrlChunks", 2),
                ("sctpInCtrlChunks", 2),
                ("sctpOutSCTPPacks", 2),
                ("sctpInSCTPPacks", 2),
            ],
            vec![
                ("sctpCurrEstab", 1),
                ("sctpPassiveEstabs", 1),
                ("sctpOutOfBlues", 1),
                ("sctpOutCtrlChunks", 2),
                ("sctpInCtrlChunks", 2),
                ("sctpOutSCTPPacks", 2),
                ("sctpInSCTPPacks", 2),
            ],
        ]
    );
    // One whole, and one in three fragments, both acknowledged at once.
    net.send(a, at_a, 0, vec![1; 100]);
    net.run_for(slantpath_base::Duration::from_secs(1));
    net.send(a, at_a, 0, vec![1; 3_000]);
    net.run_for(slantpath_base::Duration::from_secs(1));
    net.shutdown(a, at_a);
    net.run_for(slantpath_base::Duration::from_secs(1));
    assert_eq!(
        counted(&net),
        [
            vec![
                ("sctpActiveEstabs", 1),
                ("sctpShutdowns", 1),
                // SHUTDOWN and SHUTDOWN COMPLETE.
                ("sctpOutCtrlChunks", 4),
                ("sctpOutOrderChunks", 4),
                // Three SACKs and SHUTDOWN ACK.
                ("sctpInCtrlChunks", 6),
                ("sctpFragUsrMsgs", 1),
                ("sctpOutSCTPPacks", 8),
                ("sctpInSCTPPacks", 6),
            ],
            vec![
                ("sctpPassiveEstabs", 1),
                ("sctpShutdowns", 1),
                ("sctpOutOfBlues", 1),
                ("sctpOutCtrlChunks", 6),
                ("sctpInCtrlChunks", 4),
                ("sctpInOrderChunks", 4),
                ("sctpReasmUsrMsgs", 1),
                ("sctpOutSCTPPacks", 6),
                ("sctpInSCTPPacks", 8),
            ],
        ]
    );
}

#[test]
fn an_abort_counts_at_both_ends_and_what_is_sent_again_as_a_packet_only() {
    let (mut net, at_a, _) = Net::associated(&config(), [&[v4(1, 1)], &[v4(1, 2)]]);
    let before = counted(&net)[0].clone();
    net.cut(v4(1, 1), v4(1, 2));
    net.send(0, at_a, 0, vec![1; 100]);
    net.run_for(slantpath_base::Duration::from_millis(1_500));
    net.mend();
    net.abort(0, at_a, "enough");
    net.run_for(slantpath_base::Duration::from_secs(1));
    assert!(!before.iter().any(|(name, _)| *name == "sctpAborteds"));
    for mib in [0, 1].map(|host| net.hosts[host].endpoint.mib()) {
        assert_eq!((mib.aborteds, mib.curr_estab, mib.shutdowns), (1, 0, 0));
    }
    let mib = net.hosts[0].endpoint.mib();
    // INIT, COOKIE ECHO, twice the message, ABORT.
    assert_eq!((mib.out_order_chunks, mib.out_sctp_packs, mib.out_ctrl_chunks), (1, 5, 3));
}

#[test]
fn what_was_sent_to_an_address_counts_on_when_the_peer_has_deleted_it() {
    let extensions = Extensions::of(&[Extension::DynamicAddresses]);
    let config = SctpConfig { extensions, unauthenticated_addresses: true, ..config() };
    let addresses = |host| [v4(1, host), v4(2, host)];
    let (mut net, at_a, at_z) = Net::associated(&config, [&addresses(1), &addresses(2)]);
    net.send(0, at_a, 0, vec![1; 100]);
    net.run_for(slantpath_base::Duration::from_secs(1));
    let before = net.hosts[0].endpoint.mib();
    // The SACK has been sent before; the HEARTBEATs and their answers went both ways.
    net.change_addresses(1, at_z, &[AddressChange::Delete(v4(1, 2))]);
    net.run_for(slantpath_base::Duration::from_secs(1));
    let after = net.hosts[0].endpoint.mib();
    // The ASCONF ACK alone.
    assert_eq!(after.out_sctp_packs, before.out_sctp_packs + 1);
    assert_eq!((after.out_order_chunks, before.out_order_chunks), (1, 1));
}

#[test]
fn a_cookie_that_is_authenticated_counts_with_its_auth_chunk() {
    let extensions = Extensions::of(&[Extension::Authentication]);
    let chunks = vec![kind::COOKIE_ECHO];
    let authentication = AuthenticationConfig { chunks, ..AuthenticationConfig::default() };
    let config = SctpConfig { extensions, authentication, ..config() };
    let (net, ..) = Net::associated(&config, [&[v4(1, 1)], &[v4(1, 2)]]);
    // INIT, AUTH and COOKIE ECHO.
    assert_eq!(net.hosts[0].endpoint.mib().out_ctrl_chunks, 3);
}
