//! The answer as people read it, and as they configure it.

mod configurations;
mod kept;
mod osmo;
mod scenario;

pub use configurations::{linux_sysctl, signalling_gateway};
pub use kept::kept;
pub use osmo::{Configuration, osmo_stp};
pub use scenario::{DURATION_S, ENDS_AT_S, STARTS_AT_S, STEPS_AT_S, scenario, step_bits, stepped};

use core::fmt::Write as _;

use serde_json::{Value as Json, json};
use slantpath_base::DataRate;

use crate::answer::{Answer, LargestStep, Measure, Promise, PromiseStanding, Recommendation, Unit};
use crate::window::WorkingCase;

/// Columns that a line of text has at most.
const WIDTH: usize = 100;

/// The answer as text: the case, what cannot be met, and each setting with its bounds, its reason and what moves it.
pub fn text(answer: &Answer) -> String {
    let mut text = String::new();
    // By reference: a closure that takes the same empty string twice frees it twice when compiled by rustc 1.77 to 1.96
    // (rust-lang/rust issue 155241).
    let mut line = |line: &str| {
        // What goes on does so below where the text of the line begins.
        let indent = line.len() - line.trim_start().len();
        let further = " ".repeat(indent.max(2));
        // Said outright: the defaults depend on the features that others of the same build ask for.
        let options = textwrap::Options::new(WIDTH)
            .break_words(false)
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
            .subsequent_indent(&further);
        text.push_str(&textwrap::fill(line, options));
        text.push('\n');
    };
    line(&format!(
        "{} of {} are {} on Ethernet: a message of {:.0} octets takes {:.0}",
        kbit(answer.load.as_bits_per_sec() as f64),
        answer.carries,
        kbit(answer.ethernet.as_bits_per_sec() as f64),
        answer.framing.line,
        answer.framing.ethernet,
    ));
    line(&format!("case {}: {}", case_name(answer.case), answer.case_reason));
    line(&format!("largest step: {}", largest_step(&answer.largest_step, answer.carries)));
    for impossible in &answer.impossible {
        line("");
        line(&format!("NOT POSSIBLE: {}", impossible.demand));
        line(&format!("  because {}", impossible.why));
        line(&format!("  possible: {}", impossible.possible));
    }
    line("");
    line("promised, as `--verify` measures it:");
    for promise in &answer.promises {
        line(&format!("  {:<16} {}", promise.name, promised(promise)));
    }
    line("");
    let width = answer.settings.iter().map(|setting| setting.name.len()).max().unwrap_or(0);
    for setting in &answer.settings {
        let bounds = match (setting.least, setting.most) {
            (None, None) => String::new(),
            (Some(least), None) => format!("   at least {}", quantity(least, setting.unit)),
            (None, Some(most)) => format!("   below {}", quantity(most, setting.unit)),
            (Some(least), Some(most)) => {
                format!("   {} to {}", quantity(least, setting.unit), quantity(most, setting.unit))
            }
        };
        let margin =
            setting.margin().map_or(String::new(), |margin| format!(", margin {:.0} %", 100.0 * margin));
        line(&format!("{:width$}  {}{bounds}{margin}", setting.name, quantity(setting.value, setting.unit)));
        line(&format!("{:width$}  {}", "", setting.reason));
        if !setting.sensitivity.is_empty() {
            let each =
                setting.sensitivity.iter().map(|(quantity, change)| format!("{quantity} {change:+.0} %"));
            line(&format!("{:width$}  a tenth more of: {}", "", each.collect::<Vec<_>>().join(", ")));
        }
    }
    text
}

/// The largest step in words.
fn largest_step(step: &LargestStep, carries: &str) -> String {
    let of = |rate: DataRate| kbit(rate.as_bits_per_sec() as f64);
    let zero = DataRate::from_bits_per_sec(0);
    let (taken, reason) = (step.taken > zero, &step.reason);
    let found = match step.lost_from {
        Some(from) if from == zero => format!("none, and without one messages are lost: {reason}"),
        Some(from) if taken => {
            format!(
                "{} of {carries}, beyond it {reason}; from {} on messages are lost",
                of(step.taken),
                of(from)
            )
        }
        None if taken => format!("{} of {carries}, beyond it {reason}", of(step.taken)),
        Some(from) => format!("none is sure: {reason}; from {} on messages are lost", of(from)),
        None => format!("none is sure: {reason}"),
    };
    format!("{found} (equation 5, for the window alone: {})", of(step.by_equation))
}

/// A promise in words.
fn promised(promise: &Promise) -> String {
    let Promise { measure, most, expected, standing, .. } = promise;
    let expected = match measure {
        Measure::Outages => {
            format!("without an answer for {} to {}", millis(expected.least), millis(expected.most))
        }
        Measure::Ended => format!("in a fade of {}", millis(expected.most)),
        _ => format!(
            "expected {} to {}",
            measured(*measure, expected.least),
            measured(*measure, expected.most)
        ),
    };
    let bound = match measure {
        Measure::Outages => format!("{} never", measure.name()),
        Measure::Ended => format!("{}: none", measure.name()),
        _ => format!("{} at most {}", measure.name(), measured(*measure, *most)),
    };
    match standing {
        PromiseStanding::Given => format!("{bound}; {expected}"),
        PromiseStanding::Open => format!("NOT SURE: {bound}; {expected}"),
        PromiseStanding::Refused => format!("NOT POSSIBLE: {bound}; {expected}"),
    }
}

/// Measured value, as people read it.
pub fn measured(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Loss | Measure::Repeated => format!("{:.1} %", 100.0 * value),
        Measure::Delay | Measure::Answer | Measure::Standstill => millis(value),
        Measure::Outages | Measure::Ended => format!("{value:.0}"),
    }
}

const fn standing_name(standing: PromiseStanding) -> &'static str {
    match standing {
        PromiseStanding::Given => "given",
        PromiseStanding::Open => "open",
        PromiseStanding::Refused => "refused",
    }
}

/// The answer as JSON: rates in bit/s, sizes in bytes, times in seconds.
pub fn json(answer: &Answer) -> Json {
    let change = |(of, change): &(&str, f64)| json!({ "of": of, "change_percent": change });
    let setting = |setting: &Recommendation| {
        json!({
            "name": setting.name,
            "value": setting.value,
            "unit": unit_name(setting.unit),
            "least": setting.least,
            "most": setting.most,
            "margin": setting.margin(),
            "reason": setting.reason,
            "sensitivity": setting.sensitivity.iter().map(change).collect::<Vec<_>>(),
        })
    };
    json!({
        "case": case_name(answer.case),
        "case_reason": answer.case_reason,
        "load_bit_per_s": answer.load.as_bits_per_sec(),
        "ethernet_bit_per_s": answer.ethernet.as_bits_per_sec(),
        "injected_most_bit_per_s": answer.injected_most.as_bits_per_sec(),
        "largest_step_bit_per_s": answer.largest_step.taken.as_bits_per_sec(),
        "losing_step_bit_per_s": answer.largest_step.lost_from.map(DataRate::as_bits_per_sec),
        "largest_step_reason": answer.largest_step.reason,
        "message": {
            "line_octets": answer.framing.line,
            "window_octets": answer.framing.window,
            "ethernet_octets": answer.framing.ethernet,
        },
        "settings": answer.settings.iter().map(setting).collect::<Vec<_>>(),
        "promises": answer.promises.iter().map(|promise| json!({
            "name": promise.name,
            "measure": promise.measure.name(),
            "most": promise.most,
            "expected_least": promise.expected.least,
            "expected_most": promise.expected.most,
            "standing": standing_name(promise.standing),
        })).collect::<Vec<_>>(),
        "impossible": answer.impossible.iter().map(|impossible| json!({
            "concerns": impossible.concerns,
            "breaks": impossible.breaks,
            "demand": impossible.demand,
            "why": impossible.why,
            "possible": impossible.possible,
        })).collect::<Vec<_>>(),
    })
}

/// The name of a case.
pub const fn case_name(case: WorkingCase) -> &'static str {
    match case {
        WorkingCase::A => "A",
        WorkingCase::B => "B",
        WorkingCase::C => "C",
    }
}

const fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::BitPerSecond => "bit/s",
        Unit::Byte => "B",
        Unit::Count => "",
        Unit::Second => "s",
    }
}

fn quantity(value: f64, unit: Unit) -> String {
    match unit {
        Unit::BitPerSecond => kbit(value),
        Unit::Byte => format!("{value:.0} B"),
        Unit::Count => format!("{value:.0}"),
        Unit::Second => millis(value),
    }
}

fn kbit(bits: f64) -> String {
    format!("{:.0} kbit/s", bits / 1e3)
}

/// A time in whole milliseconds.
fn millis(seconds: f64) -> String {
    let mut text = String::new();
    write!(text, "{:.0} ms", seconds * 1e3).expect("a string takes everything");
    text
}
