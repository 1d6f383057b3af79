//! The file of a sweep, and the points of its grid.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use slantpath_advice::is_of_unused;
use slantpath_reader::{
    AtMost, Diagnostic, Diagnostics, Document, Entries, Fault, Faults, FileKind, InputSource, LoadError,
    Part, Place, Section, Setting, ValueData, ValueNode, read_text, section, suggest,
};
use slantpath_scenario::{OwnKinds, Watch};
use slantpath_workers::Progress;

use crate::output::TABLES;
use crate::scenario::Scenario;

/// Runs of a point.
const RUNS: AtMost<u32> = AtMost::new(1_000_000, "means are no more exact for it");
/// Number of a run.
const FIRST_RUN: AtMost<u32> = AtMost::new(u32::MAX, "it is a name of 32 bits");

section! {
    /// Base scenario of a sweep, and the number of runs of each point of the grid.
    pub(crate) struct Head {
        /// The base scenario, relative to this file.
        scenario: Setting<String>;
        /// Runs of each point. Run `n` of every point draws the same random numbers.
        repetitions: Setting<u32> = 1, at most RUNS;
        /// The number of the first run.
        first_run: Setting<u32> = 0, at most FIRST_RUN;
        /// Tables of the runs that are joined.
        tables: Setting<Vec<String>> = vec!["flows".to_owned(), "links".to_owned()];
    }
}

section! {
    /// A Slantpath sweep: a scenario, and what of it is varied.
    pub(crate) struct File {
        /// Base scenario, and the number of runs of each point of the grid.
        sweep: Part<Head>;
    }
}

/// Paths of the scenario that change together, and the values that they take in turn. Axes are crossed.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Each path with its values, of which all have the same number.
    paths: Vec<(String, Place, Vec<ValueNode>)>,
}

impl Axis {
    /// Each path with its values as TOML, in the order of the file.
    pub fn values(&self) -> impl Iterator<Item = (&str, Vec<String>)> {
        self.paths
            .iter()
            .map(|(path, _, values)| (path.as_str(), values.iter().map(ValueNode::to_toml).collect()))
    }

    /// Number of values that each of its paths takes.
    fn len(&self) -> usize {
        self.paths.first().map_or(1, |(_, _, values)| values.len())
    }
}

/// A checked sweep.
#[derive(Clone, Debug)]
pub struct Sweep {
    base: Scenario,
    source: Arc<InputSource>,
    axes: Vec<Axis>,
    repetitions: u32,
    first_run: u32,
    tables: Vec<String>,
    /// The hash of each point's merged scenario.
    hashes: Vec<String>,
    warnings: Warnings,
}

/// Warnings of the points, each once.
#[derive(Clone, Debug, Default)]
struct Warnings {
    kept: Vec<Diagnostic>,
    /// Profiles that a point does not use, each with how many do not.
    unused: Vec<(Diagnostic, usize)>,
    /// Points that have others than those that are kept.
    points_with_more: usize,
}

/// Warnings that are kept at most: where a value is doubtful, so are many others on its axis.
const WARNINGS_MAX: usize = 20;

impl Warnings {
    fn add(&mut self, of_point: &[Diagnostic]) {
        let mut has_more = false;
        for warning in of_point {
            if is_of_unused(warning) {
                match self.unused.iter_mut().find(|(known, _)| known == warning) {
                    Some((_, points)) => *points += 1,
                    None => self.unused.push((warning.clone(), 1)),
                }
                continue;
            }
            if self.kept.contains(warning) {
                continue;
            }
            if self.kept.len() < WARNINGS_MAX {
                self.kept.push(warning.clone());
            } else {
                has_more = true;
            }
        }
        self.points_with_more += usize::from(has_more);
    }

    /// Forgets the profiles that one of the points uses: that is what a sweep of them is for.
    fn drop_used(&mut self, points: usize) {
        let unused = std::mem::take(&mut self.unused).into_iter().filter(|&(_, without)| without == points);
        self.kept.splice(0..0, unused.map(|(warning, _)| warning));
    }
}

impl Sweep {
    /// Reads the file of a sweep and checks every point of its grid. `overrides` are laid over the base.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Self, LoadError> {
        Self::load_observed(path, overrides, &OwnKinds::none(), &|_| {})
    }

    /// Reads the file as [`Sweep::load`] does. If there is a sky, `progress` hears of the sites whose contacts are
    /// worked out: for the base, and again for each point that has other contacts.
    pub fn load_observed(
        path: &Path,
        overrides: &[String],
        own: &OwnKinds,
        progress: &dyn Fn(Progress),
    ) -> Result<Self, LoadError> {
        let directory = super::directory_of(path);
        let base = |scenario: &str, progress: &dyn Fn(Progress)| {
            Scenario::load_observed(&directory.join(scenario), overrides, own, progress)
        };
        Self::parse_observed(&path.display().to_string(), &read_text(path)?, base, Watch::new(progress))
    }

    /// Reads a string that errors call `name`. The scenario that it names is what `base` gives. What is stopped is at
    /// fault.
    pub fn parse_observed(
        name: &str,
        text: &str,
        base: impl FnOnce(&str, &dyn Fn(Progress)) -> Result<Scenario, LoadError>,
        watch: Watch<'_>,
    ) -> Result<Self, LoadError> {
        let document = Document::parse(name, text);
        let (mut tree, mut faults) = document.entries_of(FileKind::Sweep).map_err(LoadError::Invalid)?;
        let axes = match tree.remove("axis") {
            Some(entry) => axes(&entry.node, &mut faults),
            None => Vec::new(),
        };
        let root = File::read_root(&tree, FileKind::Sweep.words(), &mut faults);
        let source = Arc::clone(faults.source(0));
        let head = root.and_then(|(file, _)| file.sweep.whole().cloned());
        check_paths(&axes, &mut faults);
        if let Some(head) = &head {
            check(head, &axes, &mut faults);
        }
        let head = faults.whole(head).map_err(LoadError::Invalid)?;
        let points = axes.iter().map(Axis::len).product::<usize>();
        let of_part = |part: usize, made: Progress| {
            let (parts, of_all) = (points + 1, part * made.all + made.done);
            (watch.progress)(Progress {
                done: of_all,
                all: parts * made.all,
                share: (part as f64 + made.share) / parts as f64,
            });
        };
        let base = base(&head.scenario, &|made| of_part(0, made)).map_err(|error| match error {
            LoadError::Unreadable { path, error } => {
                let message = format!("scenario `{}` cannot be read: {error}", path.display());
                let fault = Fault::new(message).help("the name is relative to the directory of the sweep");
                LoadError::Invalid(Diagnostics::one(Arc::clone(&source), head.scenario.place(), fault))
            }
            invalid @ LoadError::Invalid(_) => invalid,
        })?;
        let mut sweep = Self {
            base,
            source,
            axes,
            repetitions: *head.repetitions,
            first_run: *head.first_run,
            tables: (*head.tables).clone(),
            hashes: Vec::with_capacity(points),
            warnings: Warnings::default(),
        };
        for point in 0..points {
            if watch.stop.load(Ordering::Relaxed) {
                let fault = Fault::new("the points were not all checked: it was stopped");
                let fault = Diagnostics::one(Arc::clone(&sweep.source), head.scenario.place(), fault);
                return Err(LoadError::Invalid(fault));
            }
            let of_point = Watch { progress: &|made| of_part(point + 1, made), ..watch };
            let made = sweep.try_scenario(point, of_point).map_err(LoadError::Invalid)?;
            sweep.hashes.push(made.hash());
            sweep.warnings.add(made.warnings());
        }
        sweep.warnings.drop_used(points);
        Ok(sweep)
    }

    /// Number of points of the grid.
    pub fn points(&self) -> usize {
        self.axes.iter().map(Axis::len).product()
    }

    /// Number of runs in all.
    pub fn jobs(&self) -> usize {
        self.points() * self.repetitions as usize
    }

    /// Warnings of the scenarios of the points, in their order and each once; of more than twenty the first.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings.kept
    }

    /// Number of points that have warnings that are not among [`Sweep::warnings`].
    pub const fn points_with_more_warnings(&self) -> usize {
        self.warnings.points_with_more
    }

    /// Axes of the values that are varied, in the order of the file.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The scenario that is varied.
    pub fn base(&self) -> &Scenario {
        &self.base
    }

    /// Runs of each point.
    pub fn repetitions(&self) -> u32 {
        self.repetitions
    }

    /// The number of the first run of each point.
    pub fn first_run(&self) -> u32 {
        self.first_run
    }

    /// Tables of the runs that are joined.
    pub fn tables(&self) -> &[String] {
        &self.tables
    }

    /// The hash of a point's merged scenario.
    pub fn hash(&self, point: usize) -> &str {
        &self.hashes[point]
    }

    /// The varied paths with all their values, in the order of the file.
    pub(super) fn varied(&self) -> impl Iterator<Item = (&str, &[ValueNode])> {
        self.axes
            .iter()
            .flat_map(|axis| axis.paths.iter().map(|(path, _, values)| (path.as_str(), values.as_slice())))
    }

    /// The point and the run number of a job; the repetitions of one point follow each other.
    pub fn job(&self, job: usize) -> (usize, u64) {
        let repetitions = self.repetitions as usize;
        (job / repetitions, u64::from(self.first_run) + (job % repetitions) as u64)
    }

    /// Name of a job's results, made of everything that they depend on.
    pub(crate) fn key(&self, job: usize) -> String {
        let (point, run) = self.job(job);
        format!("{}-{run}", self.hashes[point])
    }

    /// Numbers of the values that varied paths have at a point, in the order of [`Sweep::varied`]. The last axis
    /// changes fastest.
    pub(super) fn places(&self, point: usize) -> Vec<usize> {
        let mut places = Vec::new();
        let mut rest = point;
        for axis in self.axes.iter().rev() {
            let place = rest % axis.len();
            rest /= axis.len();
            places.extend(axis.paths.iter().map(|_| place));
        }
        places.reverse();
        places
    }

    /// Varied paths with their values at a point, as TOML, in the order of the file.
    pub fn values(&self, point: usize) -> Vec<(&str, String)> {
        let varied = self.varied().zip(self.places(point));
        varied.map(|((path, values), place)| (path, values[place].to_toml())).collect()
    }

    /// The scenario of a point.
    pub fn scenario(&self, point: usize) -> Scenario {
        self.try_scenario(point, Watch::new(&|_| {}))
            .expect("every point was checked when the sweep was read")
    }

    fn try_scenario(&self, point: usize, watch: Watch<'_>) -> Result<Scenario, Diagnostics> {
        let paths = self.axes.iter().flat_map(|axis| &axis.paths);
        let values: Vec<_> = paths
            .zip(self.places(point))
            .map(|((path, key, values), place)| (path.split('.').collect(), *key, values[place].clone()))
            .collect();
        self.base.with_nodes(&self.source, &values, watch)
    }
}

/// Runs of a sweep at most: each is a file of its own.
const RUNS_MAX: usize = 1_000_000;

fn check(head: &Head, axes: &[Axis], faults: &mut Faults) {
    let points = axes.iter().try_fold(1_usize, |points, axis| points.checked_mul(axis.len()));
    let runs = points.and_then(|points| points.checked_mul(*head.repetitions as usize));
    if runs.is_none_or(|runs| runs > RUNS_MAX) {
        let count = runs.map_or("more runs than can be counted".to_owned(), |runs| format!("{runs} runs"));
        let help = format!("{RUNS_MAX} is the most; take fewer values or `repetitions`, or divide the sweep");
        faults.report(head.scenario.place(), Fault::new(format!("this sweep has {count}")).help(help));
    }
    if *head.repetitions == 0 {
        let fault = Fault::new("nothing is run").help("write `repetitions = 1`, or more");
        faults.report(head.repetitions.place(), fault);
    }
    for table in &*head.tables {
        if !TABLES.contains(&table.as_str()) {
            let fault = Fault::new(format!("there is no table `{table}`"));
            faults.report(head.tables.place(), fault.help(suggest(table, "tables", TABLES)));
        }
    }
}

/// A path that is varied twice would have one value of the two, and both in the results.
fn check_paths(axes: &[Axis], faults: &mut Faults) {
    let mut paths: Vec<(&str, Place)> =
        axes.iter().flat_map(|axis| &axis.paths).map(|(path, key, _)| (path.as_str(), *key)).collect();
    paths.sort_by_key(|(_, key)| *key);
    let is_within =
        |inner: &str, outer: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'));
    for (number, (path, key)) in paths.iter().enumerate() {
        let wrong = paths[..number].iter().find_map(|(earlier, _)| {
            if path == earlier {
                Some(format!("`{path}` is varied already"))
            } else if is_within(path, earlier) {
                Some(format!("`{path}` is a part of `{earlier}`, which is varied already"))
            } else if is_within(earlier, path) {
                Some(format!("`{earlier}`, which is varied already, is a part of `{path}`"))
            } else {
                None
            }
        });
        if let Some(message) = wrong {
            let help = "vary it once; paths that change together belong to one axis";
            faults.report(*key, Fault::new(message).help(help));
        }
    }
}

fn axes(node: &ValueNode, faults: &mut Faults) -> Vec<Axis> {
    let help = "write `[[axis]]`, and below it lines like `\"links.satellite.loss\" = [\"0 %\", \"1 %\"]`";
    let ValueData::Array(items) = &node.data else {
        faults.report(node.place, Fault::new(format!("`axis` is {}", node.kind())).help(help));
        return Vec::new();
    };
    let mut axes = Vec::new();
    for item in items {
        match &item.data {
            ValueData::Table(entries) => axes.extend(axis(entries, item.place, faults)),
            _ => faults.report(item.place, Fault::new(format!("an axis is {}", item.kind())).help(help)),
        }
    }
    axes
}

fn axis(entries: &Entries, place: Place, faults: &mut Faults) -> Option<Axis> {
    let mut paths: Vec<(String, Place, Vec<ValueNode>)> = Vec::new();
    for (path, entry) in entries {
        let help =
            "put the whole path into quotes and a list behind it: `\"links.satellite.loss\" = [\"0 %\"]`";
        let values = match &entry.node.data {
            ValueData::Array(values) if !values.is_empty() => values.clone(),
            ValueData::Array(_) => {
                faults.report(entry.node.place, Fault::new(format!("`{path}` takes no value")).help(help));
                return None;
            }
            _ => {
                let message = format!("`{path}` takes a list of values, not {}", entry.node.kind());
                faults.report(entry.node.place, Fault::new(message).help(help));
                return None;
            }
        };
        if let Some((first, _, others)) = paths.first()
            && others.len() != values.len()
        {
            let message = format!("`{path}` takes {} values, `{first}` takes {}", values.len(), others.len());
            let help = "paths of one axis change together; give those that are crossed an axis each";
            faults.report(entry.node.place, Fault::new(message).help(help));
            return None;
        }
        paths.push((path.clone(), entry.key, values));
    }
    if paths.is_empty() {
        let help = "write lines like `\"links.satellite.loss\" = [\"0 %\", \"1 %\"]` below it, or remove it";
        faults.report(place, Fault::new("this axis varies nothing").help(help));
        return None;
    }
    // As written, not as sorted: the columns of the results follow the file.
    paths.sort_by_key(|(_, key, _)| *key);
    Some(Axis { paths })
}
