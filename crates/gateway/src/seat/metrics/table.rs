//! The table of metrics.

use std::collections::BTreeMap;

use super::figures::{Figures, Samples, count};
use super::{GatewayMetric, MetricKind};

use MetricKind::{Counter, Gauge, Histogram};

const LINK: &[&str] = &["link", "link_set"];
const LINK_KIND: &[&str] = &["link", "link_set", "kind"];
const DIRECTION: &[&str] = &["link_set", "direction"];

/// A metric that counts something of every link.
const fn of_link(
    name: &'static str,
    help: &'static str,
    samples: fn(&Figures<'_>, &mut Samples<'_>),
) -> GatewayMetric {
    measured(name, help, LINK, samples)
}

const fn measured(
    name: &'static str,
    help: &'static str,
    labels: &'static [&'static str],
    samples: fn(&Figures<'_>, &mut Samples<'_>),
) -> GatewayMetric {
    GatewayMetric { name, kind: Counter, help, labels, is_measured: true, samples }
}

const fn metric(
    name: &'static str,
    kind: MetricKind,
    help: &'static str,
    labels: &'static [&'static str],
    samples: fn(&Figures<'_>, &mut Samples<'_>),
) -> GatewayMetric {
    GatewayMetric { name, kind, help, labels, is_measured: false, samples }
}

/// All metrics, in the order in which they are told.
pub const METRICS: &[GatewayMetric] = &[
    of_link(
        "slantpath_link_sent_msus_total",
        "MSUs given to level 2, management and tests among them.",
        |own, to| {
            own.links(to, |link| link.sent_msus);
        },
    ),
    of_link(
        "slantpath_link_sent_octets_total",
        "Octets of MSUs given to level 2, from the SIO on.",
        |own, to| {
            own.links(to, |link| link.sent_octets);
        },
    ),
    of_link("slantpath_link_received_msus_total", "MSUs that level 2 gave.", |own, to| {
        own.links(to, |link| link.received_msus);
    }),
    of_link("slantpath_link_received_octets_total", "Octets of MSUs that level 2 gave.", |own, to| {
        own.links(to, |link| link.received_octets);
    }),
    of_link("slantpath_link_failures_total", "Times that a link went out of service unasked.", |own, to| {
        own.links(to, |link| link.failures);
    }),
    of_link("slantpath_link_alignment_failures_total", "Alignments and provings that failed.", |own, to| {
        own.links(to, |link| link.alignment_failures);
    }),
    of_link(
        "slantpath_link_unanswered_tests_total",
        "Signalling link tests without an answer.",
        |own, to| {
            own.links(to, |link| link.unanswered_tests);
        },
    ),
    of_link(
        "slantpath_link_test_failures_total",
        "Link tests that failed: two without an answer.",
        |own, to| {
            own.links(to, |link| link.test_failures);
        },
    ),
    of_link("slantpath_link_changeovers_total", "Times that traffic left a link.", |own, to| {
        own.links(to, |link| link.changeovers);
    }),
    of_link("slantpath_link_changebacks_total", "Times that traffic came back to a link.", |own, to| {
        own.links(to, |link| link.changebacks);
    }),
    of_link(
        "slantpath_link_congestion_discards_total",
        "MSUs discarded for a link's congestion.",
        |own, to| {
            own.links(to, |link| link.congestion_discards);
        },
    ),
    measured(
        "slantpath_link_spells_total",
        "Times that a link began to be unavailable, inhibited, without a processor or congested.",
        LINK_KIND,
        |own, to| {
            own.link_spells(to, |spells, _| count(spells.times()));
        },
    ),
    measured("slantpath_link_spells_seconds_total", "Time for which a link was so.", LINK_KIND, |own, to| {
        own.link_spells(to, |spells, now| spells.lasted(now).as_secs_f64());
    }),
    metric("slantpath_link_available", Gauge, "1 if traffic may use a link, else 0.", LINK, |own, to| {
        for link in &own.status.links {
            to(&[&link.link, &link.link_set], f64::from(link.is_available));
        }
    }),
    metric(
        "slantpath_link_state",
        Gauge,
        "1 for the present state of a link's activity control.",
        &["link", "link_set", "state"],
        |own, to| {
            for link in &own.status.links {
                to(&[&link.link, &link.link_set, link.state], 1.0);
            }
        },
    ),
    metric(
        "slantpath_link_queued_msus",
        Gauge,
        "MSUs that wait, or are not acknowledged.",
        LINK,
        |own, to| {
            for link in &own.status.links {
                to(&[&link.link, &link.link_set], count(link.queued_msus));
            }
        },
    ),
    measured("slantpath_link_set_msus_total", "MSUs of a link set by direction.", DIRECTION, |own, to| {
        own.link_sets(to, |link| [link.sent_msus, link.received_msus]);
    }),
    measured(
        "slantpath_link_set_octets_total",
        "Octets of MSUs of a link set by direction.",
        DIRECTION,
        |own, to| {
            own.link_sets(to, |link| [link.sent_octets, link.received_octets]);
        },
    ),
    measured(
        "slantpath_link_set_unavailable_total",
        "Times that a link set lost its last available link.",
        &["link_set"],
        |own, to| {
            own.link_set_spells(to, |spells, _| count(spells.times()));
        },
    ),
    measured(
        "slantpath_link_set_unavailable_seconds_total",
        "Time for which a link set had no available link.",
        &["link_set"],
        |own, to| {
            own.link_set_spells(to, |spells, now| spells.lasted(now).as_secs_f64());
        },
    ),
    measured(
        "slantpath_destination_sent_msus_total",
        "MSUs of users and other points handed to links for a destination.",
        &["destination"],
        |own, to| {
            for (code, measured) in
                own.point.into_iter().flat_map(|own| own.mtp3().destination_measurements())
            {
                to(&[&own.names.of(code)], count(measured.sent_msus));
            }
        },
    ),
    measured(
        "slantpath_destination_spells_total",
        "Times that a destination began to be inaccessible, or its route set congested.",
        &["destination", "kind"],
        |own, to| {
            own.destination_spells(to, |spells, _| count(spells.times()));
        },
    ),
    measured(
        "slantpath_destination_spells_seconds_total",
        "Time for which a destination was so.",
        &["destination", "kind"],
        |own, to| {
            own.destination_spells(to, |spells, now| spells.lasted(now).as_secs_f64());
        },
    ),
    metric(
        "slantpath_destination_accessible",
        Gauge,
        "1 if a destination can be reached, else 0.",
        &["destination"],
        |own, to| {
            let accessible: BTreeMap<&str, bool> =
                own.status.routes.iter().map(|route| (&route.destination[..], route.is_accessible)).collect();
            for (destination, is_accessible) in accessible {
                to(&[destination], f64::from(is_accessible));
            }
        },
    ),
    measured(
        "slantpath_route_spells_total",
        "Times that a route began to be prohibited or restricted.",
        &["destination", "link_set", "kind"],
        |own, to| {
            own.route_spells(to, |spells, _| count(spells.times()));
        },
    ),
    measured(
        "slantpath_route_spells_seconds_total",
        "Time for which a route was so.",
        &["destination", "link_set", "kind"],
        |own, to| {
            own.route_spells(to, |spells, now| spells.lasted(now).as_secs_f64());
        },
    ),
    metric(
        "slantpath_route_state",
        Gauge,
        "1 for the present state of a route.",
        &["destination", "link_set", "state"],
        |own, to| {
            for route in &own.status.routes {
                to(&[&route.destination, route.over.as_deref().unwrap_or_default(), route.state], 1.0);
            }
        },
    ),
    measured(
        "slantpath_discarded_msus_total",
        "MSUs discarded, by the layer that did so and its cause.",
        &["layer", "cause"],
        |own, to| {
            for (layer, causes) in &own.status.discards {
                for (cause, number) in causes {
                    to(&[layer, cause], count(*number));
                }
            }
        },
    ),
    metric(
        "slantpath_messages_total",
        Counter,
        "Messages by layer, and by what became of them there.",
        &["layer", "kind"],
        |own, to| {
            for (layer, kinds) in &own.status.counters {
                let counts = kinds.iter().filter(|(kind, _)| *kind != "waiting");
                counts.for_each(|(kind, number)| to(&[layer, kind], count(*number)));
            }
        },
    ),
    metric("slantpath_waiting_msus", Gauge, "MSUs that wait in a layer.", &["layer"], |own, to| {
        for (layer, kinds) in &own.status.counters {
            kinds.get("waiting").into_iter().for_each(|number| to(&[layer], count(*number)));
        }
        to(&["association"], count(own.status.associations.iter().map(|end| end.waiting).sum()));
    }),
    metric(
        "slantpath_titles_translated_total",
        Counter,
        "Global titles translated, with a destination that can be reached.",
        &["point"],
        |own, to| {
            own.status.titles.iter().for_each(|(point, titles)| to(&[point], count(titles.translated)));
        },
    ),
    metric(
        "slantpath_titles_untranslated_total",
        Counter,
        "Global titles without a translation that leads somewhere, by cause.",
        &["point", "cause"],
        |own, to| {
            for (point, titles) in &own.status.titles {
                titles.untranslated.iter().for_each(|(cause, number)| to(&[point, cause], count(*number)));
            }
        },
    ),
    metric(
        "slantpath_application_server_state",
        Gauge,
        "1 for the present state of an application server, at its gateway.",
        &["application_server", "state"],
        |own, to| {
            for server in &own.status.application_servers {
                server.state.into_iter().for_each(|state| to(&[&server.application_server, state], 1.0));
            }
        },
    ),
    metric(
        "slantpath_process_state",
        Gauge,
        "1 for the present state of a process in an application server, over an association.",
        &["application_server", "asp", "association", "state"],
        |own, to| {
            for server in &own.status.application_servers {
                for own in &server.processes {
                    to(&[&server.application_server, &own.asp, &own.association, own.state], 1.0);
                }
            }
        },
    ),
    metric(
        "slantpath_association_up",
        Gauge,
        "1 if an association is up, else 0.",
        &["association"],
        |own, to| {
            for end in &own.status.associations {
                to(&[&end.association], f64::from(end.state == "up"));
            }
        },
    ),
    metric(
        "slantpath_association_messages_total",
        Counter,
        "Messages of M2PA or M3UA over an association, by direction.",
        &["association", "direction"],
        |own, to| {
            for end in &own.status.associations {
                to(&[&end.association, "sent"], count(end.sent));
                to(&[&end.association, "received"], count(end.received));
            }
        },
    ),
    metric(
        "slantpath_association_octets_total",
        Counter,
        "Octets of messages of M2PA or M3UA over an association, by direction.",
        &["association", "direction"],
        |own, to| {
            for end in &own.seat.associations {
                let counts = end.counts();
                to(&[&end.config.name, "sent"], count(counts.sent_octets));
                to(&[&end.config.name, "received"], count(counts.received_octets));
            }
        },
    ),
    metric(
        "slantpath_association_ups_total",
        Counter,
        "Times that an association came up.",
        &["association"],
        |own, to| {
            own.status.associations.iter().for_each(|end| to(&[&end.association], count(end.times_up)));
        },
    ),
    metric(
        "slantpath_association_losses_total",
        Counter,
        "Times that an association was lost.",
        &["association"],
        |own, to| {
            own.status.associations.iter().for_each(|end| to(&[&end.association], count(end.times_lost)));
        },
    ),
    metric(
        "slantpath_association_returned_messages_total",
        Counter,
        "Messages that had not been sent when an association was lost, and went another way.",
        &["association"],
        |own, to| {
            own.status.associations.iter().for_each(|end| to(&[&end.association], count(end.returned)));
        },
    ),
    metric(
        "slantpath_association_in_doubt_messages_total",
        Counter,
        "Messages that had been sent then and were not acknowledged: at most these are lost.",
        &["association"],
        |own, to| {
            own.status.associations.iter().for_each(|end| to(&[&end.association], count(end.in_doubt)));
        },
    ),
    metric(
        "slantpath_association_takes_nothing",
        Gauge,
        "1 while the peer of an association answers and takes nothing, else 0.",
        &["association"],
        |own, to| {
            for end in &own.status.associations {
                to(&[&end.association], f64::from(end.takes_nothing));
            }
        },
    ),
    metric(
        "slantpath_association_standstills_total",
        Counter,
        "Times that the peer of an association began to take nothing.",
        &["association"],
        |own, to| {
            own.status.associations.iter().for_each(|end| to(&[&end.association], count(end.standstills)));
        },
    ),
    metric(
        "slantpath_association_standstill_seconds_total",
        Counter,
        "Time for which the peer of an association took nothing.",
        &["association"],
        |own, to| {
            own.status.associations.iter().for_each(|end| to(&[&end.association], end.standstill_s));
        },
    ),
    metric(
        "slantpath_delay_seconds",
        Histogram,
        "Time from an MSU's arrival to its hand-over to SCTP, from and to a link set or a process.",
        &["from", "to", "le"],
        |_, _| {},
    ),
    metric(
        "slantpath_sctp_established",
        Gauge,
        "Associations that are established now: sctpCurrEstab of RFC 3873.",
        &[],
        |own, to| {
            for (_, value) in own.mib.iter().filter(|(object, _)| *object == CURRENTLY) {
                to(&[], count(*value));
            }
        },
    ),
    metric(
        "slantpath_sctp_total",
        Counter,
        "Counters of SCTP, by their names in the MIB of RFC 3873.",
        &["object"],
        |own, to| {
            let counters = own.mib.iter().filter(|(object, _)| *object != CURRENTLY);
            counters.for_each(|(object, value)| to(&[object], count(*value)));
        },
    ),
    metric(
        "slantpath_sctp_association_total",
        Counter,
        "Counters of an association, by their names in sctpAssocTable.",
        &["association", "object"],
        |own, to| {
            for (name, mib) in &own.associations {
                let Some(mib) = mib else { continue };
                to(&[name, "sctpAssocT1expireds"], count(mib.t1expireds));
                to(&[name, "sctpAssocT2expireds"], count(mib.t2expireds));
                to(&[name, "sctpAssocRtxChunks"], count(mib.rtx_chunks));
            }
        },
    ),
    metric(
        "slantpath_sctp_path_active",
        Gauge,
        "1 if an address of the peer answers, else 0: sctpAssocRemAddrActive.",
        &["association", "path"],
        |own, to| {
            own.paths(to, |path| f64::from(path.active));
        },
    ),
    metric(
        "slantpath_sctp_path_rto_seconds",
        Gauge,
        "Retransmission timeout of a path: sctpAssocRemAddrRTO.",
        &["association", "path"],
        |own, to| {
            own.paths(to, |path| path.rto.as_secs_f64());
        },
    ),
    metric(
        "slantpath_sctp_path_retransmitted_chunks_total",
        Counter,
        "DATA chunks retransmitted to an address of the peer: sctpAssocRemAddrRtx.",
        &["association", "path"],
        |own, to| {
            own.paths(to, |path| count(path.rtx));
        },
    ),
];

/// Object of the MIB that is no counter.
const CURRENTLY: &str = "sctpCurrEstab";
