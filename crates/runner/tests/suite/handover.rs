//! Cost of a change of ground stations to an association that moves along (RFC 5061), one that fails over, and one that
//! is set up anew.

use crate::cells::cells;
use crate::project;

#[test]
fn an_association_that_moves_waits_for_one_round_trip_and_loses_nothing() {
    let output = project::run_file("ground-station-handover.toml", &[]);
    let [sent, delivered, longest] =
        [("flows", "messages_sent"), ("flows", "messages_delivered"), ("delays", "delay_max_s")]
            .map(|(table, column)| cells(&output, table, column));
    // In the order of names: before, fails-over, moves, set-up-anew.
    let [_, fails_over, moves, set_up_anew] = longest[..] else { panic!("four flows") };
    assert!((0.09..0.1).contains(&moves.unwrap()), "a round trip, and what waited for it: {moves:?}");
    assert!(fails_over.unwrap() > 60.0, "T3-rtx has to expire six times first: {fails_over:?}");
    assert!(set_up_anew.unwrap() < 0.03, "{set_up_anew:?}");
    // But for what is under way at the end.
    for flow in 1..4 {
        assert_eq!(sent[flow].unwrap() - delivered[flow].unwrap(), 1.0, "flow {flow}");
    }
}
