//! A peer begins anew (RFC 9260, section 5.2.4, action A): what the user of the association before has asked
//! for, and what its host has said, holds for the new one, too, or is said to be over.

use std::net::IpAddr;

use slantpath_base::Duration;
use slantpath_sctp::chunk::{AddressChange, ReconfigurationResult, kind};
use slantpath_sctp::{
    Acceptance, AddressEvent, AssociationId, AssociationState, AuthenticationConfig, Chunk, CloseReason,
    Event, Extension, Extensions, PathState, ResetDirection, SctpConfig, SharedKey, StreamChange, StreamId,
    StreamScheduling,
};

use crate::net::{Net, describe, parse, v4};

const A: usize = 0;
const Z: usize = 1;

fn config() -> SctpConfig {
    SctpConfig {
        extensions: Extensions::of(&[Extension::DynamicAddresses, Extension::Reconfiguration]),
        unauthenticated_addresses: true,
        stream_scheduling: StreamScheduling::Priority,
        ..SctpConfig::default()
    }
}

/// Two hosts in two networks with an association, all paths of which are active; and Z's end of it.
fn associated(config: &SctpConfig) -> (Net, AssociationId) {
    let addresses: [&[IpAddr]; 2] = [&[v4(1, 1), v4(2, 1)], &[v4(1, 2), v4(2, 2)]];
    let (mut net, _, at_z) = Net::associated(config, addresses);
    net.run_for(Duration::from_secs(5));
    (net, at_z)
}

/// A loses its memory, and calls again.
fn restart(net: &mut Net, config: &SctpConfig) {
    net.add(&[v4(1, 1), v4(2, 1)], 5_000, config.clone());
    net.mend();
    net.drop_under_way();
    net.events(Z);
    net.connect(A, Z);
}

/// Nothing of Z's arrives.
fn silence(net: &mut Net) {
    net.cut(v4(1, 2), v4(1, 1));
    net.cut(v4(2, 2), v4(2, 1));
}

fn state(net: &Net, id: AssociationId) -> AssociationState {
    net.hosts[Z].endpoint.association(id).expect("it is established").snapshot().state
}

#[test]
fn an_end_that_has_been_asked_for_comes_with_the_restart() {
    use AssociationState::{ShutdownPending, ShutdownReceived, ShutdownSent};
    let config = SctpConfig { heartbeat_interval: None, ..SctpConfig::default() };
    for expected in [ShutdownPending, ShutdownSent, ShutdownReceived] {
        for takes_callers in [true, false] {
            let case = format!("{expected:?}, takes callers: {takes_callers}");
            let (mut net, at_z) = associated(&config);
            let at_a = net.hosts[A].last.unwrap();
            silence(&mut net);
            if expected != ShutdownSent {
                net.send(Z, at_z, 0, "lost");
            }
            if expected == ShutdownReceived {
                net.shutdown(A, at_a);
                net.run_for(Duration::from_millis(20));
            }
            net.shutdown(Z, at_z);
            assert_eq!(state(&net, at_z), expected, "{case}");
            if !takes_callers {
                net.hosts[Z].endpoint.listen(2_905, Acceptance::Refused);
            }
            restart(&mut net, &config);
            net.run_for(Duration::from_secs(1));
            let told: Vec<_> = net.hosts[Z].events.drain(..).collect();
            let (of_old, of_new): (Vec<_>, Vec<_>) = told.into_iter().partition(|(id, _)| *id == at_z);
            let last = of_old.last().map(|(_, event)| event);
            assert_eq!(last, Some(&Event::Closed(CloseReason::PeerRestarted)), "{case}");
            assert_eq!(of_old.len(), 1 + usize::from(expected != ShutdownSent), "{case}: {of_old:?}");
            assert_eq!(net.hosts[Z].endpoint.mib().aborteds, 1, "{case}");
            if takes_callers {
                let [(id, Event::Established { .. }), ..] = of_new[..] else { panic!("{case}: {of_new:?}") };
                let caller = net.hosts[A].last.unwrap();
                net.send(A, caller, 0, "again");
                net.run_for(Duration::from_secs(1));
                assert_eq!(net.received(Z).len(), 1, "{case}");
                net.shutdown(Z, id);
                net.run_for(Duration::from_secs(1));
            } else {
                assert_eq!(of_new, [], "{case}");
                let end = net.events(A);
                assert_eq!(end, [Event::Closed(CloseReason::PeerAborted(Vec::new()))], "{case}");
            }
            let counts = [A, Z].map(|host| net.hosts[host].endpoint.association_count());
            assert_eq!(counts, [0, 0], "{case}\n{}", net.trace(0));
        }
    }
}

/// The user of an association that only the peer ends wants nothing yet.
#[test]
fn an_end_that_only_the_peer_has_asked_for_gives_way_to_its_restart() {
    let config = SctpConfig { heartbeat_interval: None, ..SctpConfig::default() };
    let (mut net, at_z) = associated(&config);
    let at_a = net.hosts[A].last.unwrap();
    silence(&mut net);
    net.send(Z, at_z, 0, "lost");
    net.shutdown(A, at_a);
    net.run_for(Duration::from_millis(20));
    assert_eq!(state(&net, at_z), AssociationState::ShutdownReceived);
    restart(&mut net, &config);
    net.run_for(Duration::from_secs(1));
    let events = net.events(Z);
    let [Event::SendFailed { .. }, Event::Restarted, ..] = &events[..] else { panic!("{events:?}") };
    assert_eq!(state(&net, at_z), AssociationState::Established);
}

#[test]
fn the_primary_address_and_heartbeats_that_were_chosen_are_chosen_again() {
    let (mut net, at_z) = associated(&config());
    assert!(net.hosts[Z].endpoint.set_primary(net.now, at_z, v4(2, 1)));
    assert!(net.hosts[Z].endpoint.set_heartbeat_interval(net.now, at_z, v4(1, 1), None));
    restart(&mut net, &config());
    net.run_for(Duration::from_secs(5));
    let association = net.hosts[Z].endpoint.association(at_z).unwrap();
    let primary = association.path_snapshots(net.now).find(|path| path.is_primary).unwrap();
    assert_eq!(primary.destination, v4(2, 1));
    let from = net.sent.len();
    net.run_for(Duration::from_secs(300));
    let probed = |to: IpAddr| {
        let is_probe = |sent: &&crate::net::Sent| sent.route.1 == to && describe(&sent.packet) == "HEARTBEAT";
        net.sent[from..].iter().filter(is_probe).count()
    };
    assert_eq!((probed(v4(1, 1)), probed(v4(2, 1)) > 5), (0, true));
}

#[test]
fn priorities_that_were_set_hold_after_a_restart() {
    let (mut net, at_z) = associated(&config());
    assert!(net.hosts[Z].endpoint.set_stream_value(at_z, StreamId(1), 9));
    restart(&mut net, &config());
    net.run_for(Duration::from_secs(1));
    // What is less urgent comes last of what the window has not let out at once.
    for stream in [0, 0, 0, 0, 0, 0, 1, 0, 0, 0] {
        net.send(Z, at_z, stream, vec![0; 1_000]);
    }
    net.run_for(Duration::from_secs(1));
    let streams: Vec<_> = net.received(A).into_iter().map(|message| message.stream.0).collect();
    assert_eq!(streams, [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn changes_of_addresses_that_wait_for_an_answer_are_asked_for_again() {
    let (mut net, at_z) = associated(&config());
    silence(&mut net);
    net.add_address(Z, v4(3, 2));
    net.change_addresses(Z, at_z, &[AddressChange::Add(v4(3, 2))]);
    net.change_addresses(Z, at_z, &[AddressChange::Delete(v4(2, 2))]);
    restart(&mut net, &config());
    net.run_for(Duration::from_secs(5));
    let told = net.events(Z);
    let answers: Vec<_> = told.iter().filter(|event| matches!(event, Event::Addresses(_))).collect();
    let answer = |change, is_accepted| Event::Addresses(AddressEvent::Answered { change, is_accepted });
    let [added, deleted] = [AddressChange::Add(v4(3, 2)), AddressChange::Delete(v4(2, 2))];
    assert_eq!(answers, [&answer(added, true), &answer(deleted, true)], "{told:?}");
    let at_a = net.hosts[A].last.unwrap();
    let mut known = net.hosts[A].endpoint.peer(at_a).unwrap().addresses.to_vec();
    known.sort();
    assert_eq!(known, [v4(1, 2), v4(3, 2)]);
}

#[test]
fn requests_to_change_streams_are_over_with_a_restart() {
    let nothing = ReconfigurationResult::NothingToDo;
    for (is_reset, result) in [(true, nothing), (false, ReconfigurationResult::Denied)] {
        let (mut net, at_z) = associated(&config());
        silence(&mut net);
        let now = net.now;
        let endpoint = &mut net.hosts[Z].endpoint;
        let change = if is_reset {
            endpoint.reset_streams(now, at_z, ResetDirection::Outbound, &[StreamId(1)]).unwrap();
            StreamChange::ResetOutbound([StreamId(1)].into())
        } else {
            endpoint.add_streams(now, at_z, 2, 0).unwrap();
            StreamChange::AddOutbound(2)
        };
        net.drain(Z);
        // Another one waits for its turn.
        net.hosts[Z].endpoint.reset_streams(now, at_z, ResetDirection::Outbound, &[StreamId(3)]).unwrap();
        let waiting = StreamChange::ResetOutbound([StreamId(3)].into());
        net.drain(Z);
        restart(&mut net, &config());
        net.run_for(Duration::from_secs(1));
        let events = net.events(Z);
        let expected = [
            Event::ReconfigurationAnswered { change, result },
            Event::ReconfigurationAnswered { change: waiting, result: nothing },
            Event::Restarted,
        ];
        assert_eq!(events[..3], expected);
    }
}

#[test]
fn a_link_that_is_down_stays_down_and_routes_are_asked_for_again() {
    let (mut net, at_z) = associated(&config());
    net.is_down(Z, v4(2, 2));
    restart(&mut net, &config());
    net.run_for(Duration::from_secs(5));
    let association = net.hosts[Z].endpoint.association(at_z).unwrap();
    let states: Vec<_> = association.path_snapshots(net.now).map(|path| path.state).collect();
    assert_eq!(states, [PathState::Active, PathState::Inactive]);

    let (mut net, at_z) = associated(&config());
    net.hosts[Z].endpoint.ask_for_routes();
    net.hosts[Z].routes = [(v4(1, 1), vec![v4(2, 2)]), (v4(2, 1), vec![v4(1, 2)])].into();
    restart(&mut net, &config());
    net.run_for(Duration::from_millis(35));
    let now = net.now;
    let sources: Vec<_> = net.hosts[Z].endpoint.path_snapshots(now, at_z).map(|path| path.source).collect();
    assert_eq!(sources, [v4(2, 2), v4(1, 2)]);
}

#[test]
fn keys_that_were_added_are_there_after_a_restart() {
    let keys = |ids: &[u16]| ids.iter().map(|id| (*id, SharedKey::new(id.to_be_bytes().to_vec()))).collect();
    let config = |ids: &[u16], active_key| SctpConfig {
        extensions: Extensions::of(&[Extension::Authentication]),
        authentication: AuthenticationConfig {
            chunks: vec![kind::DATA],
            keys: keys(ids),
            active_key,
            ..AuthenticationConfig::default()
        },
        ..SctpConfig::default()
    };
    let (mut net, at_z) = associated(&config(&[0], 0));
    net.hosts[Z].endpoint.add_key(at_z, 9, &SharedKey::new(9_u16.to_be_bytes().to_vec())).unwrap();
    net.hosts[Z].endpoint.activate_key(at_z, 9).unwrap();
    net.hosts[Z].endpoint.delete_key(at_z, 0).unwrap();
    restart(&mut net, &config(&[9], 9));
    net.run_for(Duration::from_secs(1));
    let from = net.sent.len();
    net.send(Z, at_z, 0, "by the key of before");
    net.run_for(Duration::from_secs(1));
    let (_, chunks) = parse(&net.sent[from].packet);
    assert!(matches!(&chunks[0], Chunk::Auth(auth) if auth.key == 9), "{chunks:?}");
    assert_eq!(net.received(A).len(), 1);
}
