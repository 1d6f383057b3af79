//! `slantpath keys`: keys, columns and flags by a word.

use crate::place::Place;

#[test]
fn a_word_finds_keys_columns_and_flags_and_names_come_first() {
    let place = Place::new("keys");
    let found = place.run(&["keys", "RTO_MIN"]);
    assert_eq!((found.status, found.err.as_str()), (Some(0), ""));
    let mut lines = found.out.lines();
    assert_eq!(lines.next(), Some("sctp.<name>.rto_min  (scenario; like \"250 ms\"; default 1 s)"));
    assert_eq!(lines.next(), Some("    RTO.Min: the least retransmission time-out."));
    assert!(found.out.contains("slantpath load --rto-min  (flag; TIME)\n"), "{}", found.out);
    let column = place.run(&["keys", "delay_mean_s"]).out;
    assert!(column.contains("flows.delay_mean_s  (results; number, s)\n"), "{column}");
    let sky = place.run(&["keys", "interruption_s"]).out;
    assert!(sky.contains("handovers.interruption_s  (topology results; number, s)\n"), "{sky}");
    let many = place.run(&["keys", "delay"]).out;
    assert!(many.lines().count() == 61 && many.contains(" more: give another word"), "{many}");
}

#[test]
fn without_a_word_the_sections_are_listed_with_their_counts() {
    let place = Place::new("keys-sections");
    let sections = place.run(&["keys"]);
    assert_eq!(sections.status, Some(0));
    let has = |kind: &str, section: &str| {
        sections.out.lines().any(|line| {
            let cells: Vec<&str> = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
            matches!(cells[..], [k, s, count] if k == kind && s == section && count.parse::<u32>().is_ok())
        })
    };
    for (kind, section) in [
        ("scenario", "links"),
        ("sweep", "sweep"),
        ("topology", "sites"),
        ("plan", "band"),
        ("results", "flows"),
        ("topology results", "legs"),
        ("flag", "slantpath run"),
    ] {
        assert!(has(kind, section), "{kind} {section}: {}", sections.out);
    }
    let json = place.run(&["keys", "--json"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert!(json.as_array().expect("a list").iter().all(|section| section["entries"].as_u64() > Some(0)));
}

#[test]
fn what_is_found_nowhere_is_told_with_what_is_near() {
    let place = Place::new("keys-near");
    let outcome = place.run(&["keys", "bdp"]);
    assert_eq!((outcome.status, outcome.out.as_str()), (Some(1), ""));
    assert_eq!(outcome.err, "error: nothing has `bdp` in its name or meaning; did you mean `cwnd`?\n");
    let json = place.run(&["keys", "--json", "rto_mn"]);
    assert!(json.status == Some(1) && json.err.ends_with("did you mean `rto_min`?\n"), "{}", json.err);
}
