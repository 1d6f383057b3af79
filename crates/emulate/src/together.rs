//! Work that waits for the kernel, done for many things at once.
//!
//! A ring that is made, and a packet socket that is closed, waits until all processors have left what they read at that
//! moment (a grace period of RCU: tens of milliseconds). One after another, a hundred doors wait a hundred times; those
//! that wait at one time wait for the same.

use std::thread;

/// Most threads at one time. A thread of more things than one does them in order.
const THREADS_MAX: usize = 64;

/// Does the work for each of the things, on threads, and gives the outcomes in the order of the things. Threads have
/// the network namespace of the caller.
pub(crate) fn together<T: Send, R: Send>(things: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    if things.len() <= 1 {
        return things.into_iter().map(work).collect();
    }
    let share = things.len().div_ceil(THREADS_MAX);
    let mut things = things.into_iter();
    thread::scope(|scope| {
        let mut running = Vec::new();
        loop {
            let part: Vec<T> = things.by_ref().take(share).collect();
            if part.is_empty() {
                break;
            }
            running.push(scope.spawn(|| part.into_iter().map(&work).collect::<Vec<R>>()));
        }
        let joined = running.into_iter().map(|thread| thread.join());
        joined
            .flat_map(|outcomes| outcomes.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Numbers of things that one thread had, the most and how many threads there were.
    fn most_and_threads(things: u32) -> (u32, usize) {
        let outcomes = together((0..things).collect(), |thing| (thing, thread::current().id()));
        assert!(outcomes.iter().map(|(thing, _)| *thing).eq(0..things), "{outcomes:?}");
        let mut by_thread: BTreeMap<String, u32> = BTreeMap::new();
        for (_, id) in outcomes {
            *by_thread.entry(format!("{id:?}")).or_default() += 1;
        }
        (by_thread.values().copied().max().unwrap_or(0), by_thread.len())
    }

    #[test]
    fn no_thing_waits_for_another_until_threads_are_many() {
        for things in [1, 2, 64] {
            assert_eq!(most_and_threads(things), (1, things as usize));
        }
        assert_eq!(most_and_threads(100), (2, 50));
        assert_eq!(most_and_threads(0), (0, 0));
    }
}
