//! What the system takes for our sender, and for writing as many packets alone, in turn.

use super::end::Task;
use super::ratios;
use super::usage::Usage;
use super::{Link, Stack, bare};

/// Odd, for a median.
const ROUNDS: usize = 3;

/// Measures both, the packets alone at the rate of our sender and as fast as they can be written.
pub(super) fn measure(link: &Link, messages: u64) {
    println!("{messages} messages in IP, system: CPU microseconds a message");
    let mut rounds: Vec<[Usage; 3]> = (0..ROUNDS).map(|_| round(link, messages)).collect();
    let names = ["our sender", "sendmmsg at that rate", "sendmmsg as fast as it can"];
    let medians: Vec<Usage> = (0..names.len())
        .map(|what| {
            rounds.sort_by(|a, b| a[what].system_micros().total_cmp(&b[what].system_micros()));
            rounds[ROUNDS / 2][what]
        })
        .collect();
    for (name, usage) in names.into_iter().zip(&medians) {
        println!(
            "{name:<28} {:.2}, {:.0} messages a second",
            usage.system_micros(),
            usage.messages / usage.seconds
        );
    }
    ratios::print_sending(&medians[0], &medians[1]);
}

fn round(link: &Link, messages: u64) -> [Usage; 3] {
    let program = std::env::current_exe().unwrap();
    let ours = (Stack::Slantpath, program.as_path());
    let task = |role: &str, rate| Task { role: role.to_owned(), rate, ..bare(messages) };
    let back = |task: &Task| Task { local: task.peer, peer: task.local, ..task.clone() };
    let [sent, _] = link.exchange((ours, &task("send", 0)), (ours, &back(&task("receive", 0))));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few hundred thousand")]
    let rate = (sent.messages / sent.seconds) as u64;
    // Read as those of an association are. Where the writer does not pause, the reader may have no room for all of
    // them, which costs less, and hardly sleeps: to wake it is a part of the writer's cost.
    let written = |rate: u64| {
        let mut reader = link.start(1, ours, &back(&task("receive", 0)));
        reader.line();
        let usage = link.start(0, ours, &task("write", rate)).usage();
        let dropped = link.dropped(1);
        assert!(rate == 0 || dropped == 0, "the reader has no room for {dropped} packets at {rate} a second");
        println!(
            "{:>3.0} % of {} packets find no room",
            100.0 * dropped as f64 / usage.messages,
            usage.messages
        );
        reader.kill();
        usage
    };
    [sent, written(rate), written(0)]
}
