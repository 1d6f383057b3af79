//! An ASP: the state of destinations.

use slantpath_sigtran::asp::ErrorCode;
use slantpath_sigtran::m3ua::{Message, UnavailabilityCause};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::ServiceIndicator;
use slantpath_ss7::transfer::{StatusCause, TransferIndication, UserPartUnavailability};

use crate::tester::{
    AVAILABLE, AspUnderTest, CONGESTED, RESTRICTED, SERVICE, UNAVAILABLE, affected, is_error,
};

/// An active ASP that was told that all destinations are available, and has nothing to ask.
fn informed() -> AspUnderTest {
    let mut test = AspUnderTest::active();
    for code in [UNAVAILABLE, AVAILABLE, CONGESTED, RESTRICTED] {
        test.send(&Message::Dava(affected(0, code)));
    }
    // The audit of its first moment as an active ASP is not what a test waits for.
    test.wait_for(|message| matches!(message, Message::Daud(_)));
    test.expect_none(|message| matches!(message, Message::Daud(_)));
    test.indications.clear();
    test
}

/// The point codes of the next DAUD.
fn asked(test: &mut AspUnderTest) -> Vec<PointCode> {
    let received = test.wait_for(|message| matches!(message, Message::Daud(_)));
    let Message::Daud(affected) = received.message else { panic!("{received:?}") };
    affected.point_codes.iter().map(|(_, code)| *code).collect()
}

fn dupu(mask: u8) -> Message {
    let cause = UnavailabilityCause { cause: 1, user: SERVICE.into() };
    Message::Dupu { affected: affected(mask, CONGESTED), cause }
}

fn scon(mask: u8) -> Message {
    Message::Scon { affected: affected(mask, CONGESTED), concerned: None, congestion_level: None }
}

#[test]
fn m3ua_asp_ssnm_001_duna_pauses_a_destination_that_is_then_asked_for() {
    let mut test = informed();
    test.send(&Message::Duna(affected(0, UNAVAILABLE)));
    assert_eq!(test.indications, [TransferIndication::Pause(UNAVAILABLE)]);
    assert_eq!(asked(&mut test), [UNAVAILABLE]);
}

#[test]
fn m3ua_asp_ssnm_002_duna_with_a_mask_pauses_all_within_it() {
    let mut test = informed();
    test.send(&Message::Duna(affected(255, UNAVAILABLE)));
    assert_eq!(test.indications.len(), 4);
    assert_eq!(asked(&mut test), [UNAVAILABLE, AVAILABLE, CONGESTED, RESTRICTED]);
}

#[test]
fn m3ua_asp_ssnm_003_a_restricted_destination_is_asked_for() {
    let mut test = informed();
    test.send(&Message::Drst(affected(0, RESTRICTED)));
    assert!(test.indications.is_empty());
    assert_eq!(asked(&mut test), [RESTRICTED]);
}

#[test]
fn m3ua_asp_ssnm_004_restricted_destinations_within_a_mask_are_asked_for() {
    let mut test = informed();
    test.send(&Message::Drst(affected(255, RESTRICTED)));
    assert_eq!(asked(&mut test).len(), 4);
}

#[test]
fn m3ua_asp_ssnm_005_scon_tells_congestion_and_is_asked_after() {
    let mut test = informed();
    test.send(&scon(0));
    let status =
        |level| TransferIndication::Status { affected: CONGESTED, cause: StatusCause::Congestion(level) };
    assert_eq!(test.indications, [status(1)]);
    assert_eq!(asked(&mut test), [CONGESTED]);
    // A network without levels never tells of an end.
    test.send(&Message::Dava(affected(0, CONGESTED)));
    assert_eq!(test.indications, [status(1)]);
    // With levels, DAVA without a SCON before it says that the congestion is over.
    let (affected_code, concerned) = (affected(0, CONGESTED), None);
    test.send(&Message::Scon { affected: affected_code, concerned, congestion_level: Some(2) });
    assert_eq!(asked(&mut test), [CONGESTED]);
    test.send(&Message::Dava(affected(0, CONGESTED)));
    assert_eq!(test.indications, [status(1), status(2), status(0)]);
}

#[test]
fn m3ua_asp_ssnm_006_scon_with_a_mask_tells_congestion_of_all_within_it() {
    let mut test = informed();
    test.send(&scon(255));
    assert_eq!(test.indications.len(), 4);
    assert_eq!(asked(&mut test).len(), 4);
}

#[test]
fn m3ua_asp_ssnm_007_dupu_is_told_and_a_destination_without_news_is_asked_for() {
    let mut test = AspUnderTest::active();
    test.send(&dupu(0));
    let user = ServiceIndicator::new(SERVICE).unwrap();
    let cause = StatusCause::UserPartUnavailable { user, reason: UserPartUnavailability::Unequipped };
    assert_eq!(test.indications, [TransferIndication::Status { affected: CONGESTED, cause }]);
    assert!(asked(&mut test).contains(&CONGESTED));
}

#[test]
fn m3ua_asp_ssnm_008_dupu_with_a_mask_is_invalid() {
    let mut test = AspUnderTest::active();
    test.send(&dupu(255));
    test.wait_for(is_error(ErrorCode::INVALID_PARAMETER_VALUE));
    assert!(test.indications.is_empty());
}
