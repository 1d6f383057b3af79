//! Links between satellites: who is linked to whom by the pattern, and when geometry and configuration allow
//! it.

use core::f64::consts::{PI, TAU};
use core::sync::atomic::{AtomicBool, Ordering};

use super::ephemeris::Ephemeris;
use super::nearest::{Tenure, tenures};
use super::root::{Sample, positive_intervals};
use super::stretch::{ContactCause, Stretch, after_acquisition, common, of_condition, without};
use crate::constellation::{Arrangement, Constellation, IslConfig, IslPattern, Seam};
use crate::earth::{EQUATORIAL_RADIUS, POLAR_RADIUS};
use crate::network::ContactNodeId;
use crate::orbit::MotionBounds;
use crate::outage::OutageTable;
use crate::utc::Utc;
use crate::vector::{State, Vec3};

/// A link between two satellites (nodes, the lower first) and when it carries traffic.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Link {
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) stretches: Vec<Stretch>,
}

/// Pairs of satellites of two planes that are neighbours.
enum Across {
    /// Each of the one with each of the other, while they are the nearest.
    Nearest(Vec<usize>, Vec<usize>),
    /// Pairs that never change.
    Fixed(Vec<(usize, usize)>),
}

/// The pairs along the planes of a constellation whose first satellite is node `first`, and those across.
fn pattern(constellation: &Constellation, first: usize, epoch: Utc) -> (Vec<(usize, usize)>, Vec<Across>) {
    let config = constellation.isl;
    if config.pattern == IslPattern::None || constellation.arrangement == Arrangement::Loose {
        return (Vec::new(), Vec::new());
    }
    let planes: Vec<Vec<usize>> = (0..constellation.plane_count())
        .map(|plane| constellation.plane(plane).into_iter().map(|index| first + index).collect())
        .collect();
    let along = planes.iter().flat_map(|plane| ring(plane)).collect();
    let mut across = Vec::new();
    if config.pattern == IslPattern::IntraPlane || planes.len() < 2 {
        return (along, across);
    }
    let phase = |node: usize| {
        let orbit = &constellation.satellites[node - first].orbit;
        orbit.inertial(epoch).map_or(0.0, latitude_argument)
    };
    let ascending_node = |node: usize| {
        let orbit = &constellation.satellites[node - first].orbit;
        orbit.inertial(epoch).map_or(0.0, |state| {
            let normal = state.position.cross(state.velocity);
            libm::atan2(normal.x, -normal.y)
        })
    };
    for plane in 0..planes.len() {
        let next = (plane + 1) % planes.len();
        let wraps = next == 0;
        if wraps && planes.len() == 2 && constellation.arrangement != Arrangement::Star {
            continue;
        }
        let is_seam = wraps && constellation.arrangement == Arrangement::Star;
        let (here, there) = (&planes[plane], &planes[next]);
        if wraps && !is_seam && !closes_circle(&planes, ascending_node) {
            continue;
        }
        let nearest =
            if is_seam { config.seam == Seam::Dynamic } else { config.pattern == IslPattern::Nearest };
        across.push(if is_seam && config.seam == Seam::Open {
            Across::Fixed(Vec::new())
        } else if nearest {
            Across::Nearest(here.clone(), there.clone())
        } else {
            Across::Fixed(partners(here, there, is_seam, phase))
        });
    }
    (along, across)
}

/// Pairs of satellites that may have a link at some time.
pub(crate) fn neighbours(constellation: &Constellation, first: usize, epoch: Utc) -> Vec<(usize, usize)> {
    let (mut pairs, across) = pattern(constellation, first, epoch);
    for between in across {
        match between {
            Across::Fixed(fixed) => pairs.extend(fixed),
            Across::Nearest(here, there) => {
                pairs.extend(here.iter().flat_map(|&a| there.iter().map(move |&b| (a, b))));
            }
        }
    }
    pairs
}

/// All links of a constellation whose first satellite is node `first`; some of them once `stop` is set.
pub(crate) fn links(
    constellation: &Constellation,
    first: usize,
    epoch: Utc,
    ephemeris: &Ephemeris,
    outages: &OutageTable,
    stop: &AtomicBool,
) -> Vec<Link> {
    let (along, across) = pattern(constellation, first, epoch);
    let context = Context { config: constellation.isl, ephemeris, outages };
    let mut links: Vec<Link> = along.into_iter().map(|(a, b)| context.intra_plane(a, b)).collect();
    if across.is_empty() {
        return links;
    }
    let below = context.below_cut_off(first, constellation.satellites.len());
    for between in across {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let pairs: Vec<(usize, usize, Vec<Stretch>)> = match between {
            Across::Nearest(here, there) => context.mutually_nearest(&here, &there),
            Across::Fixed(fixed) => {
                let always = of_condition(
                    vec![(0.0, ephemeris.span())],
                    (ContactCause::SpanBegins, ContactCause::SpanEnds),
                    ephemeris.span(),
                );
                fixed.into_iter().map(|(a, b)| (a, b, always.clone())).collect()
            }
        };
        for (a, b, wanted) in pairs {
            let low = common(&below[a - first], &below[b - first]);
            links.push(context.link(a, b, &common(&wanted, &low)));
        }
    }
    links.retain(|link| !link.stretches.is_empty());
    links
}

/// The pairs of neighbours along a plane: a ring of three or more, one link of two.
fn ring(plane: &[usize]) -> Vec<(usize, usize)> {
    match plane {
        [] | [_] => Vec::new(),
        [a, b] => vec![(*a, *b)],
        _ => (0..plane.len()).map(|i| (plane[i], plane[(i + 1) % plane.len()])).collect(),
    }
}

/// Tells if the last plane of a delta is a neighbour of the first: planes that fill only part of the circle end at both
/// sides. A single plane that is missing, as where one is not yet flown, is not taken for an end.
fn closes_circle(planes: &[Vec<usize>], ascending_node: impl Fn(usize) -> f64) -> bool {
    let (Some(&first), Some(&last)) =
        (planes.first().and_then(|plane| plane.first()), planes.last().and_then(|plane| plane.first()))
    else {
        return false;
    };
    let turned = (ascending_node(first) - ascending_node(last)) / TAU;
    let gap = (turned - libm::floor(turned)) * TAU;
    gap <= OPEN_GAP * (TAU - gap) / (planes.len() - 1) as f64
}

/// Planes end where the gap between the last and the first is wider than this many of the others.
const OPEN_GAP: f64 = 2.5;

/// Links between two planes: in planes of equal number the rotation that brings phases closest, so that everyone has
/// exactly one partner; otherwise those that are each other's closest. Planes that fly against each other meet where
/// their phases add up to half a turn.
fn partners(
    here: &[usize],
    there: &[usize],
    opposed: bool,
    phase: impl Fn(usize) -> f64,
) -> Vec<(usize, usize)> {
    let apart = |a: usize, b: usize| {
        let other = if opposed { PI - phase(b) } else { phase(b) };
        let difference = phase(a) - other;
        libm::fabs(difference - TAU * libm::round(difference / TAU))
    };
    let count = here.len();
    if count == there.len() {
        let partner = |i: usize, turn: usize| {
            if opposed { there[(2 * count - i - 1 + turn) % count] } else { there[(i + turn) % count] }
        };
        let sum = |turn: usize| (0..count).map(|i| apart(here[i], partner(i, turn))).sum::<f64>();
        // Half a spacing out of step, two rotations are equally close: rounding must not decide between them.
        let rounded = |turn: usize| libm::round(sum(turn) * 1e5);
        let best = (0..count).min_by(|&a, &b| rounded(a).total_cmp(&rounded(b))).unwrap_or(0);
        return (0..count).map(|i| (here[i], partner(i, best))).collect();
    }
    let closest = |from: usize, list: &[usize]| {
        list.iter().copied().min_by(|&a, &b| apart(a, from).total_cmp(&apart(b, from)))
    };
    let choice = |&a: &usize| {
        // `apart` is symmetric: for opposed planes both sums are taken against half a turn.
        let b = closest(a, there)?;
        (closest(b, here)? == a).then_some((a, b))
    };
    here.iter().filter_map(choice).collect()
}

/// The angle from the ascending node to a satellite, radians in 0..2π.
fn latitude_argument(state: State) -> f64 {
    let normal = state.position.cross(state.velocity);
    let node = Vec3::new(-normal.y, normal.x, 0.0);
    let across = normal.cross(node) * (1.0 / normal.norm());
    let angle = libm::atan2(state.position.dot(across), state.position.dot(node));
    if angle < 0.0 { angle + TAU } else { angle }
}

struct Context<'a> {
    config: IslConfig,
    ephemeris: &'a Ephemeris,
    outages: &'a OutageTable,
}

impl Context<'_> {
    fn intra_plane(&self, a: usize, b: usize) -> Link {
        let span = self.ephemeris.span();
        let always =
            of_condition(vec![(0.0, span)], (ContactCause::SpanBegins, ContactCause::SpanEnds), span);
        self.link(a, b, &always)
    }

    /// A link where it is wanted and both ends see each other, in range and in service, once it is acquired.
    fn link(&self, a: usize, b: usize, wanted: &[Stretch]) -> Link {
        let mut stretches = common(wanted, &self.in_sight(a, b));
        if let Some(range) = self.config.range_max_m {
            stretches = common(&stretches, &self.in_range(a, b, range));
        }
        let outages = self.outages.of_link(ContactNodeId::new(a), ContactNodeId::new(b));
        let stretches = without(stretches, &outages);
        let stretches = after_acquisition(stretches, self.config.acquisition.as_secs_f64());
        Link { a: a.min(b), b: a.max(b), stretches }
    }

    fn in_sight(&self, a: usize, b: usize) -> Vec<Stretch> {
        let span = self.ephemeris.span();
        let limb = Limb::new(self.config.grazing_altitude_m);
        let curvature = limb.curvature(self.ephemeris.bounds(a), self.ephemeris.bounds(b));
        let clear = |t: f64| limb.clearance(self.ephemeris.state(a, t), self.ephemeris.state(b, t));
        let intervals = positive_intervals(clear, curvature, (0.0, span));
        of_condition(intervals, (ContactCause::LineOfSight, ContactCause::LineOfSight), span)
    }

    fn in_range(&self, a: usize, b: usize, range: f64) -> Vec<Stretch> {
        let span = self.ephemeris.span();
        let (x, y) = (self.ephemeris.bounds(a), self.ephemeris.bounds(b));
        let speed = x.speed_max + y.speed_max;
        let curvature =
            2.0 * (speed * speed + (x.radius_max + y.radius_max) * (x.acceleration_max + y.acceleration_max));
        let within = |t: f64| {
            let (x, y) = (self.ephemeris.state(a, t), self.ephemeris.state(b, t));
            let (line, motion) = (x.position - y.position, x.velocity - y.velocity);
            Sample { value: range * range - line.norm_squared(), slope: -2.0 * line.dot(motion) }
        };
        let intervals = positive_intervals(within, curvature.max(1e-9), (0.0, span));
        of_condition(intervals, (ContactCause::Range, ContactCause::Range), span)
    }

    /// For each satellite, when it is within the cut-off latitude, north and south.
    fn below_cut_off(&self, first: usize, count: usize) -> Vec<Vec<Stretch>> {
        let span = self.ephemeris.span();
        let always = vec![(0.0, span)];
        let causes = (ContactCause::CutOffLatitude, ContactCause::CutOffLatitude);
        let within = |satellite: usize, sine: f64, side: f64| {
            let bounds = self.ephemeris.bounds(satellite);
            let curvature =
                2.0 * bounds.acceleration_max + bounds.speed_max * bounds.speed_max / bounds.radius_min;
            let below = |t: f64| {
                let state = self.ephemeris.state(satellite, t);
                let radius = state.position.norm();
                let climb = state.position.dot(state.velocity) / radius;
                Sample {
                    value: radius * sine - side * state.position.z,
                    slope: climb * sine - side * state.velocity.z,
                }
            };
            of_condition(positive_intervals(below, curvature.max(1e-9), (0.0, span)), causes, span)
        };
        (first..first + count)
            .map(|satellite| match self.config.cut_off_latitude {
                None => of_condition(always.clone(), causes, span),
                Some(latitude) => {
                    let sine = libm::sin(latitude.as_radians());
                    common(&within(satellite, sine, 1.0), &within(satellite, sine, -1.0))
                }
            })
            .collect()
    }

    /// Pairs of two planes while each is the nearest of its plane to the other.
    fn mutually_nearest(&self, here: &[usize], there: &[usize]) -> Vec<(usize, usize, Vec<Stretch>)> {
        let of = |from: &[usize], others: &[usize]| -> Vec<Vec<Tenure>> {
            from.iter().map(|&satellite| tenures(self.ephemeris, satellite, others)).collect()
        };
        let (forth, back) = (of(here, there), of(there, here));
        let span = self.ephemeris.span();
        let while_nearest = |list: &[Tenure], satellite: usize| {
            let times = list.iter().filter(|tenure| tenure.satellite == satellite);
            let times = times.map(|tenure| (tenure.start, tenure.end)).collect();
            of_condition(times, (ContactCause::Neighbour, ContactCause::Neighbour), span)
        };
        let mut pairs = Vec::new();
        for (i, &a) in here.iter().enumerate() {
            for (j, &b) in there.iter().enumerate() {
                let both = common(&while_nearest(&forth[i], b), &while_nearest(&back[j], a));
                if !both.is_empty() {
                    pairs.push((a, b, both));
                }
            }
        }
        pairs
    }
}

/// The limb: an ellipsoid around the Earth that a line of sight must not enter. With the axis stretched it is
/// a sphere of radius R, and two points at a and b outside it see each other while the angle between them is
/// at most acos(R/a) + acos(R/b): a·b + √(a² − R²) √(b² − R²) − R² ≥ 0, smooth wherever both are
/// outside.
struct Limb {
    radius: f64,
    stretch: f64,
}

impl Limb {
    fn new(grazing_altitude_m: f64) -> Self {
        let radius = EQUATORIAL_RADIUS + grazing_altitude_m;
        Self { radius, stretch: radius / (POLAR_RADIUS + grazing_altitude_m) }
    }

    fn scaled(&self, v: Vec3) -> Vec3 {
        Vec3::new(v.x, v.y, v.z * self.stretch)
    }

    fn clearance(&self, a: State, b: State) -> Sample {
        let (pa, va) = (self.scaled(a.position), self.scaled(a.velocity));
        let (pb, vb) = (self.scaled(b.position), self.scaled(b.velocity));
        let square = self.radius * self.radius;
        let tangent = |p: Vec3| (p.norm_squared() - square).max(1.0).sqrt();
        let (qa, qb) = (tangent(pa), tangent(pb));
        Sample {
            value: pa.dot(pb) + qa * qb - square,
            slope: va.dot(pb) + pa.dot(vb) + pa.dot(va) / qa * qb + qa * pb.dot(vb) / qb,
        }
    }

    fn curvature(&self, a: &MotionBounds, b: &MotionBounds) -> f64 {
        let tangent = |bounds: &MotionBounds| {
            let (low, high) = (bounds.radius_min, bounds.radius_max * self.stretch);
            let least = (low * low - self.radius * self.radius).max(1e8).sqrt();
            // Stretching the axis makes a circle's radius swing by a third of a percent, twice a turn.
            let swing = bounds.radial_speed_max + 0.01 * bounds.speed_max;
            let rate = high * swing / least;
            let bend =
                (swing * swing + 4.0 * high * bounds.angular_rate_max * swing) / least + rate * rate / least;
            (high, rate, bend)
        };
        let ((qa, ra, ba), (qb, rb, bb)) = (tangent(a), tangent(b));
        let k = self.stretch * self.stretch;
        let positions = a.acceleration_max * b.radius_max
            + b.acceleration_max * a.radius_max
            + 2.0 * a.speed_max * b.speed_max;
        (k * positions + ba * qb + 2.0 * ra * rb + qa * bb).max(1e-9)
    }
}
