//! Flows whose ends no path joins: never in a run, or for longer than their association lives.

use slantpath_base::{Duration, Instant};
use slantpath_orbit::NodeId;
use slantpath_orbit::contact::{Contact, ContactKind};
use slantpath_orbit::route::{RouteConfig, Router};
use slantpath_reader::{Fault, Faults};

use super::plan::SkyPlan;
use super::{cables, pairs};
use crate::schema::{File, Flow, SctpProfile, Transport};

/// A flow that goes over the sky, and the times at which no path joins them.
struct Ends<'a> {
    name: &'a str,
    flow: &'a Flow,
    /// The sites by which it may go up, and come down.
    from: Vec<NodeId>,
    to: Vec<NodeId>,
    /// Since when there is no path, if there is none.
    apart_since: Option<Instant>,
    /// The longest time without one, and its start.
    longest: (Duration, Instant),
    has_met: bool,
}

/// Looks over the whole run which flows have a path, at every change of a contact.
pub(super) fn check(file: &File, plan: &SkyPlan, faults: &mut Faults) {
    let contacts = &plan.contacts;
    let end = Instant::START + file.scenario.whole().map_or(Duration::ZERO, |head| *head.duration);
    let sites_of = |node: &str| -> Vec<NodeId> {
        pairs::sites_of(file, node).iter().filter_map(|site| contacts.node(site)).collect()
    };
    let mut flows: Vec<Ends<'_>> = Vec::new();
    for (name, flow) in file.flows.iter() {
        let (from, to) = (sites_of(&flow.from), sites_of(&flow.to));
        let needs_sky = !pairs::on_the_ground(file, &flow.from).contains(flow.to.as_str());
        if needs_sky && !from.is_empty() && !to.is_empty() {
            let longest = (Duration::ZERO, Instant::START);
            flows.push(Ends { name, flow, from, to, apart_since: None, longest, has_met: false });
        }
    }
    let relays: Vec<Vec<NodeId>> = pairs::relays(file)
        .iter()
        .map(|sites| sites.iter().filter_map(|site| contacts.node(site)).collect())
        .collect();
    let of_flows = flows.iter().flat_map(|ends| &ends.to);
    let mut destinations: Vec<NodeId> = of_flows.chain(relays.iter().flatten()).copied().collect();
    destinations.sort_unstable();
    destinations.dedup();
    let is_carried = cables::carried(file, plan);
    let is_usable = |contact: &Contact| contact.kind != ContactKind::Terrestrial || is_carried(contact);
    let mut router = Router::within(contacts, &destinations, RouteConfig::default(), &is_usable);
    loop {
        let now = router.now().min(end);
        for ends in &mut flows {
            let leads = |from: &[NodeId], to: &[NodeId]| {
                from.iter().any(|&from| {
                    to.iter().any(|to| {
                        let place = destinations.binary_search(to).expect("it is among them");
                        router.distance(from, place).is_some()
                    })
                })
            };
            let has_path = leads(&ends.from, &ends.to) || lead_over(&relays, &ends.from, &ends.to, &leads);
            ends.look(now, has_path);
        }
        if router.next_change().is_none_or(|at| at >= end) {
            break;
        }
        router.step();
    }
    for mut ends in flows {
        ends.close(end);
        report(file, &ends, faults);
    }
}

/// Whether packets get from some sites to others by the sky, the ground between sites where routers stand, and the sky
/// again, as often as it takes.
fn lead_over(
    relays: &[Vec<NodeId>],
    from: &[NodeId],
    to: &[NodeId],
    leads: &dyn Fn(&[NodeId], &[NodeId]) -> bool,
) -> bool {
    let (mut waiting, mut reached) = (Vec::from([from]), vec![false; relays.len()]);
    while let Some(sites) = waiting.pop() {
        if leads(sites, to) {
            return true;
        }
        for (relay, reached) in relays.iter().zip(&mut reached).filter(|(_, reached)| !**reached) {
            if leads(sites, relay) {
                *reached = true;
                waiting.push(relay);
            }
        }
    }
    false
}

impl Ends<'_> {
    fn look(&mut self, now: Instant, has_path: bool) {
        if has_path {
            self.has_met = true;
            self.close(now);
        } else {
            self.apart_since.get_or_insert(now);
        }
    }

    /// Ends a time without a path, if there is one.
    fn close(&mut self, now: Instant) {
        if let Some(since) = self.apart_since.take()
            && now - since > self.longest.0
        {
            self.longest = (now - since, since);
        }
    }
}

fn report(file: &File, ends: &Ends<'_>, faults: &mut Faults) {
    let flow = ends.flow;
    if !ends.has_met {
        let message =
            format!("no path over the sky ever joins `{}` and `{}` in this run", *flow.from, *flow.to);
        let help = "give the constellation links between its satellites, or a gateway both of whose satellites see it; \
                    or lower the minimum elevation of the sites";
        faults.report(flow.to.place(), Fault::new(message).help(help));
        return;
    }
    let profile = flow.profile.as_deref().map_or("default", String::as_str);
    let sctp = file.sctp.find(profile).filter(|_| *flow.transport == Transport::Sctp);
    let Some(sctp) = sctp else { return };
    let (gap, since) = ends.longest;
    let life = life_of(sctp, *sctp.association_max_retrans);
    if gap > life {
        let message = format!(
            "no path joins the ends of flow `{}` for {gap} from {since} on, and its association lives for {life} \
             without an answer",
            ends.name
        );
        let enough =
            (*sctp.association_max_retrans..=REPETITIONS_TRIED).find(|&count| life_of(sctp, count) > gap);
        let help = match enough {
            Some(count) => {
                format!("write `association_max_retrans = {count}` in `[sctp.{profile}]` to carry it over")
            }
            None => "let the flow begin behind it, or give the sky more satellites".to_owned(),
        };
        faults.warn(flow.to.place(), Fault::new(message).help(help));
    }
}

/// More are not proposed.
const REPETITIONS_TRIED: u32 = 1_000;

/// How long an association goes on sending without an answer, at least: its timeouts one after the other, from RTO.Min
/// on.
fn life_of(sctp: &SctpProfile, repetitions: u32) -> Duration {
    let (mut life, mut rto) = (Duration::ZERO, *sctp.rto_min);
    for _ in 0..=repetitions {
        life = life.saturating_add(rto);
        let longer = u128::from(rto.as_nanos()) * u128::from(*sctp.rto_back_off_percent) / 100;
        rto = Duration::from_nanos(u64::try_from(longer).unwrap_or(u64::MAX)).min(*sctp.rto_max);
    }
    life
}
