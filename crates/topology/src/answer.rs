//! The answer to a topology: contacts, paths and coverage, worked out on many threads.

use core::convert::Infallible;
use core::ops::ControlFlow;
use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::BTreeMap;

use slantpath_orbit::contact::{Contact, ContactPlan, Planner, SitePasses};
use slantpath_orbit::coverage;
use slantpath_orbit::coverage::Coverage;
use slantpath_orbit::elements::Stale;
use slantpath_orbit::network::NetworkError;
use slantpath_orbit::shells::{ShellsApart, shells_apart};
use slantpath_orbit::topology::{Summary, Timeline, follow_while, follow_within};
use slantpath_reader::Diagnostics;
use slantpath_results::{StoreError, Table, TableError};
use slantpath_workers::Workers;

use super::pass_store::PassStore;
use super::schema::{Followed, PathTable, RouteSelection};
use super::{Topology, check, tables};

/// The answer to a topology.
#[derive(Clone, Debug)]
pub struct TopologyOutput {
    /// Every contact of the span.
    pub plan: ContactPlan,
    /// The answers to the questions, in order of their names.
    pub paths: Vec<FollowedPath>,
    /// Times at which each site sees a satellite, by the order of their names.
    pub coverage: Vec<Coverage>,
    /// Element sets that are used further from their epoch than is wise.
    pub warnings: Vec<Stale>,
    /// Everything as tables, in alphabetical order.
    pub tables: Vec<Table>,
}

/// Path by which one site reaches another.
#[derive(Clone, Debug)]
pub struct FollowedPath {
    /// The name of the question.
    pub name: String,
    /// Selection of the route that was followed.
    pub selection: RouteSelection,
    /// The route over time.
    pub timeline: Timeline,
    /// Summary of the route.
    pub summary: Summary,
    /// Shells that keep its ends apart at times though both hold satellites, if they do.
    pub apart: Option<ShellsApart>,
}

impl TopologyOutput {
    /// Warnings in words: of the element sets of one file that are too old, the oldest; of the paths that shells of one
    /// constellation keep apart, the one for which they do longest.
    pub fn warning_lines(&self) -> Vec<String> {
        let mut lines = warning_lines(&self.warnings);
        let mut longest: BTreeMap<&str, (&str, &ShellsApart, usize)> = BTreeMap::new();
        for path in &self.paths {
            let Some(apart) = &path.apart else { continue };
            let (name, known, count) = longest.entry(&apart.constellation).or_insert((&path.name, apart, 0));
            *count += 1;
            if apart.time > known.time {
                (*name, *known) = (&path.name, apart);
            }
        }
        let span = self.plan.span();
        lines.extend(longest.into_values().map(|(name, apart, count)| {
            let share = 100.0 * apart.time.as_secs_f64() / span.as_secs_f64();
            let others = if count > 1 { format!(" (and {} more like it)", count - 1) } else { String::new() };
            let cure = apart.cure();
            format!("path `{name}` is not there for {share:.1} % of the span, as {apart}{others}; {cure}")
        }));
        lines
    }

    /// The paths that do not exist at any time, by name.
    pub fn absent(&self) -> Vec<&str> {
        let absent = self.paths.iter().filter(|path| path.summary.connected.is_zero());
        absent.map(|path| path.name.as_str()).collect()
    }

    /// The table of that name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name() == name)
    }
}

/// Old element sets in a line for each file: the oldest, and how many more there are.
pub fn warning_lines(warnings: &[Stale]) -> Vec<String> {
    let mut oldest: BTreeMap<&str, (&Stale, usize)> = BTreeMap::new();
    for warning in warnings {
        let (known, count) = oldest.entry(&warning.file).or_insert((warning, 0));
        *count += 1;
        if warning.days > known.days {
            *known = warning;
        }
    }
    let line = |(warning, count): (&Stale, usize)| match count {
        1 => warning.to_string(),
        _ => format!("{warning} (and {} more like it)", count - 1),
    };
    oldest.into_values().map(line).collect()
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The topology cannot be: this was only found out over the span.
    #[error("{0}")]
    Invalid(Diagnostics),
    /// The passes of a site cannot be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The tables contradict themselves: a defect of this program.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// Stage of the work on an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerStage {
    /// The passes of the satellites over each site.
    Passes,
    /// Contacts of antennas with the satellites that they hold, links between satellites, and the delay of each
    /// contact.
    Contacts,
    /// The paths, and the tables.
    Paths,
}

/// Works the answer out. `stage` hears what comes next; the workers hear of each site. `Ok(None)` if it was
/// stopped: the passes of the sites that were done are then in `store`, if there is one, and need not be worked
/// out again.
pub fn follow(
    topology: &Topology,
    store: Option<&PassStore>,
    workers: Workers<'_>,
    stage: &dyn Fn(AnswerStage),
) -> Result<Option<TopologyOutput>, FollowError> {
    let invalid = |error: NetworkError| FollowError::Invalid(topology.diagnose(&error));
    let network = topology.network();
    stage(AnswerStage::Passes);
    let planner = Planner::new(network, *topology.topology.span).map_err(invalid)?;
    let hash = topology.hash();
    let passes = workers.each(network.sites.len(), |site, _| {
        if let Some(stored) = store.and_then(|store| store.get(&hash, site)) {
            return Ok(Some(stored));
        }
        let passes = planner.passes(site).map_err(invalid)?;
        store.map_or(Ok(()), |store| store.put(&hash, site, &passes))?;
        Ok::<_, FollowError>(Some(passes))
    })?;
    let Some(passes) = passes.into_iter().collect::<Option<Vec<SitePasses>>>() else { return Ok(None) };
    stage(AnswerStage::Contacts);
    let plan = planner.finish(&passes).map_err(invalid)?;
    if workers.stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    stage(AnswerStage::Paths);
    let questions: Vec<(&str, &PathTable)> =
        topology.paths.iter().map(|(name, path)| (name, &**path)).collect();
    let quiet = Workers { progress: &|_| {}, ..workers };
    let paths = quiet.each(questions.len(), |index, _| {
        Ok::<_, FollowError>(follow_one(topology, &plan, questions[index], workers.stop))
    })?;
    let paths = paths.into_iter().collect::<Option<Vec<FollowedPath>>>();
    let Some(paths) = paths else { return Ok(None) };
    let coverage: Vec<Coverage> =
        (0..network.sites.len()).map(|site| coverage::of_site(&plan, site)).collect();
    let warnings = planner.warnings().to_vec();
    let answer = tables::Answer {
        topology,
        planner: &planner,
        plan: &plan,
        paths: &paths,
        coverage: &coverage,
        passes: &passes,
    };
    let tables = answer.tables()?;
    Ok(Some(TopologyOutput { plan, paths, coverage, warnings, tables }))
}

/// One path; `None` if it was stopped on the way.
fn follow_one(
    topology: &Topology,
    plan: &ContactPlan,
    (name, question): (&str, &PathTable),
    stop: &AtomicBool,
) -> Option<FollowedPath> {
    let Followed { ends: (from, to), selection } = &question.followed.0;
    let (from, to) = (*from, *to);
    let mut go_on = |_, _| {
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let (ends, refresh) = ((from, to), question.refresh.0);
    let timeline = match &question.constellation {
        None => follow_while(plan, ends, selection, refresh, &mut go_on)?,
        Some(name) => {
            let is_of_it = topology.network().is_of(name);
            let is_usable = |contact: &Contact| {
                [contact.a, contact.b].iter().all(|node| is_of_it.get(node.index()).is_none_or(|is| *is))
            };
            follow_within(plan, ends, selection, refresh, &is_usable, &mut go_on)?
        }
    };
    let summary = timeline.summary(plan);
    let apart = shells_apart(topology.network(), plan, [&[from], &[to]], &timeline.gaps());
    let apart = apart.filter(|apart| {
        question.constellation.as_ref().is_none_or(|constellation| **constellation == apart.constellation)
    });
    Some(FollowedPath { name: name.to_owned(), selection: *question.selection, timeline, summary, apart })
}

impl Topology {
    /// Reports the faults that the network finds, at their places in the file.
    fn diagnose(&self, error: &NetworkError) -> Diagnostics {
        let (_, mut faults) = match self.document.clone().entries() {
            Ok(entries) => entries,
            Err(found) => return found,
        };
        check::report(&self.file, error, &self.files, &mut faults);
        let Err(found) = faults.whole(None::<Infallible>);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_element_sets_of_one_file_the_oldest_is_told_and_of_equal_ones_the_first() {
        let used: slantpath_orbit::Utc = "2026-03-01T00:00:00Z".parse().unwrap();
        let stale = |file: &str, object: &str, days| Stale {
            file: file.to_owned(),
            line: 1,
            object: object.to_owned(),
            epoch: used,
            used,
            days,
            limit_days: 7.0,
        };
        let told = |all: &[(&str, &str, f64)]| -> Vec<String> {
            let all: Vec<Stale> = all.iter().map(|&(file, object, days)| stale(file, object, days)).collect();
            warning_lines(&all)
        };
        let line = |file, object, days| stale(file, object, days).to_string();
        assert_eq!(
            told(&[("b", "one", 9.0), ("a", "two", 9.0), ("b", "three", 9.0), ("b", "four", 8.0)]),
            [line("a", "two", 9.0), format!("{} (and 2 more like it)", line("b", "one", 9.0))]
        );
        assert_eq!(
            told(&[("a", "one", 8.0), ("a", "two", 9.5)]),
            [format!("{} (and 1 more like it)", line("a", "two", 9.5))]
        );
    }

    #[test]
    fn a_path_that_is_being_followed_can_be_stopped() {
        let text = include_str!("../../../scenarios/iridium-london-boston.toml");
        let overrides = ["topology.span=10 min".to_owned()];
        let topology =
            Topology::parse("sky.toml", text, &overrides, slantpath_reader::files_in("".as_ref())).unwrap();
        let plan = Planner::new(topology.network(), *topology.topology.span).unwrap();
        let plan = plan.plan(&mut |_, _| {}).unwrap();
        let (name, question) = topology.paths.iter().next().unwrap();
        let follow = |stop| follow_one(&topology, &plan, (name, question), &AtomicBool::new(stop));
        assert!(follow(true).is_none());
        assert!(follow(false).is_some_and(|path| path.timeline.legs.len() > 2));
    }
}
