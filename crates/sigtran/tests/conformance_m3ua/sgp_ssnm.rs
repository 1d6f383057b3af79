//! An SGP: the state of destinations, when an ASP asks.

use slantpath_sigtran::m3ua::{AffectedDestinations, Availability, Message};

use crate::tester::{AVAILABLE, CONGESTED, RESTRICTED, SgpUnderTest, UNAVAILABLE, affected};

/// An SGP with one active ASP, that knows the state of four destinations.
fn knowing() -> SgpUnderTest {
    let mut test = SgpUnderTest::active();
    test.sgp.set_availability((None, AVAILABLE), Availability::Available);
    test.sgp.set_availability((None, UNAVAILABLE), Availability::Available);
    test.sgp.set_availability((None, UNAVAILABLE), Availability::Unavailable);
    test.sgp.set_availability((None, RESTRICTED), Availability::Restricted);
    test.sgp.set_availability((None, CONGESTED), Availability::Available);
    test.sgp.set_congestion((None, CONGESTED), 2);
    test.collect();
    // What was told unasked is not what a test waits for.
    test.expect_none(0, |message| matches!(message, Message::Daud(_)));
    test
}

fn codes(affected: &AffectedDestinations) -> Vec<u32> {
    affected.point_codes.iter().map(|(_, code)| code.0).collect()
}

#[test]
fn m3ua_sgp_ssnm_001_a_congested_destination_is_answered_by_scon_before_dava() {
    let mut test = knowing();
    test.send(0, &Message::Daud(affected(0, CONGESTED)));
    let received = test.wait_for(0, |message| matches!(message, Message::Scon { .. }));
    let Message::Scon { affected, congestion_level, .. } = received.message else { panic!("no SCON") };
    assert_eq!((codes(&affected), congestion_level), (vec![CONGESTED.0], Some(2)));
    test.wait_for(0, |message| matches!(message, Message::Dava(_)));
}

#[test]
fn m3ua_sgp_ssnm_002_a_restricted_destination_is_answered_by_drst() {
    let mut test = knowing();
    test.send(0, &Message::Daud(affected(0, RESTRICTED)));
    let received = test.wait_for(0, |message| matches!(message, Message::Drst(_)));
    let Message::Drst(affected) = received.message else { panic!("no DRST") };
    assert_eq!(codes(&affected), [RESTRICTED.0]);
}

#[test]
fn m3ua_sgp_ssnm_003_unavailable_and_unknown_destinations_are_answered_by_duna() {
    for code in [UNAVAILABLE.0, 9_999] {
        let mut test = knowing();
        test.send(0, &Message::Daud(affected(0, slantpath_ss7::PointCode(code))));
        let received = test.wait_for(0, |message| matches!(message, Message::Duna(_)));
        let Message::Duna(affected) = received.message else { panic!("no DUNA") };
        assert_eq!(codes(&affected), [code]);
    }
}

#[test]
fn m3ua_sgp_ssnm_004_an_available_destination_is_answered_by_dava() {
    let mut test = knowing();
    test.send(0, &Message::Daud(affected(0, AVAILABLE)));
    let received = test.wait_for(0, |message| matches!(message, Message::Dava(_)));
    let Message::Dava(affected) = received.message else { panic!("no DAVA") };
    assert_eq!(codes(&affected), [AVAILABLE.0]);
}

#[test]
fn m3ua_sgp_ssnm_004_masked_all_destinations_within_a_mask_are_answered_by_their_states() {
    let mut test = knowing();
    test.send(0, &Message::Daud(affected(255, AVAILABLE)));
    test.wait_for(0, |message| matches!(message, Message::Scon { .. }));
    test.wait_for(0, |message| matches!(message, Message::Duna(_)));
    test.wait_for(0, |message| matches!(message, Message::Drst(_)));
    let received = test.wait_for(0, |message| matches!(message, Message::Dava(_)));
    let Message::Dava(affected) = received.message else { panic!("no DAVA") };
    // The ASP's own point code is known too.
    assert_eq!(codes(&affected), [100, AVAILABLE.0, CONGESTED.0]);
}
