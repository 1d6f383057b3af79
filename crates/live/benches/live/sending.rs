//! System time of our sender, and of writing as many packets alone, measured in turn.

use super::end::Task;
use super::ratios;
use super::usage::Usage;
use super::{Link, Stack, bare};

/// Odd, for a median. What the system takes for one and the same work differs by a third from one second to the next,
/// so that only what ran side by side is compared, often.
const ROUNDS: usize = 9;

/// Measures both in turn, the packets alone at the rate of our sender, and once as fast as they can be written.
pub(super) fn measure(link: &Link, messages: u64) {
    println!("{messages} messages in IP, system: CPU microseconds a message, {ROUNDS} rounds");
    let rounds: Vec<[Usage; 2]> = (0..ROUNDS).map(|_| round(link, messages)).collect();
    for (what, name) in ["our sender", "sendmmsg at its rate"].into_iter().enumerate() {
        let of_each: Vec<String> =
            rounds.iter().map(|round| format!("{:.2}", round[what].system_micros())).collect();
        println!("{name:<28} {}", of_each.join(" "));
    }
    let fastest = written(link, messages, 0);
    println!(
        "{:<28} {:.2}, {:.0} messages a second",
        "sendmmsg as fast as it can",
        fastest.system_micros(),
        fastest.messages / fastest.seconds
    );
    ratios::print_sending(&rounds);
}

fn round(link: &Link, messages: u64) -> [Usage; 2] {
    let program = std::env::current_exe().unwrap();
    let ours = (Stack::Slantpath, program.as_path());
    let task = |role: &str| Task { role: role.to_owned(), ..bare(messages) };
    let [sent, _] = link.exchange((ours, &task("send")), (ours, &back(&task("receive"))));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few hundred thousand")]
    let rate = (sent.messages / sent.seconds) as u64;
    [sent, written(link, messages, rate)]
}

/// Packets alone, read as those of an association are. Where the writer does not pause, the reader may have no room for
/// all of them, which costs less, and hardly sleeps: to wake it is a part of the writer's cost.
fn written(link: &Link, messages: u64, rate: u64) -> Usage {
    let program = std::env::current_exe().unwrap();
    let ours = (Stack::Slantpath, program.as_path());
    let task = |role: &str| Task { role: role.to_owned(), rate, ..bare(messages) };
    let mut reader = link.start(1, ours, &back(&task("receive")));
    reader.line();
    let usage = link.start(0, ours, &task("write")).usage();
    let dropped = link.dropped(1);
    assert!(rate == 0 || dropped == 0, "the reader has no room for {dropped} packets at {rate} a second");
    if dropped > 0 {
        println!("{:.0} % of them find no room", 100.0 * dropped as f64 / usage.messages);
    }
    reader.kill();
    usage
}

fn back(task: &Task) -> Task {
    Task { local: task.peer, peer: task.local, ..task.clone() }
}
