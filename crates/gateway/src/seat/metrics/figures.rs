//! Everything that samples are made of, and how it is gone through.

use std::collections::BTreeMap;

use slantpath_applications::Host;
use slantpath_base::Instant;
use slantpath_control::{GatewayStatus, SignallingLinkStatus};
use slantpath_live::{MibAssociation, MibRemAddress};
use slantpath_signalling::SignallingPoint;
use slantpath_ss7::mtp3::node::{LinkMeasurements, LinkSetId, Mtp3LinkId, Spells};

use crate::seat::status::PointNames;
use crate::seat::{Association, Seat};

/// Everything that samples are made of, at one instant.
pub(super) struct Figures<'a> {
    pub(super) now: Instant,
    pub(super) seat: &'a Seat,
    pub(super) names: PointNames<'a>,
    pub(super) point: Option<&'a SignallingPoint>,
    pub(super) status: GatewayStatus,
    pub(super) mib: Vec<(&'static str, u64)>,
    pub(super) associations: Vec<(String, Option<MibAssociation>)>,
}

/// Taker of one metric's samples: the values of its labels, and the value.
pub(super) type Samples<'a> = dyn FnMut(&[&str], f64) + 'a;

#[expect(clippy::cast_precision_loss, reason = "Prometheus has no other numbers")]
pub(super) const fn count(count: u64) -> f64 {
    count as f64
}

impl<'a> Figures<'a> {
    pub(super) fn of(now: Instant, seat: &'a Seat, host: &mut Host) -> Self {
        let mib = |end: &Association| {
            let mib = end.socket().and_then(|socket| host.sctp_mib_association(socket));
            (end.config.name.clone(), mib)
        };
        Self {
            now,
            seat,
            names: seat.point_names(),
            point: seat.entity.as_point(),
            associations: seat.associations.iter().map(mib).collect(),
            mib: host.sctp_mib().named().into(),
            status: seat.status(now, host),
        }
    }

    /// Links with their measurements.
    pub(super) fn measured(&self) -> impl Iterator<Item = (&SignallingLinkStatus, &LinkMeasurements)> {
        let links = self.status.links.iter().zip((0..).map(Mtp3LinkId));
        let point = self.point.into_iter();
        point.flat_map(move |point| {
            links.clone().map(|(status, link)| (status, point.mtp3().link_measurements(link)))
        })
    }

    pub(super) fn links(&self, to: &mut Samples<'_>, of: fn(&LinkMeasurements) -> u64) {
        for (link, measured) in self.measured() {
            to(&[&link.link, &link.link_set], count(of(measured)));
        }
    }

    pub(super) fn link_spells(&self, to: &mut Samples<'_>, of: fn(&Spells, Instant) -> f64) {
        for (link, own) in self.measured() {
            for (kind, spells) in [
                ("unavailable", &own.unavailable),
                ("inhibited-here", &own.inhibited_here),
                ("inhibited-there", &own.inhibited_there),
                ("processor-out-here", &own.processor_out_here),
                ("processor-out-there", &own.processor_out_there),
                ("congested", &own.congested),
            ] {
                to(&[&link.link, &link.link_set, kind], of(spells, self.now));
            }
        }
    }

    /// Sums of link sets: sent and received.
    pub(super) fn link_sets(&self, to: &mut Samples<'_>, of: fn(&LinkMeasurements) -> [u64; 2]) {
        let mut sums = BTreeMap::<&str, [u64; 2]>::new();
        for (link, measured) in self.measured() {
            let sum = sums.entry(&link.link_set).or_default();
            sum.iter_mut().zip(of(measured)).for_each(|(sum, own)| *sum += own);
        }
        for (link_set, [sent, received]) in sums {
            to(&[link_set, "sent"], count(sent));
            to(&[link_set, "received"], count(received));
        }
    }

    pub(super) fn link_set_spells(&self, to: &mut Samples<'_>, of: fn(&Spells, Instant) -> f64) {
        let Some(point) = self.point else { return };
        for (link_set, number) in point.mtp3().config().link_sets.iter().zip((0..).map(LinkSetId)) {
            to(&[&link_set.name], of(point.mtp3().link_set_unavailable(number), self.now));
        }
    }

    pub(super) fn destination_spells(&self, to: &mut Samples<'_>, of: fn(&Spells, Instant) -> f64) {
        for (code, own) in self.point.into_iter().flat_map(|own| own.mtp3().destination_measurements()) {
            let name = self.names.of(code);
            to(&[&name, "inaccessible"], of(&own.inaccessible, self.now));
            to(&[&name, "congested"], of(&own.congested, self.now));
        }
    }

    pub(super) fn route_spells(&self, to: &mut Samples<'_>, of: fn(&Spells, Instant) -> f64) {
        let Some(point) = self.point else { return };
        let link_sets = &point.mtp3().config().link_sets;
        for route in point.mtp3().route_measurements() {
            let name = self.names.of(route.destination);
            let over = link_sets.get(usize::from(route.link_set.0)).map_or("", |set| &set.name);
            to(&[&name, over, "prohibited"], of(&route.prohibited, self.now));
            to(&[&name, over, "restricted"], of(&route.restricted, self.now));
        }
    }

    pub(super) fn paths(&self, to: &mut Samples<'_>, of: fn(&MibRemAddress) -> f64) {
        for (name, mib) in &self.associations {
            for path in mib.iter().flat_map(|mib| &mib.rem_addresses) {
                to(&[name, &path.addr.to_string()], of(path));
            }
        }
    }
}
