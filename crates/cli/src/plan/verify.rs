//! The answer, simulated: which of its promises the run kept.

use std::io::Write;

use serde_json::{Value as Json, json};
use slantpath_plan::print::{self, measured};
use slantpath_plan::{Answer, Measure, Promise, PromiseStanding, Question};
use slantpath_runner::Progress;

use super::measured::{Measured, PathBreak, Variant, measure};
use crate::failure::Failure;
use crate::progress::Bar;

/// A promise, and what a run showed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub(super) promise: Promise,
    pub(super) measured: f64,
}

impl Kept {
    /// True if the run kept it.
    pub(super) fn holds(&self) -> bool {
        self.measured <= self.promise.most + 1e-9
    }

    /// True if the run bears the answer out, which it does in any case where that was left open.
    pub(super) fn is_borne_out(&self) -> bool {
        match self.promise.standing {
            PromiseStanding::Given => self.holds(),
            PromiseStanding::Open => true,
            PromiseStanding::Refused => !self.holds(),
        }
    }

    fn verdict(&self) -> &'static str {
        match (self.promise.standing, self.holds()) {
            (PromiseStanding::Given, true) => "held",
            (PromiseStanding::Open, true) => "held, though it was not sure",
            (PromiseStanding::Given, false) => "NOT HELD",
            (PromiseStanding::Open, false) => "NOT HELD: it was not sure",
            (PromiseStanding::Refused, false) => "not possible, as answered",
            (PromiseStanding::Refused, true) => "NOT BORNE OUT: it was kept",
        }
    }
}

/// Runs of an answer.
pub(super) struct Verified {
    pub(super) kept: Vec<Kept>,
    pub(super) runs: Vec<(&'static str, Measured)>,
}

impl Verified {
    /// True if every promise was kept, and every refusal borne out.
    pub(super) fn is_borne_out(&self) -> bool {
        self.kept.iter().all(Kept::is_borne_out)
    }

    /// True if the run keeps all that was not refused.
    pub(super) fn is_held(&self) -> bool {
        self.kept.iter().all(|kept| kept.holds() || kept.promise.standing == PromiseStanding::Refused)
    }
}

/// Simulates the answer as it stands, and what lies beside it.
pub(super) fn verify(question: &Question, answer: &Answer) -> Result<Verified, Failure> {
    let step = print::step_bits(question);
    let is_measured = |measure: Measure| answer.promises.iter().any(|promise| promise.measure == measure);
    let beside = |window, step| Variant { window, step, breaks: PathBreak::None };
    let mut variants = vec![("as answered", Variant::ANSWERED)];
    let mut runs_of = Vec::new();
    if is_measured(Measure::Standstill) {
        runs_of.push((Measure::Standstill, variants.len()));
        variants.push(("the first path fails", Variant { breaks: PathBreak::Fails, ..Variant::ANSWERED }));
    }
    if let Some(fade) = question.path.whole().and_then(|path| path.fade) {
        let fades = PathBreak::Fades(fade.as_secs_f64());
        runs_of.push((Measure::Ended, variants.len()));
        variants.push(("the path fades", Variant { breaks: fades, ..Variant::ANSWERED }));
    }
    variants.extend([("half the window", beside(0.5, 1.0)), ("four windows", beside(4.0, 1.0))]);
    if step > 0.0 {
        variants.extend([("half the step", beside(1.0, 0.5)), ("no step", beside(1.0, 0.0))]);
        let largest = answer.largest_step.taken.as_bits_per_sec() as f64;
        if largest > 0.0 {
            variants.push(("the largest step", beside(1.0, largest / step)));
        }
    }
    let bar = Bar::new("runs");
    let mut runs = Vec::new();
    for (done, (name, variant)) in variants.iter().enumerate() {
        let share = done as f64 / variants.len() as f64;
        bar.update(Progress { done, all: variants.len(), share });
        bar.show(*name);
        runs.push((*name, measure(question, answer, *variant)?));
    }
    drop(bar);
    let run_of = |measure: Measure| {
        let run = runs_of.iter().find(|(of, _)| *of == measure).map_or(0, |(_, run)| *run);
        &runs[run].1
    };
    let kept = answer
        .promises
        .iter()
        .map(|&promise| Kept { promise, measured: run_of(promise.measure).of(promise.measure) });
    Ok(Verified { kept: kept.collect(), runs })
}

/// Writes promises and runs, each line behind `comment`.
pub(super) fn write(verified: &Verified, comment: &str, out: &mut impl Write) -> Result<(), Failure> {
    writeln!(
        out,
        "\n{comment}simulated, as answered: each promise, what the run showed, and what it must not exceed"
    )?;
    for kept in &verified.kept {
        let Promise { name, measure, most, .. } = kept.promise;
        writeln!(
            out,
            "{comment}  {name:<16} {what:<24} {:>9}  {:>9}   {}",
            measured(measure, kept.measured),
            measured(measure, most),
            kept.verdict(),
            what = measure.name(),
        )?;
    }
    writeln!(
        out,
        "\n{comment}beside it: outstanding at most, lost since the step, retransmitted, the longest delay"
    )?;
    for (name, measured) in &verified.runs {
        let outages = if measured.outages > 0.0 {
            format!("   links went out of service {:.0} times", measured.outages)
        } else {
            String::new()
        };
        writeln!(
            out,
            "{comment}  {name:<20} {:>9.0} B  {:>5.1} %  {:>5.1} %  {:>6.2} s{outages}",
            measured.outstanding,
            100.0 * measured.loss,
            100.0 * measured.repeated,
            measured.delay,
        )?;
    }
    Ok(())
}

/// Outcome as JSON, for programs.
pub(super) fn json(verified: &Verified) -> Json {
    let kept = verified.kept.iter().map(|kept| {
        json!({
            "promise": kept.promise.name,
            "measured": kept.measured,
            "most": kept.promise.most,
            "verdict": kept.verdict(),
            "holds": kept.holds(),
            "borne_out": kept.is_borne_out(),
        })
    });
    let runs = verified.runs.iter().map(|(name, measured)| {
        json!({
            "run": name,
            "outstanding_bytes": measured.outstanding,
            "loss_ratio": measured.loss,
            "repeated_ratio": measured.repeated,
            "delay_max_s": measured.delay,
            "answer_max_s": measured.answer,
            "outages": measured.outages,
        })
    });
    json!({
        "held": verified.is_borne_out() && verified.is_held(),
        "promises": kept.collect::<Vec<_>>(),
        "runs": runs.collect::<Vec<_>>(),
    })
}
