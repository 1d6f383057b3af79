//! Several rounds of several contestants, in turn, and their medians.

use crate::cpu_time::CpuTime;

/// A failure of a contestant, in words.
pub type Failure = Box<dyn core::error::Error>;

/// One side of a comparison: does its work and says how many units it did.
pub struct Contestant<'a> {
    /// As the table names it.
    pub name: &'a str,
    /// Does the work once.
    pub work: Box<dyn FnMut() -> Result<Work, Failure> + 'a>,
}

/// Work of one round, by the process whose CPU time paid for it.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// Done by a program that was started and waited for.
    ByChild {
        /// Packet-hops, messages: the unit of the case.
        units: f64,
    },
    /// Done by this process.
    Here {
        /// Packet-hops, messages: the unit of the case.
        units: f64,
    },
}

/// Runs every contestant `rounds` times, in turn, and returns each one's median of units per CPU second.
///
/// # Errors
/// The first failure of a contestant, or of reading the CPU time.
pub fn medians(contestants: &mut [Contestant<'_>], rounds: usize) -> Result<Vec<f64>, Failure> {
    let mut speeds = vec![Vec::with_capacity(rounds); contestants.len()];
    for _ in 0..rounds {
        for (contestant, speeds) in contestants.iter_mut().zip(&mut speeds) {
            speeds.push(speed(contestant)?);
        }
    }
    Ok(speeds.into_iter().map(median).collect())
}

fn speed(contestant: &mut Contestant<'_>) -> Result<f64, Failure> {
    let before = CpuTime::read()?;
    let work = (contestant.work)().map_err(|failure| format!("{}: {failure}", contestant.name))?;
    let after = CpuTime::read()?;
    let (units, seconds) = match work {
        Work::ByChild { units } => (units, after.children - before.children),
        Work::Here { units } => (units, after.own - before.own),
    };
    // Less than one tick cannot be told from none.
    Ok(units / seconds.max(0.01))
}

/// The middle value; of an even number of values the mean of the two in the middle.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) {
        f64::midpoint(values[middle - 1], values[middle])
    } else {
        values[middle]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn contestants_take_turns() {
        let turns = core::cell::RefCell::new(String::new());
        let contestant = |name: &'static str| Contestant {
            name,
            work: Box::new(|| {
                turns.borrow_mut().push_str(name);
                Ok(Work::Here { units: 1.0 })
            }),
        };
        let speeds = medians(&mut [contestant("a"), contestant("b")], 2).expect("no failure");
        assert_eq!(speeds.len(), 2);
        assert_eq!(*turns.borrow(), "abab");
    }

    #[test]
    fn a_failure_names_the_contestant() {
        let work = Box::new(|| Err("stalled".into()));
        let failure = medians(&mut [Contestant { name: "peer", work }], 1).expect_err("it fails");
        assert_eq!(failure.to_string(), "peer: stalled");
    }
}
