//! Figures of a seat for Prometheus.

use std::collections::BTreeMap;

use slantpath_base::Instant;
use slantpath_gateway::{METRICS, MetricKind};

use super::fixture::{Lab, lab_of_m2pa, lab_of_m3ua};

/// Samples by name and labels, as they are written.
type Samples = BTreeMap<String, f64>;

/// Reads the text as Prometheus does: each metric has a head, and its samples follow that.
fn read(text: &str) -> Samples {
    let mut samples = Samples::new();
    let mut metric = ("", "");
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("# TYPE ") {
            metric = head.split_once(' ').expect("a kind");
        } else if !line.starts_with("# HELP ") {
            let (sample, value) = line.rsplit_once(' ').expect("a value");
            let name = sample.split('{').next().expect("a name");
            let part = name.strip_prefix(metric.0).expect("it is below its head");
            let is_of_histogram = metric.1 == "histogram" && ["_bucket", "_sum", "_count"].contains(&part);
            assert!(part.is_empty() || is_of_histogram, "{line}");
            let before = samples.insert(sample.to_owned(), value.parse().expect("a number"));
            assert_eq!(before, None, "{line}");
        }
    }
    samples
}

fn scrape(lab: &mut Lab, seat: usize) -> Samples {
    read(&lab.figures(seat))
}

#[test]
fn figures_are_those_of_the_layers() {
    let mut lab = lab_of_m3ua();
    lab.measure(1);
    lab.run_until(Instant::from_secs(60));
    let text = lab.figures(1);
    for metric in METRICS {
        assert!(text.contains(&format!("# HELP {} {}\n", metric.name, metric.help)), "{}", metric.name);
        assert_eq!(metric.kind == MetricKind::Counter, metric.name.ends_with("_total"), "{}", metric.name);
    }
    let figures = read(&text);
    let report = lab.seat(1).report();
    let of = |name: &str| *figures.get(name).unwrap_or_else(|| panic!("no {name}: {text}"));
    let counts = report.associations[1].1;
    assert!(
        (of("slantpath_association_messages_total{association=\"port-2905\",direction=\"sent\"}")
            - counts.sent as f64)
            .abs()
            < 0.5
    );
    assert!(
        of("slantpath_association_octets_total{association=\"port-2905\",direction=\"sent\"}")
            > 60.0 * counts.sent as f64
    );
    for (name, least) in [
        ("slantpath_link_available{link=\"trunk\",link_set=\"to-0\"}", 1.0),
        ("slantpath_link_state{link=\"trunk\",link_set=\"to-0\",state=\"available\"}", 1.0),
        ("slantpath_link_set_msus_total{link_set=\"to-0\",direction=\"received\"}", 500.0),
        ("slantpath_link_set_octets_total{link_set=\"to-0\",direction=\"sent\"}", 30_000.0),
        ("slantpath_destination_accessible{destination=\"point-0\"}", 1.0),
        ("slantpath_application_server_state{application_server=\"server\",state=\"active\"}", 1.0),
        (
            "slantpath_process_state{application_server=\"server\",asp=\"a\",association=\"port-2905\",\
             state=\"active\"}",
            1.0,
        ),
        ("slantpath_association_up{association=\"port-3565\"}", 1.0),
        ("slantpath_sctp_established", 2.0),
        ("slantpath_sctp_total{object=\"sctpInSCTPPacks\"}", 500.0),
        ("slantpath_sctp_path_active{association=\"port-2905\",path=\"fd00::2\"}", 1.0),
        ("slantpath_delay_seconds_count{from=\"to-0\",to=\"a\"}", 500.0),
        ("slantpath_delay_seconds_count{from=\"a\",to=\"to-0\"}", 500.0),
    ] {
        assert!(of(name) >= least, "{name}: {}", of(name));
    }
    let all = of("slantpath_delay_seconds_count{from=\"to-0\",to=\"a\"}");
    let bucket =
        |bound: &str| of(&format!("slantpath_delay_seconds_bucket{{from=\"to-0\",to=\"a\",le=\"{bound}\"}}"));
    assert!(bucket("0.0005") > 0.0 && bucket("0.0005") <= bucket("10") && bucket("10") <= all);
    assert!((bucket("+Inf") - all).abs() < 0.5);
}

#[test]
fn a_process_has_figures_of_its_own() {
    let mut lab = lab_of_m3ua();
    lab.measure(2);
    lab.run_until(Instant::from_secs(40));
    let figures = scrape(&mut lab, 2);
    assert!(figures.keys().all(|name| !name.starts_with("slantpath_link_")), "{figures:#?}");
    assert!(figures["slantpath_messages_total{layer=\"m3ua\",kind=\"received\"}"] > 100.0);
    assert!(figures["slantpath_destination_accessible{destination=\"point-0\"}"] > 0.5);
}

#[test]
fn what_is_measured_is_told_by_whole_intervals_of_five_and_thirty_minutes() {
    let mut lab = lab_of_m2pa();
    lab.measure(0);
    let last = |figures: &Samples, minutes: u32| {
        let labels = format!("link_set=\"to-1\",direction=\"sent\",minutes=\"{minutes}\"");
        figures.get(&format!("slantpath_link_set_msus_last{{{labels}}}")).copied()
    };
    lab.run_until(Instant::from_secs(299));
    lab.follow(0);
    let figures = scrape(&mut lab, 0);
    assert_eq!((last(&figures, 5), last(&figures, 30)), (None, None));
    lab.run_until(Instant::from_secs(300));
    lab.follow(0);
    let figures = scrape(&mut lab, 0);
    let total = figures["slantpath_link_set_msus_total{link_set=\"to-1\",direction=\"sent\"}"];
    assert!(total > 500.0 && last(&figures, 30).is_none(), "{total}");
    assert_eq!(last(&figures, 5).map(|last| last.to_string()), Some(total.to_string()));
    // The load is over: there are tests of links alone from now on.
    for minutes in 2..=6 {
        lab.run_until(Instant::from_secs(300 * minutes));
        lab.follow(0);
    }
    let figures = scrape(&mut lab, 0);
    assert!(last(&figures, 5).is_some_and(|last| last < 100.0), "{:?}", last(&figures, 5));
    assert!(last(&figures, 30).is_some_and(|last| last >= total), "{:?}", last(&figures, 30));
}
