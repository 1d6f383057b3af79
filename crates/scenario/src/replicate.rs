//! Many runs on many threads. The only place that knows threads: a run itself has one, and outcomes are
//! collected by their index, so that nothing depends on how many there are.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::output::RunOutput;
use crate::run::{RunError, RunOptions, run};
use crate::scenario::Scenario;

/// How many runs are made at once, who watches, and who may stop them.
#[derive(Clone, Copy)]
pub struct Workers<'a> {
    /// Threads; 0 is one for each processor.
    pub threads: usize,
    /// Called after each run with the number of finished ones and of all.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Set by another thread: no further run is begun.
    pub stop: &'a AtomicBool,
}

/// Never set.
static NEVER: AtomicBool = AtomicBool::new(false);

impl Workers<'static> {
    /// So many threads, which nobody watches or stops.
    pub const fn new(threads: usize) -> Self {
        Self { threads, progress: &|_, _| {}, stop: &NEVER }
    }
}

impl Workers<'_> {
    /// Does `work` for every index below `count`. The outcomes stand in the order of the indices; `None` where
    /// work was stopped before it began. The first error, by index among those that happened, ends it all.
    pub(crate) fn each<T: Send, E: Send>(
        &self,
        count: usize,
        work: impl Fn(usize) -> Result<T, E> + Sync,
    ) -> Result<Vec<Option<T>>, E> {
        let done = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let one = |index: usize| {
            if self.stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let outcome = work(index);
            match &outcome {
                Ok(_) => (self.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, count),
                Err(_) => failed.store(true, Ordering::Relaxed),
            }
            outcome.map(Some)
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build()
            .expect("the operating system grants the threads");
        // Indices one by one, in order: runs differ much in length.
        let all: Vec<Result<Option<T>, E>> =
            pool.install(|| (0..count).into_par_iter().with_max_len(1).map(one).collect());
        all.into_iter().collect()
    }
}

/// Makes replications `first..first + count` of a scenario. `None` where they were stopped.
pub fn replicate(
    scenario: &Scenario,
    options: &RunOptions,
    count: usize,
    workers: Workers<'_>,
) -> Result<Vec<Option<RunOutput>>, RunError> {
    workers.each(count, |index| {
        let options = RunOptions { run: options.run + index as u64, ..options.clone() };
        run(scenario, &options)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_stand_in_order_on_any_number_of_threads() {
        for threads in [1, 2, 7] {
            let outcomes = Workers::new(threads).each(100, |index| Ok::<_, ()>(index * index)).unwrap();
            assert_eq!(outcomes, (0..100).map(|index| Some(index * index)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn after_a_stop_nothing_is_begun() {
        let stop = AtomicBool::new(false);
        let workers = Workers { threads: 1, progress: &|_, _| {}, stop: &stop };
        let outcomes = workers.each(10, |index| {
            stop.store(index == 3, Ordering::Relaxed);
            Ok::<_, ()>(index)
        });
        let done = outcomes.unwrap().into_iter().flatten().count();
        assert!((1..10).contains(&done), "{done}");
    }

    #[test]
    fn an_error_ends_the_work() {
        let fail_at_five = |index| if index == 5 { Err(index) } else { Ok(index) };
        assert_eq!(Workers::new(2).each(10, fail_at_five), Err(5));
    }

    #[test]
    fn progress_is_told_of_every_run() {
        let told = AtomicUsize::new(0);
        let progress = |_: usize, all: usize| {
            told.fetch_add(all, Ordering::Relaxed);
        };
        let workers = Workers { threads: 2, progress: &progress, stop: &NEVER };
        workers.each(10, Ok::<_, ()>).unwrap();
        assert_eq!(told.into_inner(), 100);
    }
}
