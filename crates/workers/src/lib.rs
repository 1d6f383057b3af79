//! Pieces of work on many threads. The only place that knows threads: a piece itself has one, and outcomes are
//! collected by their index, so that nothing depends on how many there are.
//!
//! Runs of a sweep and sites of a sky are such pieces. They report progress, and a flag stops them.

use core::num::NonZero;
use core::ops::ControlFlow;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use rayon::ThreadPool;
use rayon::prelude::*;

/// Settings of the work: number of pieces at once, watcher, and flag that stops them.
#[derive(Clone, Copy)]
pub struct Workers<'a> {
    /// Threads, of which no more are started than there is work for; 0 is one for each processor.
    pub threads: usize,
    /// Called every few milliseconds of work, from any thread, with how far the work is.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// Set by another thread: no further piece is begun, and those that are being worked on end within milliseconds.
    pub stop: &'a AtomicBool,
}

/// Progress of the work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Pieces that are done.
    pub done: usize,
    /// All of them.
    pub all: usize,
    /// Share of the whole that is done, what is being worked on included: from 0 to 1.
    pub share: f64,
}

/// Flag that is never set.
static NEVER: AtomicBool = AtomicBool::new(false);

impl Workers<'static> {
    /// So many threads, which nobody watches or stops.
    pub const fn new(threads: usize) -> Self {
        Self { threads, progress: &|_| {}, stop: &NEVER }
    }
}

impl Workers<'_> {
    /// Does `work` for every index below `count`. The outcomes stand in the order of the indices; `None` where
    /// work was stopped. The first error, by index among those that happened, ends it all.
    pub fn each<T: Send, E: Send>(
        &self,
        count: usize,
        work: impl Fn(usize, &mut Piece<'_>) -> Result<Option<T>, E> + Sync,
    ) -> Result<Vec<Option<T>>, E> {
        let tally = Tally { progress: self.progress, all: count, done: 0.into(), parts: 0.into() };
        let failed = AtomicBool::new(false);
        let one = |index: usize| {
            let mut piece = Piece { tally: &tally, stop: self.stop, failed: &failed, parts: 0 };
            if piece.go_on(0.0).is_break() {
                return Ok(None);
            }
            let outcome = work(index, &mut piece);
            match &outcome {
                Ok(Some(_)) => piece.finish(),
                Ok(None) => {}
                Err(_) => failed.store(true, Ordering::Relaxed),
            }
            outcome
        };
        // Indices one by one, in order: pieces differ much in length.
        let all: Vec<Result<Option<T>, E>> = pool(self.threads, count)
            .install(|| (0..count).into_par_iter().with_max_len(1).map(one).collect());
        all.into_iter().collect()
    }
}

/// So many threads, 0 for one on each processor; or as many as there is work for, or as the operating system grants.
fn pool(threads: usize, count: usize) -> ThreadPool {
    let processors = || std::thread::available_parallelism().map_or(1, NonZero::get);
    let wanted = if threads == 0 { processors() } else { threads };
    let mut threads = wanted.min(count.max(1));
    loop {
        match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => return pool,
            Err(error) => assert!(threads > 1, "not even one thread can be started: {error}"),
        }
        threads /= 2;
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share lies between 0 and 1")]
fn parts(share: f64) -> u64 {
    (share * PARTS as f64) as u64
}

/// Progress of all pieces of some work together.
struct Tally<'a> {
    progress: &'a (dyn Fn(Progress) + Sync),
    all: usize,
    done: AtomicUsize,
    /// In millionths of a piece.
    parts: AtomicU64,
}

/// Parts into which a piece is divided to tell of its progress.
const PARTS: u64 = 1_000_000;

impl Tally<'_> {
    fn report(&self) {
        let done = self.done.load(Ordering::Relaxed);
        let whole = PARTS as f64 * self.all as f64;
        (self.progress)(Progress {
            done,
            all: self.all,
            share: self.parts.load(Ordering::Relaxed) as f64 / whole,
        });
    }
}

/// One piece of some work: it tells how far it is, and hears whether to go on.
pub struct Piece<'a> {
    tally: &'a Tally<'a>,
    stop: &'a AtomicBool,
    failed: &'a AtomicBool,
    /// Parts of this piece that the tally has counted.
    parts: u64,
}

impl Piece<'_> {
    /// Tells that so much of the piece is done, and says whether it is to go on.
    pub fn go_on(&mut self, share: f64) -> ControlFlow<()> {
        if self.stop.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        if self.advance(parts(share)) {
            self.tally.report();
        }
        ControlFlow::Continue(())
    }

    /// Told in any case: a piece may have been at its end before.
    fn finish(&mut self) {
        self.tally.done.fetch_add(1, Ordering::Relaxed);
        self.advance(PARTS);
        self.tally.report();
    }

    fn advance(&mut self, parts: u64) -> bool {
        let more = parts.min(PARTS).saturating_sub(self.parts);
        self.parts += more;
        self.tally.parts.fetch_add(more, Ordering::Relaxed);
        more > 0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn outcomes_stand_in_order_on_any_number_of_threads() {
        for threads in [1, 2, 7, 1_000_000] {
            let outcomes =
                Workers::new(threads).each(100, |index, _| Ok::<_, ()>(Some(index * index))).unwrap();
            assert_eq!(outcomes, (0..100).map(|index| Some(index * index)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn no_more_threads_are_started_than_there_is_work_for() {
        assert_eq!(pool(1_000_000, 3).current_num_threads(), 3);
        assert_eq!(pool(2, 3).current_num_threads(), 2);
        assert_eq!(pool(5, 0).current_num_threads(), 1);
        assert_eq!(pool(0, 1).current_num_threads(), 1);
    }

    #[test]
    fn after_a_stop_nothing_is_begun() {
        let stop = AtomicBool::new(false);
        let workers = Workers { threads: 1, progress: &|_| {}, stop: &stop };
        let outcomes = workers.each(10, |index, _| {
            stop.store(index == 3, Ordering::Relaxed);
            Ok::<_, ()>(Some(index))
        });
        let done = outcomes.unwrap().into_iter().flatten().count();
        assert!((1..10).contains(&done), "{done}");
    }

    #[test]
    fn a_stop_reaches_a_piece_that_is_being_worked_on() {
        let stop = AtomicBool::new(false);
        let workers = Workers { threads: 1, progress: &|_| {}, stop: &stop };
        let outcomes = workers.each(1, |_, piece| {
            assert_eq!(piece.go_on(0.1), ControlFlow::Continue(()));
            stop.store(true, Ordering::Relaxed);
            Ok::<_, ()>(piece.go_on(0.2).is_continue().then_some("whole"))
        });
        assert_eq!(outcomes, Ok(vec![None]));
    }

    #[test]
    fn an_error_ends_the_work() {
        let fail_at_five = |index, _: &mut Piece<'_>| if index == 5 { Err(index) } else { Ok(Some(index)) };
        assert_eq!(Workers::new(2).each(10, fail_at_five), Err(5));
    }

    #[test]
    fn progress_is_told_of_every_piece_and_of_what_is_being_worked_on() {
        let reported = Mutex::new(Vec::new());
        let progress = |progress: Progress| reported.lock().unwrap().push(progress);
        let workers = Workers { threads: 1, progress: &progress, stop: &NEVER };
        let half = |index, piece: &mut Piece<'_>| {
            // A piece that is asked again without having come further has nothing to tell.
            let _ = (piece.go_on(0.5), piece.go_on(0.5));
            Ok::<_, ()>(Some(index))
        };
        workers.each(2, half).unwrap();
        let reported: Vec<_> = reported
            .into_inner()
            .unwrap()
            .iter()
            .map(|reported| (reported.done, reported.all, reported.share))
            .collect();
        assert_eq!(reported, [(0, 2, 0.25), (1, 2, 0.5), (1, 2, 0.75), (2, 2, 1.0)]);
    }

    #[test]
    fn a_piece_s_progress_never_goes_back_nor_beyond_its_end_and_one_that_is_given_up_is_not_done() {
        let reported = Mutex::new(Vec::new());
        let progress = |progress: Progress| reported.lock().unwrap().push((progress.done, progress.share));
        let workers = Workers { threads: 1, progress: &progress, stop: &NEVER };
        let shares = [0.25, 0.75, 0.5, 0.75, 3.0, 0.5, -1.0];
        let outcomes = workers.each(2, |index, piece| {
            for share in shares {
                assert!(piece.go_on(share).is_continue());
            }
            Ok::<_, ()>((index == 1).then_some(index))
        });
        assert_eq!(outcomes, Ok(vec![None, Some(1)]));
        let steps = [(0, 0.125), (0, 0.375), (0, 0.5), (0, 0.625), (0, 0.875), (0, 1.0), (1, 1.0)];
        assert_eq!(reported.into_inner().unwrap(), steps);
    }

    #[test]
    fn an_error_reaches_what_is_being_worked_on_and_the_first_by_index_is_told() {
        let barrier = std::sync::Barrier::new(2);
        let outcome = Workers::new(2).each(2, |index, piece| {
            assert!(piece.go_on(0.1).is_continue());
            barrier.wait();
            if index == 1 {
                return Err(1);
            }
            // Until the other's error is heard of: a piece that asks no more would not end.
            while piece.go_on(0.2).is_continue() {
                std::thread::yield_now();
            }
            Err::<Option<()>, _>(0)
        });
        assert_eq!(outcome, Err(0));
    }

    #[test]
    fn no_work_at_all_has_no_outcome_and_tells_nothing() {
        let workers = Workers { threads: 3, progress: &|_| panic!("there is no progress"), stop: &NEVER };
        assert_eq!(workers.each(0, |_, _| Ok::<Option<()>, ()>(None)), Ok(Vec::new()));
    }
}
