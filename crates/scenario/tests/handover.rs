//! What a change of ground stations costs an association that moves along (RFC 5061), one that fails over, and one that
//! is set up anew.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "tables/cells.rs"]
mod cells;

use std::path::Path;

use slantpath_scenario::{RunOptions, Scenario, run};

use cells::cells;

#[test]
fn an_association_that_moves_waits_for_one_round_trip_and_loses_nothing() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/ground-station-handover.toml");
    let scenario = Scenario::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
    let output = run(&scenario, &RunOptions::default()).unwrap();
    let [sent, delivered, longest] =
        [("flows", "messages_sent"), ("flows", "messages_delivered"), ("delays", "delay_max_s")]
            .map(|(table, column)| cells(&output, table, column));
    println!("sent {sent:?}\ndelivered {delivered:?}\nlongest delay {longest:?}");
    // In the order of names: before, fails-over, moves, set-up-anew.
    let [_, fails_over, moves, set_up_anew] = longest[..] else { panic!("four flows") };
    assert!(moves.unwrap() < 0.5, "{moves:?}");
    assert!(fails_over.unwrap() > 1.0, "T3-rtx has to expire first: {fails_over:?}");
    assert!(set_up_anew.unwrap() < 0.5, "{set_up_anew:?}");
    // What the old association had under way at 20 s is lost for whoever sets up anew.
    assert!(delivered[0].unwrap() < sent[0].unwrap());
    assert!(sent[2].unwrap() - delivered[2].unwrap() < 5.0, "but for what is under way at the end");
}
