//! Links between satellites: when they open and close, and whom they join.

use slantpath_base::{Duration, Instant};
use slantpath_orbit::constellation::{IslPattern, Seam};
use slantpath_orbit::contact::{Contact, ContactCause, ContactId, ContactKind, ContactPlan};
use slantpath_orbit::ground::GroundPolicy;
use slantpath_orbit::{ContactNodeId, Orbit};

use super::fixture::{epoch, hours, london_boston, plan};

#[test]
fn links_open_and_close_when_10_ms_sampling_says() {
    let mut network = london_boston(GroundPolicy::default());
    network.sites.clear();
    network.constellations[0].isl.seam = Seam::Closed;
    let span = Duration::from_secs(3_100);
    let plan = plan(&network, span);
    let orbits: Vec<&Orbit> = network.satellites().map(|satellite| &satellite.orbit).collect();
    let (mut edges, mut seams) = (0, 0);
    for contact in plan.contacts() {
        let (a, b) = (orbits[contact.a.index()], orbits[contact.b.index()]);
        let open = |at: Instant| {
            let [a, b] = [a, b].map(|orbit| orbit.fixed(epoch().at(at)).unwrap().position);
            // The limb by brute force: the lowest of many points of the line, over the raised ellipsoid.
            let raised = (6_378_137.0 + 80e3) / (6_356_752.314_245 + 80e3);
            let lowest = (0..=500).map(|k| {
                let p = a + (b - a) * (f64::from(k) / 500.0);
                (p.x * p.x + p.y * p.y + p.z * p.z * raised * raised).sqrt()
            });
            let low = [a, b].iter().all(|p| p.z.abs() / p.norm() <= libm::sin(60.0_f64.to_radians()));
            let planes =
                [contact.a, contact.b].map(|node| network.constellations[0].satellites[node.index()].plane);
            (low || planes[0] == planes[1]) && lowest.fold(f64::MAX, f64::min) >= 6_378_137.0 + 80e3
        };
        let moment = Duration::from_millis(10);
        if contact.opens != ContactCause::SpanBegins {
            assert!(!open(contact.start - moment) && open(contact.start + moment), "{contact:?}");
            edges += 1;
            seams += usize::from(contact.opens == ContactCause::LineOfSight);
        }
        if contact.closes != ContactCause::SpanEnds {
            assert!(open(contact.end - moment) && !open(contact.end + moment), "{contact:?}");
            edges += 1;
        }
    }
    assert!(edges > 100 && seams > 3, "{edges} {seams}");
}

#[test]
fn every_iridium_satellite_has_exactly_two_links_in_its_plane_at_all_times() {
    let network = london_boston(GroundPolicy::default());
    let plan = plan(&network, hours(3));
    let plane = |node: ContactNodeId| network.constellations[0].satellites[node.index()].plane;
    let mut count = vec![0; plan.satellite_count()];
    for contact in plan.contacts().iter().filter(|contact| contact.kind == ContactKind::InterSatellite) {
        if plane(contact.a) == plane(contact.b) {
            assert_eq!((contact.opens, contact.closes), (ContactCause::SpanBegins, ContactCause::SpanEnds));
            count[contact.a.index()] += 1;
            count[contact.b.index()] += 1;
        }
    }
    assert!(count.iter().all(|&links| links == 2), "{count:?}");
}

#[test]
fn links_between_planes_join_neighbours_and_leave_the_seam_open() {
    let network = london_boston(GroundPolicy::default());
    let plan = plan(&network, hours(2));
    let of = |node: ContactNodeId| &network.constellations[0].satellites[node.index()];
    for contact in plan.contacts().iter().filter(|contact| contact.kind == ContactKind::InterSatellite) {
        let (a, b) = (of(contact.a).plane, of(contact.b).plane);
        assert!(a.abs_diff(b) <= 1, "{a} and {b}");
        if a != b {
            // Neighbours are half a spacing out of step, never more: 4,400 km at the cut-off is 14.7 ms.
            assert!(plan.delay(id(&plan, contact)).at(contact.start) < Duration::from_millis(15));
        }
    }
}

fn id(plan: &ContactPlan, contact: &Contact) -> ContactId {
    let index = plan.contacts().iter().position(|other| other == contact).unwrap();
    ContactId(u32::try_from(index).unwrap())
}

#[test]
fn a_dynamic_seam_follows_the_nearest_and_a_closed_one_does_not_hand_over() {
    let mut network = london_boston(GroundPolicy::default());
    network.sites.clear();
    network.constellations[0].isl.seam = Seam::Dynamic;
    let dynamic = plan(&network, hours(2));
    let plane = |node: ContactNodeId| network.constellations[0].satellites[node.index()].plane;
    let across: Vec<_> = dynamic.contacts().iter().filter(|c| plane(c.a).abs_diff(plane(c.b)) == 5).collect();
    assert!(
        across.iter().any(|c| c.closes == ContactCause::Neighbour) && across.len() > 50,
        "{}",
        across.len()
    );
    // One terminal for the seam on each satellite: never two at once.
    for contact in &across {
        let at = contact.start + Duration::from_millis(1);
        for node in [contact.a, contact.b] {
            let links = across.iter().filter(|c| c.holds_at(at) && (c.a == node || c.b == node)).count();
            assert!(links <= 1, "{contact:?}");
        }
        // And it is the nearest of the other plane.
        let orbits: Vec<_> =
            network.satellites().map(|s| s.orbit.fixed(epoch().at(at)).unwrap().position).collect();
        let distance = |a: ContactNodeId, b: usize| (orbits[a.index()] - orbits[b]).norm();
        let nearest = (0..66)
            .filter(|&b| plane(ContactNodeId::new(b)) == plane(contact.b))
            .map(|b| distance(contact.a, b));
        let least = nearest.fold(f64::MAX, f64::min);
        assert!((distance(contact.a, contact.b.index()) - least).abs() < 100.0);
    }
}

#[test]
fn acquisition_delays_every_link_that_opens() {
    let mut network = london_boston(GroundPolicy::default());
    network.sites.clear();
    let at_once = plan(&network, hours(1));
    network.constellations[0].isl.acquisition = Duration::from_secs(10);
    let later = plan(&network, hours(1));
    let opening = |plan: &ContactPlan| -> Vec<(ContactNodeId, ContactNodeId, Instant)> {
        let opened = plan.contacts().iter().filter(|contact| contact.opens != ContactCause::SpanBegins);
        let mut starts: Vec<_> = opened.map(|contact| (contact.a, contact.b, contact.start)).collect();
        starts.sort_unstable();
        starts
    };
    let (a, b) = (opening(&at_once), opening(&later));
    assert!(a.len() > 30);
    for (a, b) in a.iter().filter(|(.., at)| at.since_start() < hours(1) - Duration::from_secs(10)).zip(&b) {
        assert_eq!((a.0, a.1, a.2 + Duration::from_secs(10)), *b);
    }
}

#[test]
fn nearest_neighbours_link_each_satellite_at_most_once_per_side() {
    let mut network = london_boston(GroundPolicy::default());
    network.sites.clear();
    network.constellations[0].isl.pattern = IslPattern::Nearest;
    network.constellations[0].isl.cut_off_latitude = None;
    let plan = plan(&network, hours(1));
    let plane = |node: ContactNodeId| network.constellations[0].satellites[node.index()].plane;
    for second in (30..3_600).step_by(97) {
        let at = Instant::from_secs(second);
        for node in (0..66).map(ContactNodeId::new) {
            for side in 0..6 {
                let is = |c: &&Contact| {
                    c.holds_at(at)
                        && (c.a == node || c.b == node)
                        && plane(c.peer_of(node)) == side
                        && plane(node) != side
                };
                assert!(plan.contacts().iter().filter(is).count() <= 1);
            }
        }
    }
}
