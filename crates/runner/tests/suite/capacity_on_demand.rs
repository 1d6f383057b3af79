//! Terminals with capacity on demand in scenarios: what it takes until it is there, what it costs to wait for it, and
//! how much there is.

use slantpath_runner::RunOutput;

use crate::cells::cells;
use crate::project;

fn run_with(overrides: &[&str]) -> RunOutput {
    project::run_file("capacity-on-demand.toml", overrides)
}

/// Times at which the left terminal looked, and what it had then in bit/s: it looks at whole intervals, the right one
/// between.
fn allocated(output: &RunOutput) -> Vec<(f64, f64)> {
    let all = cells(output, "access", "at_s").into_iter().zip(cells(output, "access", "allocated_bit_per_s"));
    all.step_by(2).map(|(at, rate)| (at.unwrap(), rate.unwrap())).collect()
}

/// A slot of each frame: 362 bytes in 40 ms.
const SLOT: f64 = 362.0 * 8.0 / 0.04;

#[test]
fn what_is_permanent_is_in_whole_slots_and_what_is_asked_for_follows_the_step_by_the_loop() {
    let allocated = allocated(&run_with(&[]));
    let at = |seconds: f64| allocated.iter().find(|(at, _)| *at == seconds).unwrap().1;
    // 14.1 slots carry 1,024 kbit/s, and 29.7 carry 2,150.
    assert_eq!(at(59.5), 15.0 * SLOT);
    // The load steps as it has looked at 60 s. It looks at 60.5, and the request is there at 60.77. The controller
    // plans at 61; the plan is there at 61.31, and holds from the next frame on, 61.32.
    assert_eq!(at(61.0), 15.0 * SLOT);
    assert!(at(61.5) > 20.0 * SLOT);
    assert_eq!(allocated.iter().map(|(_, rate)| *rate).fold(0.0, f64::max), 28.0 * SLOT);
    // It ends at 120 s; what came until 120.0 counts at that look. It needs less from 120.5 on, asks for less 10 s
    // later, and that holds from 131.32 on.
    assert!(at(131.0) > 15.0 * SLOT);
    assert_eq!(at(131.5), 15.0 * SLOT);
}

#[test]
fn a_packet_that_finds_nothing_waits_for_a_slot_and_one_that_exceeds_what_is_there_for_capacity() {
    let output = run_with(&[]);
    let of_flow = |column: &str, flow: usize| cells(&output, "delays", column)[flow].unwrap();
    // 270.2 ms of propagation and 1 ms on the two networks; of 32 slots it has 15 in a row, so that at worst it waits
    // for 17 and is then sent in three or four of its own.
    let frame = 0.04;
    assert!((0.2712..0.2712 + frame * 21.0 / 32.0).contains(&of_flow("delay_p50_s", 0)));
    // While capacity is asked for some 380 kbit/s more come than go, for 1.3 s: they wait for a third of a second.
    let longest = of_flow("delay_max_s", 1);
    assert!((0.5..0.8).contains(&longest), "{longest} s");
    let delivered = cells(&output, "flows", "messages_delivered");
    assert!(delivered[1] == Some(4_500.0), "{delivered:?}");
}

#[test]
fn a_load_beyond_all_gets_what_it_may_have_and_no_more() {
    // Three times what there is.
    let output = run_with(&[
        "flows.step.application.rate=6 Mbit/s",
        "links.left-lan.rate=100 Mbit/s",
        "sctp.default.congestion_control=cubic",
        "scenario.warm_up=80 s",
        "scenario.duration=119 s",
        "flows.step.end=110 s",
    ]);
    let rates: Vec<f64> = allocated(&output).into_iter().map(|(_, rate)| rate).collect();
    assert!(rates.iter().all(|&rate| rate == 30.0 * SLOT), "{rates:?}");
    let throughput = cells(&output, "links", "throughput_bit_per_s")[4].unwrap();
    // IP packets have 18 bytes around them of 1,052 with these.
    let most = 30.0 * SLOT * 1_044.0 / 1_062.0;
    assert!(throughput < most * 1.001 && throughput > 0.93 * most, "{throughput} of {most}");
}

#[test]
fn what_comes_in_volumes_is_carried_by_slots_that_are_asked_for_once() {
    let output = run_with(&[
        "links.satellite.forward.access={ system = \"satellite\", ask = \"vbdc\" }",
        "flows.base.application.rate=100 kbit/s",
        "flows.step.application.rate=100 kbit/s",
        "scenario.duration=150 s",
    ]);
    // A minute of 12.5 messages a second.
    let delivered = cells(&output, "flows", "messages_delivered");
    assert!(delivered[1] == Some(750.0), "{delivered:?}");
    // What comes finds what earlier packets have had asked for, or waits for a look, two hops, a plan and a frame.
    let [mean, most] =
        ["delay_mean_s", "delay_max_s"].map(|column| cells(&output, "delays", column)[0].unwrap());
    assert!(
        (0.5..1.2).contains(&mean) && most < 0.27 + 0.5 + 0.27 + 0.5 + 0.31 + 0.08 + 0.5,
        "{mean} and {most} s"
    );
}

/// The rows of one link's terminal: when it looked, what waited, what it asked for, what it had, and requests that it
/// sent.
fn looks(output: &RunOutput, nth: usize, of: usize) -> Vec<[f64; 5]> {
    let columns = ["at_s", "backlog_bytes", "asked_bit_per_s", "allocated_bit_per_s", "requests"];
    let columns = columns.map(|column| cells(output, "access", column));
    let rows = (0..columns[0].len()).skip(nth).step_by(of);
    rows.map(|row| columns.each_ref().map(|column| column[row].unwrap())).collect()
}

#[test]
fn antennas_under_a_sky_share_carriers() {
    let output = project::run_file("vsat-on-demand.toml", &[]);
    // All that has been sent arrives, but for what is under way at the end.
    let sent = cells(&output, "flows", "messages_sent");
    let delivered = cells(&output, "flows", "messages_delivered");
    for (sent, delivered) in sent.into_iter().zip(delivered) {
        assert!(sent.unwrap() - delivered.unwrap() < 5.0, "{delivered:?} of {sent:?}");
    }
    // A slot carries 112 bytes in 40 ms. Accra, the first of three terminals, has nothing for good; what nobody asks
    // for goes round from the first plan on.
    let slot = 112.0 * 8.0 / 0.04;
    let accra = looks(&output, 0, 3);
    assert_eq!(accra[0][3], 0.0);
    // Of 79 slots beside that for requests three are permanent for each of the others: 73 are free at 8 s.
    let at_8 = accra.iter().find(|row| row[0] > 8.0).unwrap();
    assert!([24.0, 25.0].map(|slots| slots * slot).contains(&at_8[3]), "{at_8:?}");
    // Praia asks for more as its file comes, and has all of a carrier.
    let praia = looks(&output, 2, 3);
    assert_eq!(praia.iter().map(|row| row[3]).fold(0.0, f64::max), 40.0 * slot);
    assert!(
        praia.iter().take_while(|row| row[0] < 30.0).all(|row| row[4] == 0.0),
        "it has asked for nothing before"
    );
}

#[test]
fn contention_for_one_room_is_a_matter_of_the_seed_and_of_nothing_else() {
    let one_room = ["access.inroute.requests.per_frame=1", "access.inroute.free_capacity=false"];
    let collided = |overrides: &[&str]| -> f64 {
        let output = project::run_file("vsat-on-demand.toml", &[&one_room[..], overrides].concat());
        cells(&output, "access", "collided").into_iter().flatten().sum()
    };
    let first = collided(&[]);
    assert_eq!(collided(&[]), first);
    // Three terminals that ask at other times seldom meet; when all have the same to say at once they do.
    assert!(first < 20.0, "{first}");
    let together = collided(&[
        "access.inroute.ask_every=40 ms",
        "flows.bursts.application.interval=3 s",
        "sky.access.by-rate.uplink.access={ system = \"inroute\", ask = \"avbdc\" }",
    ]);
    assert!(together > first, "{together} and {first}");
}

#[test]
fn a_terminal_may_live_by_what_is_free_alone() {
    let free = ["access.satellite.free_capacity=true"];
    let nothing = "links.satellite.access={system=\"satellite\",ask=\"nothing\"}";
    let output = run_with(&[free[0], nothing]);
    let allocated = cells(&output, "access", "allocated_bit_per_s");
    assert!(allocated.iter().flatten().any(|&rate| rate > 10.0 * SLOT), "what is free is given in turn");
    let delivered = cells(&output, "flows", "messages_delivered")[0].unwrap();
    assert!(delivered > 1_000.0, "{delivered}");
}
