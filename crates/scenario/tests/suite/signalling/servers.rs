//! Signalling gateways and application servers from scenario files: golden results, accounts that add up, captures that
//! tshark reads.

use slantpath_results::{Table, Value};
use slantpath_scenario::{RunOptions, RunOutput, Scenario, run};
use slantpath_testkit::Tshark;

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

/// What came to each process is what went on, was dropped for a reason, or waits; and the reasons add up.
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
        (0..drops.rows()).filter(|row| drops.column("kind").unwrap().at(*row) == Value::Text("gateway"));
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
    let Value::F64(outage) = servers.column("outage_s").unwrap().at(0) else { panic!("{}", text(servers)) };
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
