//! Constellations of several shells: links join the satellites of one, and none leads from shell to shell.

use slantpath_base::{Duration, Instant};

use crate::constellation::IslPattern;
use crate::contact::{ContactKind, ContactPlan};
use crate::network::{ContactNetwork, ContactNodeId};

/// Why no path joins two ends at times: both hold satellites of one constellation, of different shells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellsApart {
    /// The constellation whose shells they are.
    pub constellation: String,
    /// For how long, in all.
    pub time: Duration,
}

/// For how much of the times `gaps` sites at two ends hold satellites of one constellation that forward, and none of
/// one shell. That of the constellation for which it is longest, if it is at least half of these times: what else keeps
/// the ends apart is not said by it.
pub fn shells_apart(
    network: &ContactNetwork,
    plan: &ContactPlan,
    ends: [&[ContactNodeId]; 2],
    gaps: &[(Instant, Instant)],
) -> Option<ShellsApart> {
    let shells: Vec<&str> = network
        .constellations
        .iter()
        .map(|shell| if shell.isl.pattern == IslPattern::None { "" } else { shell.name.as_str() })
        .collect();
    let mut several: Vec<&str> = shells.clone();
    several.sort_unstable();
    several = several.chunk_by(|a, b| a == b).filter(|same| same.len() > 1).map(|same| same[0]).collect();
    several.retain(|name| !name.is_empty());
    if several.is_empty() || gaps.is_empty() {
        return None;
    }
    let shell_of = |satellite: ContactNodeId| {
        let is_behind = |shell: usize| network.first_node(shell) > satellite.index();
        (0..shells.len()).find(|&shell| is_behind(shell + 1)).unwrap_or(shells.len() - 1)
    };
    // What either end holds: of which shell, from when to when.
    let held = ends.map(|sites| {
        let contacts = plan.contacts().iter();
        let own =
            contacts.filter(|one| matches!(one.kind, ContactKind::Ground { .. }) && sites.contains(&one.b));
        own.map(|one| (shell_of(one.a), one.start, one.end)).collect::<Vec<_>>()
    });
    let mut apart = vec![Duration::ZERO; several.len()];
    for &(since, until) in gaps {
        let within = held.each_ref().map(|held| {
            let meets = |&&(_, start, end): &&(usize, Instant, Instant)| start < until && end > since;
            held.iter().filter(meets).copied().collect::<Vec<_>>()
        });
        let mut times = vec![since, until];
        times.extend(within.iter().flatten().flat_map(|&(_, start, end)| [start.max(since), end.min(until)]));
        times.sort_unstable();
        times.dedup();
        for between in times.windows(2) {
            let now = within.each_ref().map(|held| {
                let holds =
                    |&&(_, start, end): &&(usize, Instant, Instant)| start <= between[0] && end > between[0];
                held.iter().filter(holds).map(|&(shell, ..)| shell).collect::<Vec<_>>()
            });
            for (&name, apart) in several.iter().zip(&mut apart) {
                let [from, to] = now.each_ref().map(|held| {
                    held.iter().copied().filter(|&shell| shells[shell] == name).collect::<Vec<usize>>()
                });
                if !from.is_empty() && !to.is_empty() && !from.iter().any(|shell| to.contains(shell)) {
                    *apart = apart.saturating_add(between[1] - between[0]);
                }
            }
        }
    }
    let longest = several.into_iter().zip(apart).rev().max_by_key(|&(_, time)| time)?;
    let (constellation, time) = longest;
    let all = gaps.iter().fold(Duration::ZERO, |all, (since, until)| all.saturating_add(*until - *since));
    (!time.is_zero() && time >= all / 2)
        .then(|| ShellsApart { constellation: constellation.to_owned(), time })
}

impl ShellsApart {
    /// Advice on what to write so that they are joined.
    pub fn cure(&self) -> String {
        let name = &self.constellation;
        format!(
            "no link leads from shell to shell: let `{name}` be one shell (a preset that has one, `kind = \"shell\"`, \
             or `names` of an element file); or give each shell a constellation of its own, and both ends an antenna \
             to each"
        )
    }
}

impl core::fmt::Display for ShellsApart {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "its ends hold satellites of different shells of `{}`", self.constellation)
    }
}
