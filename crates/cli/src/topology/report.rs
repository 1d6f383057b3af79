//! The answer to a topology on the terminal: coverage, paths, and every stretch with one path and why it began.

use std::io::{self, Write};

use slantpath_base::{Duration, Instant};
use slantpath_orbit::coverage::Coverage;
use slantpath_orbit::topology::Leg;
use slantpath_orbit::{Site, Utc};
use slantpath_topology::{FollowedPath, Topology, TopologyOutput};

use crate::arguments::TopologyArguments;
use crate::table::TextTable;
use crate::terminal::in_one_line;

/// Gaps that are listed; the rest is in the table `gaps`.
const GAPS: usize = 8;
/// Nodes of a path that are all printed.
const LONG_PATH: usize = 16;

pub(super) fn print(
    topology: &Topology,
    output: &TopologyOutput,
    arguments: &TopologyArguments,
    out: &mut impl Write,
) -> io::Result<()> {
    let (head, network) = (&topology.topology, topology.network());
    let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    writeln!(
        out,
        "{}: {} from {}, {}, {}, topology {}",
        in_one_line(&head.name),
        hours(*head.span),
        *head.epoch,
        count(network.satellite_count(), "satellite"),
        count(network.sites.len(), "site"),
        &topology.hash()[..12],
    )?;
    if !network.sites.is_empty() {
        writeln!(out)?;
        coverage(topology, output, out)?;
    }
    if !output.paths.is_empty() {
        writeln!(out)?;
        summary(output, out)?;
    }
    let report = Report { topology, output, prefix: common_prefix(topology), with_date: has_days(topology) };
    report.gaps(out)?;
    for path in &output.paths {
        report.path(path, arguments, out)?;
    }
    Ok(())
}

/// The sites that are not reached by cable only, with their coverage.
fn with_antennas<'a>(
    topology: &'a Topology,
    output: &'a TopologyOutput,
) -> impl Iterator<Item = (&'a Site, &'a Coverage)> {
    let sites = topology.network().sites.iter().zip(&output.coverage);
    sites.filter(|(site, _)| !site.antennas.is_empty())
}

fn coverage(topology: &Topology, output: &TopologyOutput, out: &mut impl Write) -> io::Result<()> {
    let mut lines = TextTable::default();
    lines.row(["site", "covered", "gaps", "longest gap"].map(str::to_owned));
    lines.row(["", "%", "", "s"].map(str::to_owned));
    for (site, coverage) in with_antennas(topology, output) {
        let longest = coverage.gaps.iter().map(|(start, end)| *end - *start).max().unwrap_or_default();
        let covered = percent(coverage.share);
        let gaps = coverage.gaps.len().to_string();
        lines.row([site.name.clone(), covered, gaps, format!("{:.1}", longest.as_secs_f64())]);
    }
    lines.print(1, out)
}

fn summary(output: &TopologyOutput, out: &mut impl Write) -> io::Result<()> {
    let mut lines = TextTable::default();
    let headings = [
        "path",
        "from",
        "to",
        "selection",
        "connected",
        "gaps",
        "least",
        "mean",
        "greatest",
        "hops",
        "changes",
        "handovers",
    ];
    lines.row(headings.map(str::to_owned));
    lines.row(["", "", "", "", "%", "", "ms", "ms", "ms", "", "", ""].map(str::to_owned));
    for path in &output.paths {
        let summary = &path.summary;
        let span = output.plan.span().as_secs_f64();
        let connected = !summary.connected.is_zero();
        let if_connected = |text: String| if connected { text } else { "–".to_owned() };
        let milliseconds = |value: f64| if_connected(format!("{value:.3}"));
        let name = |node: slantpath_orbit::ContactNodeId| output.plan.names()[node.index()].clone();
        lines.row([
            path.name.clone(),
            name(path.timeline.from),
            name(path.timeline.to),
            path.selection.to_string(),
            percent(summary.connected.as_secs_f64() / span),
            path.timeline.gaps().len().to_string(),
            milliseconds(summary.delay_min.as_millis_f64()),
            milliseconds(summary.delay_mean_s * 1e3),
            milliseconds(summary.delay_max.as_millis_f64()),
            if_connected(format!("{}–{}", summary.hops_min, summary.hops_max)),
            summary.path_changes.to_string(),
            summary.handovers.to_string(),
        ]);
    }
    lines.print(4, out)
}

struct Report<'a> {
    topology: &'a Topology,
    output: &'a TopologyOutput,
    /// Prefix that the names of all satellites have in common.
    prefix: String,
    /// True if a time of day is not enough.
    with_date: bool,
}

impl Report<'_> {
    fn gaps(&self, out: &mut impl Write) -> io::Result<()> {
        let sites = with_antennas(self.topology, self.output);
        let all: Vec<(String, Instant, Instant)> = sites
            .flat_map(|(site, coverage)| {
                coverage.gaps.iter().map(|&(start, end)| (site.name.clone(), start, end))
            })
            .collect();
        if all.is_empty() {
            return Ok(());
        }
        writeln!(out, "\ngaps in coverage (UTC)")?;
        for (site, start, end) in all.iter().take(GAPS) {
            let length = (*end - *start).as_secs_f64();
            writeln!(out, "  {site}: {} to {}, {length:.1} s", self.clock(*start), self.clock(*end))?;
        }
        if all.len() > GAPS {
            writeln!(out, "  and {} more: --out DIR writes gaps.csv", all.len() - GAPS)?;
        }
        Ok(())
    }

    fn path(
        &self,
        path: &FollowedPath,
        arguments: &TopologyArguments,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let legs = &path.timeline.legs;
        let names = self.output.plan.names();
        let (from, to) = (&names[path.timeline.from.index()], &names[path.timeline.to.index()]);
        write!(out, "\n{}: {from} to {to}, {}", path.name, path.selection)?;
        if self.prefix.is_empty() {
            writeln!(out)?;
        } else {
            writeln!(out, "; satellites are {}…", self.prefix)?;
        }
        let width = self.clock(Instant::START).len();
        writeln!(
            out,
            "{:width$}  {:>9}  {:>7}  {:>7}  {:>4}  path, and why it began",
            "UTC", "lasts", "least", "most", "hops"
        )?;
        writeln!(out, "{:width$}  {:>9}  {:>7}  {:>7}", "", "s", "ms", "ms")?;
        for leg in legs.iter().take(arguments.rows) {
            self.leg(leg, width, out)?;
        }
        if legs.len() > arguments.rows {
            let where_all = match &arguments.out {
                Some(directory) => format!("all are in {}", directory.join("legs.csv").display()),
                None => "--rows N shows more, --out DIR writes all to legs.csv".to_owned(),
            };
            writeln!(out, "{} of {} stretches; {where_all}", arguments.rows, legs.len())?;
        }
        Ok(())
    }

    fn leg(&self, leg: &Leg, width: usize, out: &mut impl Write) -> io::Result<()> {
        let lasts = (leg.end - leg.start).as_secs_f64();
        write!(out, "{:width$}  {lasts:>9.3}  ", self.clock(leg.start))?;
        match (&leg.path, &leg.delay) {
            (Some(path), Some(delay)) => {
                let nodes: Vec<&str> = path.nodes.iter().map(|node| self.short(node.index())).collect();
                let (least, most) = (delay.min.as_millis_f64(), delay.max.as_millis_f64());
                let (hops, nodes) = (path.contacts.len(), abridged(&nodes));
                writeln!(out, "{least:>7.3}  {most:>7.3}  {hops:>4}  {nodes}")?;
            }
            _ => writeln!(out, "{:>7}  {:>7}  {:>4}  no path", "–", "–", "–")?,
        }
        let plan = &self.output.plan;
        let reasons: Vec<String> = leg.reasons.iter().map(|reason| reason.describe(plan)).collect();
        let reasons = reasons.join(", ");
        let reasons = if self.prefix.is_empty() { reasons } else { reasons.replace(&self.prefix, "") };
        writeln!(out, "{:indent$}{reasons}", "", indent = width + 37)
    }

    fn short(&self, node: usize) -> &str {
        let name = &self.output.plan.names()[node];
        if node < self.output.plan.satellite_count() { &name[self.prefix.len()..] } else { name }
    }

    /// The time of day to the millisecond, with month and day where the span has several.
    fn clock(&self, at: Instant) -> String {
        let nanos = self.topology.topology.epoch.at(at).as_nanos();
        let rounded = Utc::from_nanos((nanos + 500_000).div_euclid(1_000_000) * 1_000_000).to_string();
        let (date, time) = rounded.trim_end_matches('Z').split_once('T').unwrap_or((&rounded, ""));
        let (seconds, fraction) = time.split_once('.').unwrap_or((time, ""));
        let day = if self.with_date { format!("{} ", &date[5..]) } else { String::new() };
        format!("{day}{seconds}.{fraction:0<3}")
    }
}

/// Tells if the span is longer than a day.
fn has_days(topology: &Topology) -> bool {
    let (epoch, span) = (topology.topology.epoch.0, *topology.topology.span);
    epoch.to_string().split('T').next() != epoch.after(span).to_string().split('T').next()
        && span.as_secs_f64() > 86_400.0
}

/// Prefix that the names of all satellites have in common, up to a dash or a blank.
fn common_prefix(topology: &Topology) -> String {
    let mut names = topology.network().satellites().map(|satellite| satellite.name.as_str());
    let Some(first) = names.next() else { return String::new() };
    let shared = names.fold(first.len(), |shared, name| {
        let same = first.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
        shared.min(same)
    });
    let shared = first.floor_char_boundary(shared.min(first.len().saturating_sub(1)));
    let end = first[..shared].rfind(['-', ' ']).map_or(0, |dash| dash + 1);
    first[..end].to_owned()
}

/// The nodes of a path; of a long one both ends, for the table `legs` has all.
fn abridged(nodes: &[&str]) -> String {
    if nodes.len() <= LONG_PATH {
        return nodes.join(" > ");
    }
    let (start, rest) = nodes.split_at(LONG_PATH / 2);
    let (left_out, end) = rest.split_at(rest.len() - LONG_PATH / 2);
    format!("{} > … {} more … > {}", start.join(" > "), left_out.len(), end.join(" > "))
}

/// A length of time in whole hours if it is such.
fn hours(time: Duration) -> String {
    const HOUR: u64 = 3_600_000_000_000;
    let nanos = time.as_nanos();
    if nanos.is_multiple_of(HOUR) { format!("{} h", nanos / HOUR) } else { time.to_string() }
}

/// A share in per cent, never rounded up to all.
fn percent(share: f64) -> String {
    if share >= 1.0 { "100".to_owned() } else { format!("{:.3}", (share * 1e5).floor() / 1e3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_shows_both_its_ends() {
        let names: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        let nodes: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(abridged(&nodes[..3]), "0 > 1 > 2");
        let text = "0 > 1 > 2 > 3 > 4 > 5 > 6 > 7 > … 4 more … > 12 > 13 > 14 > 15 > 16 > 17 > 18 > 19";
        assert_eq!(abridged(&nodes), text);
    }

    #[test]
    fn a_share_below_all_is_never_told_as_all() {
        assert_eq!([1.0, 0.999_999_9, 0.5].map(percent), ["100", "99.999", "50.000"]);
    }
}
