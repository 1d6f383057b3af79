//! Figures as text for Prometheus, version 0.0.4.

use core::fmt::Write as _;

/// Kind of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A count that only grows, until a restart.
    Counter,
    /// A value that goes up and down.
    Gauge,
    /// Counts of values by size.
    Histogram,
}

impl MetricKind {
    /// Name of the kind in the text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// Text with a head for each metric, and its samples behind that.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    text: String,
}

impl Exposition {
    /// Begins a metric.
    pub(crate) fn begin(&mut self, name: &str, kind: MetricKind, help: &str) {
        let _ = writeln!(self.text, "# HELP {name} {}\n# TYPE {name} {}", escaped(help, false), kind.name());
    }

    /// Adds a sample whose labels are written out.
    pub(crate) fn sample(&mut self, name: &str, labels: &str, value: f64) {
        let braces = if labels.is_empty() { ["", ""] } else { ["{", "}"] };
        let _ = writeln!(self.text, "{name}{}{labels}{} {value}", braces[0], braces[1]);
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

/// Labels with their values, as they stand between braces.
pub(crate) fn labels(names: &[&str], values: &[&str]) -> String {
    let pairs = names.iter().zip(values).map(|(name, value)| format!("{name}=\"{}\"", escaped(value, true)));
    pairs.collect::<Vec<_>>().join(",")
}

fn escaped(text: &str, quotes: bool) -> String {
    let escaped = text.replace('\\', "\\\\").replace('\n', "\\n");
    if quotes { escaped.replace('"', "\\\"") } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_quotes_and_ends_of_lines_stay_in_their_line() {
        let mut exposition = Exposition::default();
        exposition.begin("a_total", MetricKind::Counter, "Count \\ of\nall.");
        exposition.sample("a_total", &labels(&["link", "to"], &["a\"b\\", "c\nd"]), 3.0);
        exposition.sample("b", "", 0.25);
        let wanted = "# HELP a_total Count \\\\ of\\nall.\n# TYPE a_total counter\n\
                      a_total{link=\"a\\\"b\\\\\",to=\"c\\nd\"} 3\nb 0.25\n";
        assert_eq!(exposition.into_text(), wanted);
    }
}
