//! A step of a fade: a line of its file, and what it changes.

use slantpath_base::{DataRate, Duration, Instant, Probability};
use slantpath_net::{Change, DirectionId, NetworkBuilder};
use slantpath_reader::{Fault, fault_of};

use crate::bounds::{RATE, RUN};

/// Changes that a line of the trace makes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FadeStep {
    at: Instant,
    rate: Option<DataRate>,
    loss: Option<Probability>,
    bit_errors: Option<Probability>,
}

impl FadeStep {
    /// Reads a line; it comes behind the one before it.
    pub(crate) fn parse(line: &str, last: Option<&Self>) -> Result<Self, Fault> {
        let help =
            "a line is a time and what holds from then on, like `30 s,1.5 Mbit/s,1 %,1e-6` or `40 s,,,1e-5`";
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let &[at, rate, loss, bit_errors] = fields.as_slice() else {
            return Err(Fault::new(format!("`{line}` is no step of a fade")).help(help));
        };
        let at: Duration = at.parse().map_err(|error| fault_of(&error, help))?;
        if at > RUN.most {
            return Err(Fault::new(format!("a time of {at} is more than {}", RUN.most)).help(help));
        }
        let at = Instant::START + at;
        if let Some(earlier) = last.map(|last| last.at).filter(|&earlier| at <= earlier) {
            let message = format!("{at} is no later than the line before it, {earlier}");
            return Err(Fault::new(message).help("sort the lines by time, and give one for each"));
        }
        let probability = |text: &str| match text {
            "" => Ok(None),
            _ => text.parse().map(Some).map_err(|error| fault_of(&error, help)),
        };
        let step = Self {
            at,
            rate: rate_of(rate, help)?,
            loss: probability(loss)?,
            bit_errors: probability(bit_errors)?,
        };
        if step.changes().next().is_none() {
            return Err(Fault::new(format!("nothing changes at {at}")).help(help));
        }
        Ok(step)
    }

    /// A step that changes the rate alone, if a link can have it.
    pub(super) fn of_rate(at: Instant, rate: DataRate) -> Result<Self, Fault> {
        Ok(Self { at, rate: Some(possible(rate)?), loss: None, bit_errors: None })
    }

    /// Time of the step.
    pub(crate) const fn at(&self) -> Instant {
        self.at
    }

    /// Tells whether it sets a rate.
    pub(crate) const fn changes_rate(&self) -> bool {
        self.rate.is_some()
    }

    /// Tells whether bits arrive wrong from then on.
    pub(crate) fn flips_bits(&self) -> bool {
        self.bit_errors.is_some_and(|errors| !errors.is_never())
    }

    /// Gives a network that is being built what changes of a direction.
    pub(crate) fn schedule(&self, direction: DirectionId, builder: &mut NetworkBuilder) {
        for change in self.changes() {
            builder.change(self.at, direction, change);
        }
    }

    fn changes(&self) -> impl Iterator<Item = Change> {
        let rate = self.rate.map(Change::Rate);
        [rate, self.loss.map(Change::Loss), self.bit_errors.map(Change::BitErrors)].into_iter().flatten()
    }
}

fn rate_of(text: &str, help: &str) -> Result<Option<DataRate>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    let rate: DataRate = text.parse().map_err(|error| fault_of(&error, help))?;
    let help = if rate.as_bits_per_sec() == 0 {
        "for a fade that nothing passes, write a loss of `100 %`"
    } else {
        help
    };
    possible(rate).map(Some).map_err(|fault| fault.help(help))
}

/// Refuses a rate that no link has.
fn possible(rate: DataRate) -> Result<DataRate, Fault> {
    if rate.as_bits_per_sec() == 0 {
        return Err(Fault::new("a link of rate zero never sends"));
    }
    if rate > RATE.most {
        return Err(Fault::new(format!("a rate of {rate} is more than {}", RATE.most)));
    }
    Ok(rate)
}
