//! The counters of the SCTP MIB (RFC 3873), of an association from its first packet to its last.

use slantpath_base::{Duration, Instant};
use slantpath_sctp::chunk::{AddressChange, kind};
use slantpath_sctp::{
    AssociationId, AuthenticationConfig, Extension, Extensions, MibAssociation, MibCounters, MibLocalAddress,
    MibRemAddress, MibState, MibValue, SctpConfig,
};

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
    net.run_for(Duration::from_secs(1));
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
    net.run_for(Duration::from_secs(1));
    net.send(a, at_a, 0, vec![1; 3_000]);
    net.run_for(Duration::from_secs(1));
    net.shutdown(a, at_a);
    net.run_for(Duration::from_secs(1));
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
    net.run_for(Duration::from_millis(1_500));
    net.mend();
    net.abort(0, at_a, "enough");
    net.run_for(Duration::from_secs(1));
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
    net.run_for(Duration::from_secs(1));
    let before = net.hosts[0].endpoint.mib();
    // The SACK has been sent before; the HEARTBEATs and their answers went both ways.
    net.change_addresses(1, at_z, &[AddressChange::Delete(v4(1, 2))]);
    net.run_for(Duration::from_secs(1));
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

/// The row of a host's association.
fn row(net: &Net, host: usize, id: AssociationId) -> MibAssociation {
    net.hosts[host].endpoint.mib_association(id).unwrap()
}

#[test]
fn a_row_has_every_value_of_an_association_from_its_setup_on() {
    let config = SctpConfig { heartbeat_interval: Some(Duration::from_secs(30)), ..SctpConfig::default() };
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, SctpConfig { outbound_streams: 3, ..config.clone() });
    let z = net.add(&[v4(1, 2)], 2_905, SctpConfig { outbound_streams: 5, ..config });
    net.listen(z);
    // The first INIT, the first COOKIE ECHO.
    net.lose(0);
    net.lose(3);
    let at_a = net.connect(a, z);
    net.run_for(Duration::from_millis(1_010));
    let setup = [
        ("sctpAssocLocalPort", MibValue::Number(5_000)),
        ("sctpAssocRemPort", MibValue::Number(2_905)),
        ("sctpAssocRemPrimAddr", MibValue::Address(None)),
        ("sctpAssocHeartBeatInterval", MibValue::Number(30_000)),
        ("sctpAssocState", MibValue::Word("cookieWait")),
        ("sctpAssocInStreams", MibValue::Number(0)),
        ("sctpAssocOutStreams", MibValue::Number(0)),
        ("sctpAssocMaxRetr", MibValue::Number(10)),
        ("sctpAssocT1expireds", MibValue::Number(1)),
        ("sctpAssocT2expireds", MibValue::Number(0)),
        ("sctpAssocRtxChunks", MibValue::Number(0)),
        ("sctpAssocStartTime", MibValue::Number(0)),
    ];
    assert_eq!(row(&net, a, at_a).named(), setup);
    assert_eq!(net.hosts[a].endpoint.mib().assoc_t1expireds, 1);
    net.run_for(Duration::from_millis(20));
    assert_eq!(row(&net, a, at_a).state, MibState::CookieEchoed);
    net.run_for(Duration::from_secs(2));
    // The second COOKIE ECHO has left at 2,020 ms.
    let mut up = setup;
    up[2].1 = MibValue::Address(Some(v4(1, 2)));
    up[4].1 = MibValue::Word("established");
    up[5].1 = MibValue::Number(5);
    up[6].1 = MibValue::Number(3);
    up[8].1 = MibValue::Number(2);
    up[11].1 = MibValue::Number(204);
    let at_a = row(&net, a, at_a);
    assert_eq!(at_a.named(), up, "{}", net.trace(0));
    assert_eq!(
        at_a.local_addresses.iter().map(MibLocalAddress::named).collect::<Vec<_>>(),
        [[
            ("sctpAssocLocalAddr", MibValue::Address(Some(v4(1, 1)))),
            ("sctpAssocLocalAddrStartTime", MibValue::Number(204)),
        ]]
    );
    assert_eq!(
        at_a.rem_addresses.iter().map(MibRemAddress::named).collect::<Vec<_>>(),
        [[
            ("sctpAssocRemAddr", MibValue::Address(Some(v4(1, 2)))),
            ("sctpAssocRemAddrActive", MibValue::Truth(true)),
            ("sctpAssocRemAddrHBActive", MibValue::Truth(true)),
            ("sctpAssocRemAddrRTO", MibValue::Number(1_000)),
            ("sctpAssocRemAddrMaxPathRtx", MibValue::Number(5)),
            ("sctpAssocRemAddrRtx", MibValue::Number(0)),
            ("sctpAssocRemAddrStartTime", MibValue::Number(204)),
        ]]
    );
    let at_z = row(&net, z, net.established(z).unwrap());
    assert_eq!((at_z.t1expireds, at_z.in_streams, at_z.out_streams), (0, 3, 5), "only the caller has a T1");
    assert_eq!(at_z.start_time, Some(Instant::from_millis(2_030)));
    assert_eq!([a, z].map(|host| net.hosts[host].endpoint.mib().assoc_t1expireds), [2, 0]);
}

#[test]
fn what_t3_sends_again_is_counted_apart_from_what_gap_reports_do() {
    let (mut net, at_a, _) = Net::associated(&config(), [&[v4(1, 1)], &[v4(1, 2)]]);
    // The first of six packets: three SACKs with gaps say so.
    net.lose(net.sent.len());
    for _ in 0..6 {
        net.send(0, at_a, 0, vec![1; 1_200]);
    }
    net.run_for(Duration::from_millis(500));
    let before = row(&net, 0, at_a);
    assert_eq!((before.rtx_chunks, before.rem_addresses[0].rtx), (0, 1), "{}", net.trace(0));
    // Three chunks in one packet, and nobody says anything.
    net.cut(v4(1, 1), v4(1, 2));
    for _ in 0..3 {
        net.send(0, at_a, 0, vec![1; 100]);
    }
    net.run_for(Duration::from_millis(1_500));
    let after = row(&net, 0, at_a);
    assert_eq!((after.rtx_chunks, after.rem_addresses[0].rtx), (3, 4), "{}", net.trace(0));
    assert_eq!(after.rem_addresses[0].rto, Duration::from_secs(2));
    net.mend();
    // Those were lost as well, and go once more after twice the time.
    net.run_for(Duration::from_secs(2));
    assert_eq!(row(&net, 0, at_a).rtx_chunks, 6);
    net.abort(0, at_a, "enough");
    assert_eq!(net.hosts[0].endpoint.mib_association(at_a), None);
    assert_eq!(net.hosts[0].endpoint.mib().assoc_rtx_chunks, 6, "what has ended counts on");
}

#[test]
fn t2_is_counted_and_so_is_the_t1_of_a_setup_that_fails() {
    let config = SctpConfig { max_init_retransmits: 2, ..config() };
    let (mut net, at_a, _) = Net::associated(&config, [&[v4(1, 1)], &[v4(1, 2)]]);
    net.cut(v4(1, 1), v4(1, 2));
    net.shutdown(0, at_a);
    net.run_for(Duration::from_millis(3_500));
    let down = row(&net, 0, at_a);
    assert_eq!((down.t2expireds, down.state), (2, MibState::ShutdownSent));
    net.mend();
    net.run_for(Duration::from_secs(10));
    assert_eq!(net.hosts[0].endpoint.mib().assoc_t2expireds, 3);
    net.cut(v4(1, 1), v4(1, 2));
    let second = net.connect(0, 1);
    // After 1 s, 2 s and 4 s it is given up.
    net.run_for(Duration::from_secs(8));
    assert_eq!(net.hosts[0].endpoint.mib_association(second), None);
    assert_eq!(net.hosts[0].endpoint.mib().assoc_t1expireds, 3);
}

#[test]
fn a_row_of_an_address_begins_when_the_address_is_added() {
    let extensions = Extensions::of(&[Extension::DynamicAddresses]);
    let config = SctpConfig { extensions, unauthenticated_addresses: true, ..config() };
    let (mut net, at_a, at_z) = Net::associated(&config, [&[v4(1, 1), v4(2, 1)], &[v4(1, 2)]]);
    let up = row(&net, 1, at_z).start_time.unwrap();
    net.run_until(Instant::from_secs(5));
    net.add_address(1, v4(2, 2));
    net.change_addresses(1, at_z, &[AddressChange::Add(v4(2, 2))]);
    net.run_for(Duration::from_secs(1));
    let starts = |row: &MibAssociation| {
        let local = row.local_addresses.iter().map(|local| (local.addr, local.start_time));
        local.chain(row.rem_addresses.iter().map(|rem| (rem.addr, rem.start_time))).collect::<Vec<_>>()
    };
    let of = |at_ms| Instant::from_millis(at_ms);
    // The ASCONF arrives after 10 ms, and its answer after 10 more.
    let at_z_now = row(&net, 1, at_z);
    assert_eq!(starts(&at_z_now)[..2], [(v4(1, 2), up), (v4(2, 2), of(5_020))]);
    let at_a_now = row(&net, 0, at_a);
    assert_eq!(starts(&at_a_now)[2..], [(v4(1, 2), at_a_now.start_time.unwrap()), (v4(2, 2), of(5_010))]);
    // One that goes and comes back has a new row.
    net.change_addresses(1, at_z, &[AddressChange::Delete(v4(2, 2))]);
    net.run_for(Duration::from_secs(1));
    assert_eq!(row(&net, 0, at_a).rem_addresses.len(), 1);
    net.change_addresses(1, at_z, &[AddressChange::Add(v4(2, 2))]);
    net.run_for(Duration::from_secs(1));
    assert_eq!(starts(&row(&net, 1, at_z))[1], (v4(2, 2), of(7_020)));
    assert_eq!(starts(&row(&net, 0, at_a))[3], (v4(2, 2), of(7_010)));
}
