//! Questions to many runs: is a measure known well enough, and how often does it keep a limit?

use slantpath_base::Duration;
use slantpath_results::{CellValue, Column, Moments, Proportion, StoppingRule, Table, WantedPrecision};
use slantpath_runner::{LEVEL, RunOutput, TableKind};

/// Short names of columns of `flows`.
const MEASURES: [(&str, &str); 5] = [
    ("delay", "delay_mean_s"),
    ("failover", "failover_max_s"),
    ("gap", "gap_max_s"),
    ("late", "messages_late"),
    ("throughput", "throughput_bit_per_s"),
];

/// Column of `flows`, by its own name or a short one; columns of `signalling_service` have the names of those.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MeasureName {
    /// Name by which it was asked for.
    pub(crate) asked: String,
    column: String,
}

/// Precision that the mean of a measure is to have: `--until`, and `replicate` of Python.
#[derive(Clone, Debug, PartialEq)]
pub struct Until {
    pub(crate) measure: MeasureName,
    precision: WantedPrecision,
    /// Precision as it was written.
    words: String,
}

/// Limit that a measure is to keep: `--within`, and `replicate` of Python.
#[derive(Clone, Debug, PartialEq)]
pub struct Within {
    pub(crate) measure: MeasureName,
    most: f64,
    /// Limit as it was written.
    pub(crate) words: String,
}

/// Share of the runs in which a flow, or an end of signalling, kept a limit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kept {
    pub(crate) flow: String,
    pub(crate) share: Proportion,
}

impl MeasureName {
    fn parse(text: &str) -> Result<Self, String> {
        let measure = Self::of(text);
        let column = measure.column.as_str();
        let columns = TableKind::Flows.columns();
        let is_number =
            |name: &str| columns.iter().any(|known| known.name == name && known.cells != "string");
        if !is_number(column) {
            let names: Vec<&str> = MEASURES.iter().map(|(name, _)| *name).collect();
            let known = names.join(", ");
            return Err(format!(
                "`{text}` is no measure; write one of {known}, or a column of numbers of `flows`"
            ));
        }
        Ok(measure)
    }

    /// Measure of a short name, or of a column.
    pub(crate) fn of(name: &str) -> Self {
        let named = MEASURES.iter().find(|(short, _)| *short == name);
        Self { asked: name.to_owned(), column: named.map_or(name, |(_, column)| column).to_owned() }
    }

    /// A quantity of this measure: a time for a column of seconds, else a number.
    fn quantity(&self, text: &str) -> Result<f64, String> {
        let number = if self.column.ends_with("_s") && !self.column.ends_with("_per_s") {
            text.parse::<Duration>().map(Duration::as_secs_f64).map_err(|error| format!("`{text}`: {error}"))
        } else {
            text.parse::<f64>().map_err(|_| format!("`{text}` is no number"))
        }?;
        if number > 0.0 && number.is_finite() {
            Ok(number)
        } else {
            Err(format!("`{text}` is not above zero"))
        }
    }

    /// Values of a flow or an end of signalling: of a run each, `None` where it has none.
    pub(crate) fn values<'a>(
        &'a self,
        outputs: &'a [RunOutput],
        of: &Subject,
    ) -> impl Iterator<Item = Option<f64>> + 'a {
        let (table, row) = (of.table, of.row);
        let column = move |output: &'a RunOutput| output.table(table.name())?.column(&self.column);
        outputs.iter().map(move |output| column(output).and_then(|column| number(column, row)))
    }

    /// Tells that nothing has the measure, and what would give it one.
    pub(crate) fn unmeasured(&self, runs: usize) -> String {
        if self.column.contains("failover") {
            format!(
                "nothing fails over in {runs} runs, so that there is no `{}`: let a path of a flow or an association \
                 with two paths fail, or a signalling link or ASP with a backup, by `[[script]]` with \
                 `action = \"down\"` or by `[[signalling.script]]` with `action = \"fail\"`",
                self.asked
            )
        } else {
            format!("no flow has a `{}` in {runs} runs", self.asked)
        }
    }
}

fn number(column: &Column, row: usize) -> Option<f64> {
    (row < column.len()).then(|| column.at(row))?.number()
}

/// Flow, or end of signalling, that has measures in a table of each run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    /// Name of the flow; of signalling its kind and its end: `link atlantic@london`.
    pub(crate) name: String,
    table: TableKind,
    row: usize,
}

impl Subject {
    /// True of a flow.
    pub(crate) fn is_flow(&self) -> bool {
        self.table == TableKind::Flows
    }
}

/// Tables of a run that have measures: `flows`, and `signalling_service`, whose columns are called alike.
const MEASURED: [TableKind; 2] = [TableKind::Flows, TableKind::SignallingService];

/// Flows and ends of signalling of all runs, which have the same.
pub(crate) fn subjects(outputs: &[RunOutput]) -> Vec<Subject> {
    let tables = MEASURED.map(|kind| (kind, outputs.first().and_then(|output| output.table(kind.name()))));
    let known = tables.into_iter().filter_map(|(kind, table)| Some((kind, table?)));
    let named = |(table, rows): (TableKind, &Table)| {
        let name = |row| {
            let text = |name| match rows.column(name).map(|column| column.at(row)) {
                Some(CellValue::Text(text)) => text.to_owned(),
                _ => String::new(),
            };
            match table {
                TableKind::SignallingService => signalling_name([text("kind"), text("name"), text("point")]),
                _ => text("flow"),
            }
        };
        let subject = |row| Subject { name: name(row), table, row };
        (0..rows.rows()).map(subject).collect::<Vec<_>>()
    };
    known.flat_map(named).collect()
}

/// Name of an end of signalling among flows.
fn signalling_name([kind, name, point]: [String; 3]) -> String {
    format!("{kind} {name}@{point}")
}

/// State of a wanted precision.
#[derive(Clone, Debug, PartialEq)]
pub enum Precise {
    /// Precision that is reached.
    Reached,
    /// So many runs in all are made next.
    Wanted(u64),
    /// Neither a flow nor an end of signalling has the measure.
    Unmeasured,
}

impl Until {
    /// Reads `failover ± 5 %`, `gap +- 20 ms`.
    ///
    /// # Errors
    /// If it is no precision, or names no measure.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split_once('±').or_else(|| text.split_once("+-")).or_else(|| text.split_once("+/-"));
        let wrong =
            || format!("`{text}` is no precision; write for example `failover ± 5 %` or `gap ± 20 ms`");
        let (name, width) = parts.ok_or_else(wrong)?;
        let (measure, width) = (MeasureName::parse(name.trim())?, width.trim());
        let precision = match width.strip_suffix('%') {
            Some(percent) => {
                let percent: f64 = percent.trim().parse().map_err(|_| wrong())?;
                if !(percent > 0.0 && percent < 100.0) {
                    return Err(format!("`{width}` is no part of a mean; write between 0 and 100 %"));
                }
                WantedPrecision::Relative(percent / 100.0)
            }
            None => WantedPrecision::Absolute(measure.quantity(width)?),
        };
        Ok(Self { measure, precision, words: width.to_owned() })
    }

    /// The question in words.
    pub fn words(&self) -> String {
        format!("{} ± {}", self.measure.asked, self.words)
    }

    /// Column of `flows` and `signalling_service` that is measured.
    pub fn column(&self) -> &str {
        &self.measure.column
    }

    /// Tells that nothing has the measure in so many runs, and what would give it one.
    pub fn unmeasured(&self, runs: usize) -> String {
        self.measure.unmeasured(runs)
    }

    /// Tells how the runs that were made answer.
    pub(crate) fn judge(&self, outputs: &[RunOutput]) -> Precise {
        let values = |of: &Subject| self.measure.values(outputs, of).flatten().collect::<Vec<f64>>();
        self.judge_values(outputs.len() as u64, subjects(outputs).iter().map(values))
    }

    /// Tells how so many runs answer, by the values that each flow has in them; a run without one leaves it out.
    pub fn judge_values(&self, made: u64, flows: impl IntoIterator<Item = Vec<f64>>) -> Precise {
        if made < StoppingRule::FIRST {
            return Precise::Wanted(StoppingRule::FIRST);
        }
        let rule = StoppingRule { precision: self.precision, level: LEVEL };
        let mut most = None;
        for values in flows {
            let mut moments = Moments::default();
            moments.extend(values);
            let count = moments.count();
            if count > 0 {
                // A flow may have the measure in some runs only.
                let runs = rule.wanted(&moments).saturating_mul(made).div_ceil(count);
                most = most.max(Some(runs));
            }
        }
        match most {
            None => Precise::Unmeasured,
            Some(runs) if runs <= made => Precise::Reached,
            Some(runs) => Precise::Wanted(runs),
        }
    }
}

impl Within {
    /// Reads `failover 2 s`, `late 10`.
    ///
    /// # Errors
    /// If it is no limit, or names no measure.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no limit; write for example `failover 2 s` or `gap 800 ms`");
        let (name, limit) = text.trim().split_once(' ').ok_or_else(wrong)?;
        let (measure, limit) = (MeasureName::parse(name)?, limit.trim());
        Ok(Self { most: measure.quantity(limit)?, measure, words: limit.to_owned() })
    }

    /// The question in words.
    pub fn words(&self) -> String {
        format!("{} {}", self.measure.asked, self.words)
    }

    /// Column of `flows` and `signalling_service` that is limited.
    pub fn column(&self) -> &str {
        &self.measure.column
    }

    /// Tells that nothing has the measure in so many runs, and what would give it one.
    pub fn unmeasured(&self, runs: usize) -> String {
        self.measure.unmeasured(runs)
    }

    /// Share of runs in which each flow, and each end of signalling, that has the measure keeps the limit. A run in
    /// which a flow failed, and has no measure for it, does not keep it.
    pub(crate) fn shares(&self, outputs: &[RunOutput]) -> Vec<Kept> {
        let kept = |of: Subject| {
            let has_failed = |output: &RunOutput| {
                of.is_flow() && output.failures.iter().any(|failure| failure.flow == of.name)
            };
            let values = self.measure.values(outputs, &of);
            let share = self.share(values.zip(outputs).map(|(value, output)| (value, has_failed(output))))?;
            Some(Kept { flow: of.name, share })
        };
        subjects(outputs).into_iter().filter_map(kept).collect()
    }

    /// Share of runs in which a flow keeps the limit, by its value in each and whether it failed there. `None` where no
    /// run has either.
    pub fn share(&self, runs: impl IntoIterator<Item = (Option<f64>, bool)>) -> Option<Proportion> {
        let (mut successes, mut trials) = (0, 0);
        for (value, has_failed) in runs {
            trials += u64::from(value.is_some() || has_failed);
            successes += u64::from(value.is_some_and(|value| value <= self.most));
        }
        Proportion::new(successes, trials, LEVEL)
    }
}

#[cfg(test)]
mod tests {
    use slantpath_results::{TextColumn, TypedColumn};
    use slantpath_runner::FlowFailure;

    use super::*;

    fn output(failovers: &[Option<f64>], failed: bool) -> RunOutput {
        let (mut flow, mut failover) = (TextColumn::new("flow"), TypedColumn::<f64>::new("failover_max_s"));
        for (place, cell) in failovers.iter().enumerate() {
            flow.push(&format!("f{place}"));
            failover.push_optional(*cell);
        }
        let failure = FlowFailure { flow: "f0".to_owned(), reason: String::new(), at: None };
        RunOutput {
            seed: 1,
            run: 0,
            digest: String::new(),
            events: 0,
            packet_hops: 0,
            failures: if failed { vec![failure] } else { Vec::new() },
            tables: vec![Table::new("flows", [flow.into(), failover.into()]).unwrap()],
            captures: Vec::new(),
        }
    }

    #[test]
    fn criteria_are_read_and_what_is_none_is_told() {
        let until = Until::parse("failover ± 5 %").unwrap();
        assert_eq!(
            (until.measure.column.as_str(), until.precision),
            ("failover_max_s", WantedPrecision::Relative(0.05))
        );
        assert_eq!(Until::parse("gap +- 20ms").unwrap().precision, WantedPrecision::Absolute(0.02));
        assert_eq!(Until::parse("delay_p99_s +/- 1 ms").unwrap().words(), "delay_p99_s ± 1 ms");
        let within = Within::parse("late 10").unwrap();
        assert_eq!((within.measure.column.as_str(), within.most), ("messages_late", 10.0));
        assert_eq!(Within::parse("failover 800 ms").unwrap().most, 0.8);
        for wrong in
            ["failover", "failover ± x", "failover ± 0 %", "failover ± 100 %", "gap ± 5", "failure ± 1 %"]
        {
            assert!(Until::parse(wrong).is_err(), "{wrong}");
        }
        for wrong in ["failover", "gap 5", "gap -1 s", "late 0", "late nan", "flow 3", "nothing 1 s"] {
            assert!(Within::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn runs_are_wanted_until_each_flow_that_has_the_measure_is_known() {
        let until = Until::parse("failover ± 20 %").unwrap();
        let coin = |run: u32| Some(f64::from(run % 2) * 2.0);
        let made = |count: u32, second: &dyn Fn(u32) -> Option<f64>| -> Vec<RunOutput> {
            (0..count).map(|run| output(&[Some(1.0), second(run), None], false)).collect()
        };
        assert_eq!(until.judge(&made(29, &coin)), Precise::Wanted(30));
        assert_eq!(until.judge(&made(30, &|_| None)), Precise::Reached);
        assert_eq!(until.judge(&made(30, &coin)), Precise::Wanted(197));
        // In every second run alone: twice as many runs.
        assert_eq!(
            until.judge(&made(60, &|run| coin(run / 2).filter(|_| run % 2 == 0))),
            Precise::Wanted(394)
        );
        let none: Vec<RunOutput> = (0..30).map(|_| output(&[None], false)).collect();
        assert_eq!(until.judge(&none), Precise::Unmeasured);
    }

    /// A run of signalling: the longest failover of a link, and of an association's paths.
    fn signalling(link: Option<f64>, path: Option<f64>) -> RunOutput {
        let mut columns = ["point", "kind", "name"].map(TextColumn::new);
        for (place, cells) in
            [["london", "boston"], ["link", "path"], ["trunk", "ipsp"]].into_iter().enumerate()
        {
            for cell in cells {
                columns[place].push(cell);
            }
        }
        let mut longest = TypedColumn::<f64>::new("failover_max_s");
        for cell in [link, path] {
            longest.push_optional(cell);
        }
        let [point, kind, name] = columns;
        let service =
            Table::new("signalling_service", [point.into(), kind.into(), name.into(), longest.into()]);
        RunOutput { tables: vec![service.unwrap()], ..output(&[], false) }
    }

    #[test]
    fn failovers_of_signalling_are_measured_beside_those_of_flows() {
        let runs: Vec<RunOutput> =
            (0..30).map(|run| signalling(None, Some(f64::from(run % 2) + 1.0))).collect();
        let kept = Within::parse("failover 1500 ms").unwrap().shares(&runs);
        assert_eq!(kept.len(), 1, "the link has not failed over");
        assert_eq!(
            (kept[0].flow.as_str(), kept[0].share.successes, kept[0].share.trials),
            ("path ipsp@boston", 15, 30)
        );
        assert_eq!(Until::parse("failover ± 50 %").unwrap().judge(&runs), Precise::Reached);
        assert!(
            matches!(Until::parse("failover ± 2 %").unwrap().judge(&runs), Precise::Wanted(runs) if runs > 30)
        );
        // A measure that signalling does not have is no subject's.
        assert_eq!(Until::parse("gap ± 50 %").unwrap().judge(&runs), Precise::Unmeasured);
        let none: Vec<RunOutput> = (0..30).map(|_| signalling(None, None)).collect();
        let within = Within::parse("failover 2 s").unwrap();
        assert!(within.shares(&none).is_empty());
        let told = within.unmeasured(30);
        assert!(told.starts_with("nothing fails over in 30 runs") && told.contains("[[script]]"), "{told}");
        assert_eq!(Within::parse("gap 2 s").unwrap().unmeasured(3), "no flow has a `gap` in 3 runs");
    }

    #[test]
    fn a_flow_that_failed_does_not_keep_its_limit_and_one_without_the_measure_is_no_trial() {
        let outputs = [
            output(&[Some(1.0), None], false),
            output(&[Some(2.0), None], false),
            output(&[Some(2.1), None], false),
            output(&[None, None], true),
            output(&[None, None], false),
        ];
        let kept = Within::parse("failover 2 s").unwrap().shares(&outputs);
        assert_eq!(kept.len(), 1);
        assert_eq!((kept[0].flow.as_str(), kept[0].share.successes, kept[0].share.trials), ("f0", 2, 4));
    }
}
