//! Effect of marks on the window.

use super::*;

/// An acknowledgement of nothing new, which echoes a mark.
fn echo(is_pure: bool) -> Acknowledgement<'static> {
    Acknowledgement {
        ack: 0,
        sequence: 0,
        window: WINDOW,
        sacked: &[],
        is_pure,
        is_echo: true,
        echoed_rtt: None,
    }
}

#[test]
fn limited_transmit_does_not_count_in_what_a_mark_halves() {
    let mut trace = Trace::started(without_sack(), 10, 100);
    trace.at(100).ack(0);
    trace.at(110).ack(0);
    assert_eq!((trace.tx.flight(), trace.tx.cwnd()), (12_000, 10_000));
    // The echo comes with new data of the peer, and is no third duplicate.
    trace.tx.handle_ack(Instant::START + Duration::from_millis(120), echo(false));
    assert_eq!((trace.tx.cwnd(), trace.tx.ssthresh()), (5_000, 5_000));
    assert_eq!(trace.tx.mark_reductions(), 1);
}

#[test]
fn a_loss_reduces_the_window_again_once_what_was_in_flight_at_a_mark_is_acknowledged() {
    let threshold_after = |acknowledged| {
        let mut trace = Trace::started(TcpConfig::default(), 10, 100);
        trace.tx.handle_ack(Instant::START + Duration::from_millis(100), echo(true));
        assert_eq!(trace.tx.ssthresh(), 5_000);
        trace.at(200).ack(acknowledged);
        trace.at(300).sack(acknowledged, &[(acknowledged + 1, acknowledged + 4)]);
        assert_eq!(trace.fast_recoveries(), 1);
        trace.tx.ssthresh()
    };
    assert_eq!([9, 10].map(threshold_after), [5_000, 3_000]);
}
