//! Signalling gateways and application servers from scenario files: golden results, accounts that add up, captures that
//! tshark reads.

use std::path::Path;

use slantpath_results::{CellValue, Table};
use slantpath_runner::{RunOptions, RunOutput, Scenario, files_in, run};
use slantpath_testkit::Tshark;

use crate::alone::run_text;
use crate::project::path;

use super::{assert_the_seed_decides, cells, load, parse, settle, sum, text};

fn scenario(overrides: &[&str]) -> Scenario {
    load("sigtran-gateway-over-geo.toml", overrides)
}

fn output(overrides: &[&str]) -> RunOutput {
    run(&scenario(overrides), &RunOptions::default()).unwrap()
}

const TABLES: [&str; 6] = [
    "signalling_load",
    "signalling_servers",
    "signalling_processes",
    "signalling_drops",
    "signalling_associations",
    "signalling_server_events",
];

/// Checks that what came to each process went on, was dropped for a reason, or waits; and that the reasons add up.
fn balance(output: &RunOutput) {
    let processes = output.table("signalling_processes").unwrap();
    let column = |name: &str| cells(processes, name);
    let (received, requested) = (column("received_messages"), column("requested_messages"));
    for row in 0..processes.rows() {
        let went = ["forwarded_messages", "indicated_messages", "dropped_messages", "waiting_messages"];
        let went: u64 = went.iter().map(|name| column(name)[row]).sum();
        assert_eq!(received[row] + requested[row], went, "{}", text(processes));
    }
    let drops = output.table("signalling_drops").unwrap();
    assert_eq!(sum(drops, "dropped_messages"), sum(processes, "dropped_messages"));
}

/// Messages of all loads that a point's MTP3 or a process refused, or dropped on the way.
fn explained(output: &RunOutput) -> u64 {
    let refused = sum(output.table("signalling_load").unwrap(), "refused_messages");
    let drops = output.table("signalling_drops").unwrap();
    // What an ASP drops it refuses to its load.
    let rows =
        (0..drops.rows()).filter(|row| drops.column("kind").unwrap().at(*row) == CellValue::Text("gateway"));
    let counts = cells(drops, "dropped_messages");
    refused + rows.map(|row| counts[row]).sum::<u64>()
}

/// DATA that associations took and did not deliver.
fn lost_with_associations(table: &Table) -> u64 {
    sum(table, "data_sent_messages") - sum(table, "data_received_messages")
}

#[test]
fn a_gateway_with_two_asps_over_a_satellite_gives_these_results() {
    let output = output(&[]);
    let texts = TABLES.map(|name| format!("{name}\n{}", text(output.table(name).unwrap())));
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn every_lost_message_has_its_place_and_no_message_comes_twice_or_out_of_turn() {
    for mode in ["override", "loadshare"] {
        let mode = format!("signalling.application_servers.register.traffic_mode={mode}");
        let output = output(&[&mode]);
        balance(&output);
        let [sent, lost, repeated, misplaced] = settle(&output);
        assert!(sent > 3_000, "{mode}: {sent}");
        assert_eq!((repeated, misplaced), (0, 0), "{mode}");
        let associations = output.table("signalling_associations").unwrap();
        let known = explained(&output) + lost_with_associations(associations);
        // The line takes what is on it when it breaks, and what is sent in the 128 ms until its ends give it up: a few
        // messages.
        assert!((known..known + 12).contains(&lost), "{mode}: {lost} lost, {known} explained");
    }
}

#[test]
fn the_other_asp_takes_over_within_three_quarters_of_a_round_trip_of_the_news_and_nothing_waits_too_long() {
    let output = output(&[]);
    let servers = output.table("signalling_servers").unwrap();
    let CellValue::F64(outage) = servers.column("outage_s").unwrap().at(0) else {
        panic!("{}", text(servers))
    };
    // NTFY there and ASP Active back.
    assert!((0.54..0.56).contains(&outage), "{outage}");
    let drops = text(output.table("signalling_drops").unwrap());
    assert!(!drops.contains("recovery-expired"), "{drops}");
}

#[test]
fn without_the_other_asp_what_waits_longer_than_t_r_is_dropped_and_the_exchange_told() {
    let scripted = scenario(&[]).canonical()
        + "\n[[signalling.script]]\nat = \"50 s\"\nasp = \"boston-2\"\naction = \"fail\"\n";
    let output = run(&parse(&scripted), &RunOptions::default()).unwrap();
    balance(&output);
    assert!(text(output.table("signalling_drops").unwrap()).contains("recovery-expired"));
}

#[test]
fn a_table_that_cannot_be_read_is_told_and_nothing_of_what_others_say_of_it() {
    let text = std::fs::read_to_string(path("sigtran-gateway-over-geo.toml")).unwrap();
    // A gateway that is not called as its point, and an ASP that is called as another node than its own: only their
    // tables tell.
    let named = [
        ("boston-1 = {}", "london = { node = \"boston-1\" }"),
        ("asp = \"boston-1\"", "asp = \"london\""),
        ("asps = [\"boston-1\"", "asps = [\"london\""),
        ("gateways.london]", "gateways.gate]\npoint = \"london\""),
        ("gateway = \"london\"", "gateway = \"gate\""),
    ];
    let text = named.iter().fold(text, |text, (old, new)| text.replace(old, new));
    parse(&text);
    for (right, wrong) in [
        ("t_r = \"5 s\"", "t_r = 5"),
        ("london = { node = \"boston-1\" }", "london = { node = 1 }"),
        ("gateway = \"gate\"\nasp = \"london\"", "gateway = \"gate\"\nasp = 1"),
        ("routing_context = 100", "routing_context = \"100\""),
        ("point_code = \"2-15-3\"", "point_code = 1"),
        ("delay = \"5 ms\"", "delay = 5"),
    ] {
        assert_eq!(text.matches(right).count(), 1, "{right}");
        let broken = text.replace(right, wrong);
        match Scenario::parse("broken", &broken, &[], files_in(Path::new("nowhere"))) {
            Err(told) => assert_eq!(told.iter().count(), 1, "{wrong}:\n{told}"),
            Ok(scenario) => panic!("{wrong}:\n{}", scenario.merged()),
        }
    }
}

#[test]
fn equal_seeds_give_equal_runs_and_others_do_not() {
    assert_the_seed_decides(output);
}

#[test]
fn tshark_reads_every_message_of_m3ua_on_the_satellite_without_a_complaint() {
    let options = RunOptions { captures: vec!["satellite".to_owned()], ..RunOptions::default() };
    let output = run(&scenario(&[]), &options).unwrap();
    let tshark = Tshark::of_octets("m3ua-over-geo", &output.captures[0].pcapng)
        .prefer("sctp.checksum:CRC-32C")
        .prefer("ip.check_checksum:TRUE");
    // What a generator sends bears ISUP's service indicator, and is no ISUP.
    let fields = ["--disable-protocol", "isup", "-T", "fields"];
    let print = |filter: &str, named: &[&str]| {
        let named = named.iter().flat_map(|field| ["-e", *field]);
        let arguments: Vec<&str> = fields.into_iter().chain(["-Y", filter]).chain(named).collect();
        tshark.print(&arguments)
    };
    let complaints = "_ws.malformed || _ws.expert.severity >= \"Warning\"";
    let Some(said) = print(complaints, &["frame.number", "_ws.expert.message"]) else { return };
    assert_eq!(said.lines().take(10).collect::<Vec<_>>(), Vec::<&str>::new(), "tshark complains");
    let text = print("m3ua", &["m3ua.message_class", "m3ua.message_type"]).unwrap();
    // Transfer, ASPSM up and down, ASPTM, NTFY, and DAVA of the destinations.
    for kind in ["1\t1", "3\t1", "3\t4", "4\t1", "4\t3", "0\t1", "2\t2"] {
        assert!(text.lines().any(|line| line == kind), "{kind:?} is not among them");
    }
}

/// Events that the ASP and the gateway tell of the one server once the ASP has been deactivated at 50 s and activated
/// again at `activated`, and the numbers of messages that are lost there and back.
fn of_a_pause_until(activated: &str) -> (Vec<String>, [u64; 2]) {
    let text = std::fs::read_to_string(path("sigtran-gateway-over-geo.toml")).unwrap();
    let (text, _) = text.split_once("[[signalling.script]]").unwrap();
    let second = "[signalling.associations.second]\ngateway = \"london\"\nasp = \"boston-2\"\n\
                  profile = \"signalling\"\n";
    let alone = [
        ("boston-2 = {}\n", ""),
        (second, ""),
        ("asps = [\"boston-1\", \"boston-2\"]", "asps = [\"boston-1\"]"),
    ];
    let text = alone.iter().fold(text.to_owned(), |text, (two, one)| text.replace(two, one));
    let at = |at, action| {
        format!("[[signalling.script]]\nat = \"{at}\"\nasp = \"boston-1\"\naction = \"{action}\"\n")
    };
    let text = [text, at("50 s", "deactivate"), at(activated, "activate")].concat();
    let output = run_text(&text);
    let events = output.table("signalling_server_events").unwrap();
    let cell = |name: &str, row: usize| match events.column(name).unwrap().at(row) {
        CellValue::Text(text) => text.to_owned(),
        other => format!("{other:?}"),
    };
    let at = |row: usize| match events.column("at_s").unwrap().at(row) {
        CellValue::F64(at) => at,
        other => panic!("{other:?} is no time"),
    };
    let is_of_it = |row: &usize| at(*row) > 50.0 && cell("event", *row).starts_with("as");
    let told = (0..events.rows()).filter(is_of_it);
    let told = told.map(|row| format!("{:.3} {} {}", at(row), cell("process", row), cell("event", row)));
    let load = output.table("signalling_load").unwrap();
    let lost = |name: &str| {
        let is_it = |row: &usize| load.column("load").unwrap().at(*row) == CellValue::Text(name);
        let lost = cells(load, "lost_messages");
        (0..load.rows()).filter(is_it).map(|row| lost[row]).sum()
    };
    (told.collect(), ["there", "back"].map(lost))
}

#[test]
fn an_asp_that_is_activated_before_its_inactive_ack_is_active_once_it_is_in() {
    let (told, lost) = of_a_pause_until("50.3 s");
    let inactive = ["50.272 london asp-inactive", "50.272 london as-pending", "50.544 boston-1 asp-inactive"];
    let active = ["50.817 london asp-active", "50.817 london as-active", "51.091 boston-1 asp-active"];
    assert_eq!(told, [inactive, active].concat());
    // What the register's users hand over meanwhile has no way; what is for them waits at the gateway, for T(r).
    assert_eq!(lost, [0, 18]);
    let (told, lost) = of_a_pause_until("52 s");
    let active = ["52.272 london asp-active", "52.272 london as-active", "52.546 boston-1 asp-active"];
    assert_eq!(told, [inactive, active].concat());
    assert_eq!(lost, [0, 48]);
}
