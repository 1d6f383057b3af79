//! TS 101 591: alignment, with valid, invalid and inopportune behaviour of the peer.

use slantpath_base::Duration;
use slantpath_sigtran::m2pa::{Body, LinkState, LinkStatus};
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};

use crate::bench::{Bench, NONE, Sent, config, proving_emergency, proving_normal};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn m2pa_algn_v_01() {
    let mut bench = Bench::powered_off(config());
    bench.power_on();
    bench.expect(Sent::OutOfService);
    assert_eq!(bench.octets[0][..8], [1, 0, 11, 2, 0, 0, 0, 20]);
}

#[test]
fn m2pa_algn_v_02() {
    let mut bench = Bench::out_of_service();
    bench.start();
    assert_eq!(bench.octets[1][..8], [1, 0, 11, 2, 0, 0, 0, 20]);
    assert_eq!(bench.octets[1][16..], [0, 0, 0, 1]);
}

#[test]
fn m2pa_algn_v_03() {
    let mut bench = Bench::out_of_service();
    bench.align();
    bench.expect(Sent::ProvingNormal);
    assert_eq!(bench.octets[2][..8], [1, 0, 11, 2, 0, 0, 0, 40]);
}

#[test]
fn m2pa_algn_v_04() {
    let mut bench = Bench::out_of_service();
    bench.request(LinkRequest::Emergency);
    bench.align();
    bench.expect(Sent::ProvingEmergency);
}

#[test]
fn m2pa_algn_v_05() {
    let mut bench = Bench::out_of_service();
    bench.align();
    bench.expect(Sent::ProvingNormal);
    bench.status(proving_emergency());
    bench.request(LinkRequest::Emergency);
    bench.expect(Sent::ProvingEmergency);
}

#[test]
fn m2pa_algn_v_06() {
    let mut bench = Bench::out_of_service();
    bench.prove();
    bench.expect(Sent::Ready);
}

#[test]
fn m2pa_algn_v_07() {
    let mut bench = Bench::out_of_service();
    bench.request(LinkRequest::Emergency);
    bench.align();
    bench.expect(Sent::ProvingEmergency);
    bench.status(proving_emergency());
    bench.wait(Duration::from_millis(500));
    bench.expect(Sent::Ready);
}

/// Out of Service with one octet of the header changed.
fn out_of_service_with(at: usize, value: u8) -> Vec<u8> {
    let mut octets = vec![1, 0, 11, 2, 0, 0, 0, 20, 0, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 9];
    octets[at] = value;
    octets
}

/// Checks that octets that are no message of M2PA are discarded and counted: the link in service knows nothing of it.
fn check_discarded(octets: Vec<u8>) {
    let mut bench = Bench::in_service();
    bench.peer_sends_octets(0, octets);
    bench.expect_quiet(SECOND);
    assert_eq!((bench.link.state(), bench.link.counters().discarded.malformed), (LinkState::InService, 1));
}

#[test]
fn m2pa_algn_i_01() {
    check_discarded(out_of_service_with(0, 2));
}

#[test]
fn m2pa_algn_i_02() {
    let mut bench = Bench::in_service();
    bench.peer_sends_octets(0, out_of_service_with(1, 1));
    bench.expect_failure(OutOfServiceReason::PeerOutOfService);
    assert_eq!(bench.link.counters().discarded.malformed, 0);
}

#[test]
fn m2pa_algn_i_03() {
    check_discarded(out_of_service_with(2, 12));
}

#[test]
fn m2pa_algn_i_04() {
    check_discarded(out_of_service_with(3, 4));
}

#[test]
fn m2pa_algn_i_05() {
    check_discarded(out_of_service_with(5, 0x18));
}

/// One inopportune answer to Alignment does not align the link: it gives up, and says so to both sides.
fn check_not_aligned_by(inopportune: impl FnOnce(&mut Bench)) {
    let mut bench = Bench::out_of_service();
    bench.start();
    inopportune(&mut bench);
    bench.wait(SECOND * 5);
    bench.expect(Sent::OutOfService);
    bench.expect_indication(&LinkIndication::OutOfService(OutOfServiceReason::AlignmentNotPossible));
    bench.expect_quiet(SECOND * 60);
}

#[test]
fn m2pa_algn_o_01() {
    check_not_aligned_by(|bench| {
        bench.status(proving_normal());
        bench.expect(Sent::ProvingNormal);
    });
}

#[test]
fn m2pa_algn_o_02() {
    check_not_aligned_by(|bench| {
        bench.status(proving_emergency());
        bench.expect(Sent::ProvingNormal);
    });
}

#[test]
fn m2pa_algn_o_03() {
    check_not_aligned_by(|bench| bench.status(LinkStatus::Ready));
}

#[test]
fn m2pa_algn_o_04() {
    check_not_aligned_by(|bench| bench.peer_sends(0, Body::Acknowledgement, 0, NONE));
}

#[test]
fn m2pa_algn_o_05() {
    check_not_aligned_by(|bench| {
        bench.data(0, NONE);
        assert_eq!(bench.link.counters().discarded.user_data_out_of_service, 1);
    });
}
