//! `slantpath new`: a file to begin with, which is never written over another.

use crate::place::Place;

#[test]
fn a_template_is_written_and_what_to_type_next_works() {
    let place = Place::new("new");
    let made = place.run(&["new", "geo-backup"]);
    assert_eq!((made.status, made.err.as_str()), (Some(0), ""));
    let next = "next:\n  slantpath check geo-backup.toml\n  slantpath run geo-backup.toml\n";
    assert!(made.out.starts_with("geo-backup.toml: A host with") && made.out.contains(next), "{}", made.out);
    let checked = place.run(&["check", "geo-backup.toml"]);
    assert_eq!(checked.out, "geo-backup.toml: a scenario, no errors, no warnings\n");
    let run = place.run(&["run", "geo-backup.toml"]);
    assert_eq!((run.status, run.err.as_str()), (Some(0), ""));
    // A failover to the satellite is seen.
    assert!(run.out.contains("satellite"), "{}", run.out);
    assert_eq!(place.names(), ["geo-backup.toml"]);
}

#[test]
fn a_file_that_exists_is_left_as_it_is() {
    let place = Place::new("new-exists");
    place.write("mine.toml", "mine");
    let refused = place.run(&["new", "m3ua", "mine.toml"]);
    assert_eq!((refused.status, refused.out.as_str()), (Some(2), ""));
    assert!(
        refused.err.starts_with("error: `mine.toml` exists, and nothing is overwritten; "),
        "{}",
        refused.err
    );
    assert_eq!(std::fs::read_to_string(place.path().join("mine.toml")).unwrap(), "mine");
}

#[test]
fn a_sweep_comes_with_its_base_and_a_base_that_is_there_is_taken() {
    let place = Place::new("new-sweep");
    let made = place.run(&["new", "sweep", "grid.toml"]);
    assert_eq!((made.status, made.err.as_str()), (Some(0), ""));
    assert!(made.out.contains("geo-backup.toml: its base. "), "{}", made.out);
    assert!(made.out.ends_with("  slantpath sweep grid.toml --out results\n"), "{}", made.out);
    let checked = place.run(&["check", "grid.toml"]);
    assert_eq!(checked.out, "grid.toml: a sweep, no errors, no warnings\n");
    let base = std::fs::read_to_string(place.path().join("geo-backup.toml")).unwrap();
    let mine = base.replace("270 ms", "280 ms");
    place.write("geo-backup.toml", &mine);
    assert!(place.run(&["new", "sweep"]).out.contains("geo-backup.toml: is there already"));
    assert_eq!(std::fs::read_to_string(place.path().join("geo-backup.toml")).unwrap(), mine);
}

#[test]
fn templates_are_listed_and_a_name_that_is_none_is_told_with_the_nearest() {
    let place = Place::new("new-list");
    let list = place.run(&["new", "--list"]);
    assert_eq!((list.status, list.out.lines().count()), (Some(0), 10));
    assert!(list.out.lines().all(|line| line.ends_with('.')), "{}", list.out);
    let wrong = place.run(&["new", "starlnk"]);
    assert_eq!(wrong.err, "error: there is no template `starlnk`; did you mean `starlink`?\n");
    assert_eq!((wrong.status, place.run(&["new"]).status), (Some(2), Some(2)));
    assert!(place.names().is_empty());
}
