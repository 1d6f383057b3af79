//! Limits of the figures, printed beside them: ratios within one run, which hold on other machines.

use super::usage::Usage;
use super::{Pair, Stack};

/// Ours in each role, against either peer, to usrsctp in its place.
const OF_USRSCTP: f64 = 0.5;
/// Limit of the system's time for our sender, over its time for `sendmmsg` alone at the same rate.
const OF_SENDMMSG: f64 = 1.2;
/// A message of a server of a hundred thousand associations, to one of a thousand.
const OF_MANY: f64 = 1.2;

/// In each role and against each peer: what ours takes of what usrsctp takes there.
pub(super) fn print_roles(pairs: &[Pair]) {
    for (end, role) in ["sending to", "receiving from"].into_iter().enumerate() {
        for peer in [Stack::Slantpath, Stack::Usrsctp] {
            let of = |stack: Stack| {
                let pair =
                    pairs.iter().find(|pair| pair.stacks[end] == stack && pair.stacks[1 - end] == peer)?;
                Some(pair.usage[end].micros())
            };
            if let (Some(ours), Some(theirs)) = (of(Stack::Slantpath), of(Stack::Usrsctp)) {
                let what = format!("{role} {}: ours to usrsctp's", peer.name());
                print(&what, ours / theirs, OF_USRSCTP);
            }
        }
    }
    println!();
}

/// Prints the system's time for our sender over its time for writing the same packets alone: the median of the ratios
/// of some rounds.
pub(super) fn print_sending(rounds: &[[Usage; 2]]) {
    let ratio = |[sender, written]: &[Usage; 2]| sender.system_micros() / written.system_micros();
    let mut ratios: Vec<f64> = rounds.iter().map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    print("the system's part of our sender to that at its rate", ratios[ratios.len() / 2], OF_SENDMMSG);
    println!("single rounds: {:.2} to {:.2}\n", ratios[0], ratios[ratios.len() - 1]);
}

/// A message of few associations and one of many.
pub(super) fn print_crowds(few: &Usage, many: &Usage) {
    print("a message of the last to one of the first", many.micros() / few.micros(), OF_MANY);
    println!();
}

fn print(what: &str, ratio: f64, most: f64) {
    let verdict = if ratio <= most { "" } else { ": more than asked" };
    println!("{what}: {ratio:.2} (at most {most} is asked){verdict}");
}
