//! Effects of links of the sky on packets, and what is done about them.

use std::sync::Arc;

use slantpath_results::CellValue;
use slantpath_runner::{Files, RunOutput, Scenario};

use super::{LONDON_TO_BOSTON, load, number, run_once, text};

/// Half an hour over Iridium, counted from the start.
const HALF_AN_HOUR: [&str; 4] = [
    "scenario.duration=30 min",
    "scenario.warm_up=0 s",
    "flows.telemetry.connect=0 s",
    "flows.telemetry.end=29 min",
];

#[test]
fn each_satellite_that_an_antenna_takes_gets_one_full_header_of_a_flow() {
    let compression = "{ header = \"32 B\", compressed = \"4 B\", refresh_packets = 1000000, \
                       refresh_interval = \"1 h\" }";
    let uplink = format!("sky.access.terminals.uplink.header_compression={compression}");
    let isls = format!("sky.isls.iridium.header_compression={compression}");
    let output = run_once(&load(&[&HALF_AN_HOUR[..], &[&uplink, &isls]].concat()));
    let links = output.table("links").expect("always");
    let handovers = output.table("handovers").expect("there is a sky");
    let row = |antenna: &str, direction: &str| {
        let is_it =
            |&row: &usize| text(links, row, "link") == antenna && text(links, row, "direction") == direction;
        (0..links.rows()).find(is_it).expect("it has one")
    };
    for antenna in ["sky.london", "sky.boston"] {
        let up = row(antenna, "forward");
        let taken = (0..handovers.rows())
            .filter(|&row| text(handovers, row, "link") == antenna && !text(handovers, row, "to").is_empty())
            .count();
        assert!(taken > 1, "{antenna}");
        let carried = number(links, up, "carried_packets");
        assert_eq!(carried - number(links, up, "compressed_packets"), taken as f64, "{antenna}");
        let column = links.column("compressed_packets").expect("a column of every run");
        assert_eq!(column.at(row(antenna, "reverse")), CellValue::Missing, "downlinks compress nothing");
    }
    let isls = output.table("inter_satellite_links").expect("there is a sky");
    let sum = |column: &str| (0..isls.rows()).map(|row| number(isls, row, column)).sum::<f64>();
    assert!(sum("compressed_packets") > 0.9 * sum("carried_packets"));
    let flows = output.table("flows").expect("always");
    assert_eq!(number(flows, 0, "messages_delivered"), number(flows, 0, "messages_sent"));
}

/// Ten minutes between London and Boston over Iridium, whose antennas hold two satellites for 20 s at each handover,
/// with more in the file.
fn with(more: &str) -> RunOutput {
    let sky = "[scenario]\nname = \"f\"\nduration = \"10 min\"\n\
               [sky]\nepoch = \"2026-03-01T00:00:00Z\"\n\
               [sky.constellations.iridium]\nsatellites = { kind = \"preset\", preset = \"iridium\" }\n\
               [sky.sites.london]\nlatitude = \"51.5 deg\"\nlongitude = \"-0.1 deg\"\n\
               [sky.sites.boston]\nlatitude = \"42.3 deg\"\nlongitude = \"-71.1 deg\"\n\
               [sky.ground]\nhandover = \"make-before-break\"\nhandover_time = \"20 s\"\n";
    let files: Files = Arc::new(|name| match name {
        "rain.csv" => Ok("100 s,,5 %,\n200 s,500 kbit/s,,1e-5\n300 s,2 Mbit/s,0,0\n".to_owned()),
        "loss.csv" => Ok("100 s,,5 %,\n200 s,,,1e-5\n300 s,,0,0\n".to_owned()),
        _ => Err(std::io::Error::other("no such file")),
    });
    let text = format!("{sky}{LONDON_TO_BOSTON}{more}");
    let scenario = Scenario::parse("f.toml", &text, &[], files).unwrap_or_else(|error| panic!("{error}"));
    run_once(&scenario)
}

fn event(at: &str, link: &str, what: &str) -> String {
    format!("[[script]]\nat = \"{at}\"\nlink = \"{link}\"\n{what}\n")
}

/// The sum of a column of `links` over the links of an antenna, in one direction.
fn of_antenna(output: &RunOutput, antenna: &str, direction: &str, column: &str) -> f64 {
    let links = output.table("links").expect("always");
    let is_it = |&row: &usize| {
        text(links, row, "link").starts_with(antenna) && text(links, row, "direction") == direction
    };
    (0..links.rows()).filter(is_it).map(|row| number(links, row, column)).sum()
}

#[test]
fn an_antenna_that_a_script_takes_down_keeps_its_satellites_and_loses_nothing_that_waits() {
    let plain = with("");
    let down = event("100.1 s", "sky.london", "action = \"down\"");
    let output = with(&format!("{down}{}", event("103.1 s", "sky.london", "action = \"up\"")));
    assert_eq!(output.table("handovers"), plain.table("handovers"));
    assert_eq!(output.table("sky_paths"), plain.table("sky_paths"));
    let delivered =
        |output: &RunOutput| number(output.table("flows").expect("always"), 0, "messages_delivered");
    assert_eq!(delivered(&output), delivered(&plain));
    // Messages wait at the antenna; acknowledgements that come down are dropped.
    assert_eq!(of_antenna(&output, "sky.london", "forward", "dropped_link_down_packets"), 0.0);
    assert!(of_antenna(&output, "sky.london", "reverse", "dropped_link_down_packets") > 0.0);
    let greatest = |output: &RunOutput, column: &str| {
        let messages = output.table("messages").expect("they are recorded");
        let delivered = messages.column("delivered_s").expect("a column");
        let delivered = (0..messages.rows()).filter(|&row| delivered.at(row) != CellValue::Missing);
        delivered.map(|row| number(messages, row, column)).fold(0.0, f64::max)
    };
    let longest = greatest(&output, "delay_s");
    assert!((2.9..4.0).contains(&longest), "{longest}");
    // For good: nothing more arrives, whichever satellites come.
    let last = greatest(&with(&down), "delivered_s");
    assert!((100.0..100.2).contains(&last), "{last}");
}

#[test]
fn a_fade_of_an_antenna_from_a_file_is_a_script_that_says_the_same_on_all_its_links() {
    let script = |direction: &str| {
        let set = |what: &str| format!("direction = \"{direction}\"\naction = \"set\"\n{what}");
        let rate =
            |rate: &str| if direction == "forward" { format!("rate = \"{rate}\"\n") } else { String::new() };
        [
            event("100 s", "sky.london", &set("loss = \"5 %\"")),
            event("200 s", "sky.london", &set(&format!("{}bit_error_rate = \"1e-5\"", rate("500 kbit/s")))),
            event(
                "300 s",
                "sky.london",
                &set(&format!("{}loss = \"0\"\nbit_error_rate = \"0\"", rate("2 Mbit/s"))),
            ),
        ]
        .concat()
    };
    let fade = |direction: &str, file: &str| {
        format!("[sky.fades.rain]\nlink = \"sky.london\"\ndirection = \"{direction}\"\nfile = \"{file}\"\n")
    };
    for (direction, other, file) in [("forward", "reverse", "rain.csv"), ("reverse", "forward", "loss.csv")] {
        let faded = with(&fade(direction, file));
        assert_eq!(faded.digest, with(&script(direction)).digest, "{direction}");
        let lost = |direction| of_antenna(&faded, "sky.london", direction, "dropped_loss_packets");
        assert!(lost(direction) > 20.0 && lost(other) == 0.0, "{direction}");
        assert_eq!(of_antenna(&faded, "sky.boston", direction, "dropped_loss_packets"), 0.0);
    }
    // Whatever the antenna holds is lost: by its second link, too.
    let lost = "direction = \"reverse\"\naction = \"set\"\nloss = \"1\"";
    let output = with(&event("50 s", "sky.london", lost));
    let links = output.table("links").expect("always");
    let second = (0..links.rows()).find(|&row| {
        text(links, row, "link") == "sky.london (2)" && text(links, row, "direction") == "reverse"
    });
    let second = second.expect("it holds two satellites");
    assert!(number(links, second, "dropped_loss_packets") > 0.0);
    assert_eq!(number(links, second, "carried_packets"), 0.0);
}

#[test]
fn a_script_changes_a_link_between_satellites() {
    let isls = with("");
    let isls = isls.table("inter_satellite_links").expect("there is a sky");
    let busiest = (0..isls.rows())
        .max_by(|&one, &other| {
            number(isls, one, "carried_packets").total_cmp(&number(isls, other, "carried_packets"))
        })
        .expect("there are some");
    let name = text(isls, busiest, "link");
    let down = event("0 s", &name, "action = \"down\"");
    let output = with(&down);
    let isls = output.table("inter_satellite_links").expect("there is a sky");
    assert_eq!(number(isls, busiest, "carried_packets"), 0.0);
    assert!(number(isls, busiest, "dropped_link_down_packets") > 0.0);
}

#[test]
fn the_queue_of_a_shared_downlink_is_seen_at_its_satellite() {
    // More than the downlink carries: the queue of 20 packets is full nearly all the time.
    let output = run_once(&load(&[
        "scenario.duration=100 s",
        "scenario.warm_up=10 s",
        "flows.telemetry.connect=0 s",
        "flows.telemetry.end=99 s",
        "flows.telemetry.application={ kind = \"bulk\", total = \"unlimited\" }",
        "sky.access.terminals.downlink={ rate = \"200 kbit/s\", queue = \"20 packets\" }",
    ]));
    let shared = output.table("shared_downlinks").expect("there is a sky");
    let links = output.table("links").expect("always");
    let sum = |table: &slantpath_results::Table, column: &str, rows: &[usize]| -> f64 {
        rows.iter().map(|&row| number(table, row, column)).sum()
    };
    let all: Vec<usize> = (0..shared.rows()).collect();
    let down: Vec<usize> =
        (0..links.rows()).filter(|&row| text(links, row, "direction") == "reverse").collect();
    // Of 66 satellites only those that had something to send down.
    assert!((2..6).contains(&shared.rows()), "{}", shared.rows());
    for column in
        ["offered_packets", "offered_bytes", "dropped_queue_full_packets", "dropped_handover_packets"]
    {
        assert_eq!(sum(shared, column, &all), sum(links, column, &down), "{column}");
    }
    assert!(sum(shared, "dropped_queue_full_packets", &all) > 0.0);
    let busiest = all.iter().copied().max_by(|&one, &other| {
        number(shared, one, "offered_bytes").total_cmp(&number(shared, other, "offered_bytes"))
    });
    let busiest = busiest.expect("there are some");
    let cell = |column| number(shared, busiest, column);
    assert_eq!(text(shared, busiest, "access"), "terminals");
    assert_eq!(cell("queue_max_packets"), 20.0);
    assert!(
        cell("utilisation_ratio") > 0.9 && cell("utilisation_ratio") <= 1.0,
        "{}",
        cell("utilisation_ratio")
    );
    // A packet waits for as long as those before it take to be sent.
    let taken = cell("offered_packets") - cell("dropped_queue_full_packets");
    let waited = cell("queue_mean_packets") * 90.0 / taken;
    assert!((cell("wait_mean_s") / waited - 1.0).abs() < 1e-6, "{waited}");
}

#[test]
fn an_antenna_conditions_what_it_sends_and_a_satellite_what_it_sends_down() {
    let rules = "[sky.access.all.uplink.conditioners.all]\nfrom = [\"a\"]\ngreen = \"EF\"\n\
                 [sky.access.all.downlink.conditioners.all]\ndscp = [\"EF\"]\n\
                 meter = { kind = \"sr-tcm\", committed_rate = \"20 kbit/s\", \
                 committed_burst = \"1500 B\" }\nred = \"drop\"\n";
    let output = with(rules);
    let [up, down] = [("sky.london", "forward"), ("sky.boston", "reverse")];
    let of = |(antenna, direction): (&str, &str), column| of_antenna(&output, antenna, direction, column);
    assert!(of(up, "carried_packets") > 100.0);
    assert_eq!(of(up, "green_packets"), 0.0, "none is metered");
    // All that comes down to Boston has been marked in London, and only so much of it goes on.
    let (green, red) = (of(down, "green_packets"), of(down, "red_packets"));
    assert_eq!(green + red, of(down, "offered_packets"));
    assert_eq!(red, of(down, "dropped_policed_packets"));
    assert!(red > 10.0 && green > 10.0, "{green} and {red}");
    assert_eq!(of(("sky.london", "reverse"), "red_packets"), 0.0, "what comes back is not marked");
}
