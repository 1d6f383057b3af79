//! Ends of processes, descriptors, daemons and notifiers under `slantpath sctp`, and what bad input gets.

use crate::place::{Outcome, Place};
use crate::sctp::{has, served};

const PROGRAM: &str = include_str!("sctp_ends.py");

fn case(door: &str, name: &str) -> Option<Outcome> {
    has("python3", &["--version"]).then(|| {
        let place = Place::new(&format!("sctp-ends-{door}-{name}"));
        place.write("ends.py", PROGRAM);
        served(&place, &["--door", door], &["timeout", "60", "python3", "ends.py", name])
    })
}

fn is_whole(door: &str, name: &str) {
    let Some(outcome) = case(door, name) else { return };
    assert_eq!((outcome.status, &*outcome.out), (Some(0), "whole\n"), "{door} {name}: {outcome:?}");
}

fn by_both_doors(name: &str) {
    for door in ["preload", "notify"] {
        is_whole(door, name);
    }
}

#[test]
fn a_child_that_was_forked_after_accept_serves_it_and_its_end_is_in_order() {
    by_both_doors("fork_after_accept");
}

#[test]
fn threads_share_a_socket_and_no_message_is_cut() {
    by_both_doors("threads");
}

#[test]
fn a_socket_outlives_exec_if_it_is_marked_so() {
    by_both_doors("execute");
}

#[test]
fn a_process_that_becomes_another_program_has_closed_its_sockets_in_order() {
    by_both_doors("executed_away");
}

#[test]
fn a_descriptor_is_passed_on_to_another_process() {
    // The number that it gets there is none that the filter of the other door knows.
    is_whole("preload", "passed_on");
}

#[test]
fn the_rest_of_a_message_is_for_the_next_read_of_whichever_process() {
    by_both_doors("small_buffer");
}

#[test]
fn a_connect_to_nobody_that_does_not_wait_is_told_by_poll_and_its_error() {
    by_both_doors("nobody");
}

#[test]
fn the_associations_of_a_killed_program_are_aborted() {
    by_both_doors("killed");
}

#[test]
fn every_way_to_close_or_end_that_is_none_by_force_is_in_order() {
    by_both_doors("exits");
}

#[test]
fn a_port_that_needs_a_privilege_is_had_by_the_program_s_own_rights() {
    by_both_doors("low_port");
}

#[test]
fn bad_input_has_linux_s_errors_and_changes_nothing_else() {
    by_both_doors("bad_input");
}

#[test]
fn when_the_daemon_is_killed_reads_end_writes_are_reset_and_nothing_hangs() {
    for door in ["preload", "notify"] {
        let Some(outcome) = case(door, "daemon_killed") else { return };
        assert_eq!(outcome.out, "whole\n", "{door}: {outcome:?}");
    }
}

#[test]
fn when_the_notifier_is_killed_the_program_ends_with_it_and_a_line_says_so() {
    let Some(outcome) = case("notify", "notifier_killed") else { return };
    assert_eq!((outcome.status, &*outcome.out), (Some(128 + 9), "up\n"), "{outcome:?}");
    assert!(outcome.err.contains("signal 9 has ended the notifier"), "{outcome:?}");
}
