//! The files that Hypatia's simulator reads: satellites, ground stations, links, description, and forwarding
//! state over time.
//!
//! Form after the files of Kassing et al., "Exploring the Internet from space with Hypatia" (IMC 2020). Nodes
//! are numbered as there: satellites first, then ground stations. A satellite's interfaces are its links in
//! the order of `isls.txt`, then one towards the ground; a ground station has one. Hypatia's links exist for
//! ever: a link that is off at times is in the list, and the forwarding state does not use it while it is
//! off.

mod elements;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use slantpath_base::{Duration, Instant};

use crate::contact::{ContactId, ContactKind, ContactPlan};
use crate::earth::{Geodetic, SPEED_OF_LIGHT};
use crate::elements::tle;
use crate::network::{ContactNetwork, ContactNodeId};
use crate::route::{RouteConfig, Router};
use crate::sgp4::PropagationFault;

/// A file's name and text.
pub type HypatiaFile = (String, String);

/// All files: those of [`setting`], and those of each step of [`Forwarding`]. For long plans with many sites
/// take the two apart: the states of a day may not fit into memory.
pub fn files(
    network: &ContactNetwork,
    plan: &ContactPlan,
    step: Duration,
) -> Result<Vec<HypatiaFile>, PropagationFault> {
    let mut files = setting(network, plan)?;
    files.extend(Forwarding::new(plan, step).flatten());
    Ok(files)
}

/// Files that do not change over time: `tles.txt`, `ground_stations.txt`, `isls.txt`, `gsl_interfaces_info.txt` and
/// `description.txt`.
pub fn setting(network: &ContactNetwork, plan: &ContactPlan) -> Result<Vec<HypatiaFile>, PropagationFault> {
    Ok(vec![
        ("tles.txt".to_owned(), tles(network)?),
        ("ground_stations.txt".to_owned(), ground_stations(network)),
        ("isls.txt".to_owned(), Interfaces::new(plan).isls()),
        ("gsl_interfaces_info.txt".to_owned(), Interfaces::gsl_interfaces(plan)),
        ("description.txt".to_owned(), description(plan)),
    ])
}

/// The satellites' elements as two lines, all of the start, to the format's digits.
fn tles(network: &ContactNetwork) -> Result<String, PropagationFault> {
    let constellation = network.constellations.first();
    let planes = constellation.map_or(1, |first| first.plane_count().max(1));
    let count = network.satellite_count();
    let even = network.constellations.len() == 1 && count.is_multiple_of(planes);
    let (planes, per_plane) = if even { (planes, count / planes) } else { (1, count) };
    let mut text = format!("{planes} {per_plane}\n");
    for (index, satellite) in network.satellites().enumerate() {
        let [first, second] = tle::write(&elements::at(&satellite.orbit, index, network.epoch)?);
        let _ = writeln!(text, "{} {index}\n{first}\n{second}", satellite.name.replace(' ', "-"));
    }
    Ok(text)
}

fn ground_stations(network: &ContactNetwork) -> String {
    let mut text = String::new();
    for (index, site) in network.sites.iter().enumerate() {
        let position = site.place.at(Instant::START).position;
        let place = Geodetic::from_fixed(position);
        let _ = writeln!(
            text,
            "{index},{},{:.6},{:.6},{:.3},{:.3},{:.3},{:.3}",
            site.name.replace(',', " "),
            place.latitude.as_degrees(),
            place.longitude.as_degrees(),
            place.height_m,
            position.x,
            position.y,
            position.z
        );
    }
    text
}

/// The delay of a contact is read this often for its greatest length.
const LENGTH_STEP: Duration = Duration::from_secs(30);
/// Addition to the greatest lengths, as a share of them: Hypatia works distances out again from the elements, by which
/// a circle's satellite lies some ten kilometres elsewhere, and refuses a link that is longer.
const LENGTH_MARGIN: f64 = 0.01;

/// The greatest lengths of both kinds of links over the plan, with a margin.
fn description(plan: &ContactPlan) -> String {
    let (mut ground, mut between) = (0.0_f64, 0.0_f64);
    for (index, contact) in plan.contacts().iter().enumerate() {
        let curve = plan.delay(contact_id(index));
        let steps = (contact.end - contact.start).as_nanos().div_ceil(LENGTH_STEP.as_nanos());
        let times = (0..steps).map(|step| contact.start + LENGTH_STEP * step).chain([contact.end]);
        let longest = times.map(|at| curve.nanos_at(at) * 1e-9).fold(0.0, f64::max);
        let metres = longest * SPEED_OF_LIGHT * (1.0 + LENGTH_MARGIN);
        match contact.kind {
            ContactKind::Ground { .. } => ground = ground.max(metres),
            ContactKind::InterSatellite => between = between.max(metres),
            // Hypatia knows no cables.
            ContactKind::Terrestrial => {}
        }
    }
    format!("max_gsl_length_m={ground:.10}\nmax_isl_length_m={between:.10}\n")
}

/// Numbers of the interfaces.
struct Interfaces {
    pairs: Vec<(ContactNodeId, ContactNodeId)>,
    /// For each node, how many links between satellites it has; the next number is the one towards the
    /// ground.
    count: Vec<usize>,
    number: BTreeMap<(ContactNodeId, ContactNodeId), usize>,
}

impl Interfaces {
    fn new(plan: &ContactPlan) -> Self {
        let between = plan.contacts().iter().filter(|contact| contact.kind == ContactKind::InterSatellite);
        let pairs: BTreeSet<(ContactNodeId, ContactNodeId)> =
            between.map(|contact| (contact.a, contact.b)).collect();
        let pairs: Vec<_> = pairs.into_iter().collect();
        let mut count = vec![0; plan.names().len()];
        let mut number = BTreeMap::new();
        for &(a, b) in &pairs {
            for (from, to) in [(a, b), (b, a)] {
                number.insert((from, to), count[from.index()]);
                count[from.index()] += 1;
            }
        }
        Self { pairs, count, number }
    }

    fn isls(&self) -> String {
        self.pairs.iter().fold(String::new(), |mut text, (a, b)| {
            let _ = writeln!(text, "{} {}", a.0, b.0);
            text
        })
    }

    fn gsl_interfaces(plan: &ContactPlan) -> String {
        (0..plan.names().len()).fold(String::new(), |mut text, node| {
            let _ = writeln!(text, "{node},1,1.0");
            text
        })
    }

    /// The interface of a node towards another: that of their link, or the one towards the ground.
    fn of(&self, from: ContactNodeId, to: ContactNodeId) -> usize {
        self.number.get(&(from, to)).copied().unwrap_or(self.count[from.index()])
    }
}

/// The state over time, step by step: each gives `dynamic_state_…/fstate_….txt` and `gsl_if_bandwidth_….txt`.
/// The first is whole, later ones hold what changed.
pub struct Forwarding<'p> {
    plan: &'p ContactPlan,
    interfaces: Interfaces,
    sites: Vec<ContactNodeId>,
    router: Router<'p>,
    known: BTreeMap<(ContactNodeId, ContactNodeId), Option<ContactNodeId>>,
    folder: String,
    step: u64,
    at: u64,
}

impl<'p> Forwarding<'p> {
    /// From the start of a plan; a step is at least a millisecond.
    pub fn new(plan: &'p ContactPlan, step: Duration) -> Self {
        let sites: Vec<ContactNodeId> =
            (plan.satellite_count()..plan.names().len()).map(ContactNodeId::new).collect();
        let router = Router::new(plan, &sites, RouteConfig::default());
        let step = step.as_nanos().max(1_000_000);
        let seconds = plan.span().as_nanos() / 1_000_000_000;
        let folder = format!("dynamic_state_{}ms_for_{seconds}s", step / 1_000_000);
        let (interfaces, known) = (Interfaces::new(plan), BTreeMap::new());
        Self { plan, interfaces, sites, router, known, folder, step, at: 0 }
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        usize::try_from(self.plan.span().as_nanos().div_ceil(self.step)).unwrap_or(usize::MAX)
    }

    fn state(&mut self) -> String {
        let mut text = String::new();
        for (index, &to) in self.sites.iter().enumerate() {
            for from in (0..self.plan.names().len()).map(ContactNodeId::new).filter(|&from| from != to) {
                let next = self.router.next_hop(from, index).map(|hop| hop.next);
                if self.known.insert((from, to), next) == Some(next) {
                    continue;
                }
                let _ = match next {
                    Some(next) => {
                        let (mine, theirs) = (self.interfaces.of(from, next), self.interfaces.of(next, from));
                        writeln!(text, "{},{},{},{mine},{theirs}", from.0, to.0, next.0)
                    }
                    None => writeln!(text, "{},{},-1,-1,-1", from.0, to.0),
                };
            }
        }
        text
    }
}

impl Iterator for Forwarding<'_> {
    type Item = [HypatiaFile; 2];

    fn next(&mut self) -> Option<[HypatiaFile; 2]> {
        let at = self.at;
        if at >= self.plan.span().as_nanos() {
            return None;
        }
        self.router.advance(Instant::from_nanos(at));
        let state = self.state();
        let bandwidth = if at == 0 {
            (0..self.plan.names().len()).fold(String::new(), |mut text, node| {
                let _ = writeln!(text, "{node},{},1.0", self.interfaces.count[node]);
                text
            })
        } else {
            String::new()
        };
        self.at += self.step;
        let folder = &self.folder;
        Some([
            (format!("{folder}/fstate_{at}.txt"), state),
            (format!("{folder}/gsl_if_bandwidth_{at}.txt"), bandwidth),
        ])
    }
}

fn contact_id(index: usize) -> ContactId {
    ContactId(u32::try_from(index).unwrap_or(u32::MAX))
}
