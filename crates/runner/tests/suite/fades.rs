//! Links whose rate, loss and bit errors follow a file.
use std::fmt::Write;
use std::io;
use std::sync::Arc;

use slantpath_results::CellValue;
use slantpath_runner::{Files, RunOptions, RunOutput, Scenario, run};

const TRACE: &str = "2 s,500 kbit/s,5 %,\n3 s,,,1e-5\n# it ends\n4 s,1 Mbit/s,0,0\n6.5 s,,100 %,\n7 s,,0,\n";

fn run_with(link: &str, script: &str) -> RunOutput {
    let text = format!(
        "[scenario]\nname = \"fade\"\nduration = \"10 s\"\n\
         [nodes]\na = {{ kind = \"host\" }}\nb = {{ kind = \"host\" }}\n\
         [links.l]\nends = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\ndelay = \"20 ms\"\n{link}\n{script}\n\
         [flows.f]\ntransport = \"sctp\"\nfrom = \"a\"\nto = \"b\"\n\
         application = {{ kind = \"constant-rate\", message_size = \"1 KiB\", interval = \"10 ms\" }}\n"
    );
    let files: Files = Arc::new(|name: &str| match name {
        "fade.csv" => Ok(TRACE.to_owned()),
        "up.trace" => Ok("500\n500\n1000\n".to_owned()),
        "up.csv" => Ok(deliveries()),
        _ => Err(io::Error::other("no such file")),
    });
    let scenario = Scenario::parse("fade.toml", &text, &[], files).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &RunOptions::default()).unwrap()
}

/// Steps of the rate for packets of 1,504 bytes, of which two leave until half of every second and one until its end.
fn deliveries() -> String {
    (0..10).fold(String::new(), |mut text, second| {
        writeln!(text, "{second} s,48128 bit/s,,\n{second}.5 s,24064 bit/s,,").unwrap();
        text
    })
}

fn script(direction: &str) -> String {
    let events = [
        ("2 s", "rate = \"500 kbit/s\"\nloss = \"5 %\""),
        ("3 s", "bit_error_rate = \"1e-5\""),
        ("4 s", "rate = \"1 Mbit/s\"\nloss = \"0\"\nbit_error_rate = \"0\""),
        ("6.5 s", "loss = \"100 %\""),
        ("7 s", "loss = \"0\""),
    ];
    events.iter().fold(String::new(), |mut text, (at, set)| {
        let event =
            format!("[[script]]\nat = \"{at}\"\nlink = \"l\"\ndirection = \"{direction}\"\naction = \"set\"");
        writeln!(text, "{event}\n{set}").unwrap();
        text
    })
}

fn lost(output: &RunOutput) -> Vec<u64> {
    let links = output.table("links").unwrap();
    let column = links.column("dropped_loss_packets").unwrap();
    (0..links.rows())
        .map(|row| match column.at(row) {
            CellValue::U64(count) => count,
            other => panic!("{other:?} is no count"),
        })
        .collect()
}

#[test]
fn a_fade_from_a_file_is_a_script_that_says_the_same() {
    let trace = "fade_trace = { file = \"fade.csv\" }";
    let both = run_with(trace, "");
    assert_eq!(both.digest, run_with("", &script("both")).digest);
    assert!(lost(&both).iter().all(|&lost| lost > 0), "{:?}", lost(&both));
    let forward = run_with(&format!("[links.l.forward]\n{trace}"), "");
    assert_eq!(forward.digest, run_with("", &script("forward")).digest);
    assert!(lost(&forward)[0] > 0 && lost(&forward)[1] == 0, "{:?}", lost(&forward));
    assert_ne!(forward.digest, run_with("", "").digest);
}

#[test]
fn a_trace_of_mahimahi_is_steps_of_rates_until_the_run_ends() {
    let mahimahi = run_with("fade_trace = { file = \"up.trace\", format = \"mahimahi\" }", "");
    assert_eq!(mahimahi.digest, run_with("fade_trace = { file = \"up.csv\" }", "").digest);
    assert_ne!(mahimahi.digest, run_with("", "").digest);
}
