//! The laboratory that is shipped as a scenario, with real programs: their round trips are those of the plan.

use std::path::Path;

use crate::place::Place;

/// Asks pico by both ways and jorge by one until the run has lasted ten seconds. Their kernels answer echo requests.
/// Tells of each question the way, the instant of the run and the round trip in seconds, `lost` without an answer.
const ASK: &str = r#"
import json, select, socket, struct, sys, time
control = socket.socket(socket.AF_UNIX)
control.connect(sys.argv[1])
control.sendall(b'{"status": {}}\n')
at_s = json.loads(control.makefile().readline())['ok']['at_s']
begin = at_s - time.monotonic()
ways = {
    'leo': ('10.1.0.2', socket.AF_INET, socket.IPPROTO_ICMP, 8),
    'leo-jorge': ('10.1.0.3', socket.AF_INET, socket.IPPROTO_ICMP, 8),
    'geo': ('fd00:1:2::1', socket.AF_INET6, socket.IPPROTO_ICMPV6, 128),
}
sockets, kinds = {}, {}
for way, (address, family, protocol, kind) in ways.items():
    sockets[way] = socket.socket(family, socket.SOCK_DGRAM, protocol)
    sockets[way].connect((address, 0))
    kinds[way] = kind
asked, answered = {}, {}
number = 0
while begin + time.monotonic() < 10:
    if begin + time.monotonic() < 9:
        for way, s in sockets.items():
            asked[way, number] = begin + time.monotonic()
            s.send(struct.pack('!BBHHH', kinds[way], 0, 0, 0, number))
        number += 1
    until = time.monotonic() + 0.05
    while (left := until - time.monotonic()) > 0:
        for s in select.select(list(sockets.values()), [], [], left)[0]:
            way = next(way for way in sockets if sockets[way] is s)
            key = way, struct.unpack_from('!H', s.recv(100), 6)[0]
            answered[key] = begin + time.monotonic() - asked[key]
for (way, number), at in asked.items():
    trip = answered.get((way, number))
    print(way, '%.6f' % at, 'lost' if trip is None else '%.6f' % trip, flush=True)
"#;

/// Rows of a table, of which the first has the names of its columns.
struct Table(Vec<Vec<String>>);

impl Table {
    fn read(place: &Place, name: &str) -> Self {
        let text = std::fs::read_to_string(place.path().join(name)).expect("a table of a run");
        Self(text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect())
    }

    /// Cells of a column, of rows that have a value in another.
    fn cells(&self, column: &str, key: &str, value: &str) -> Vec<&str> {
        let place = |name: &str| self.0[0].iter().position(|own| own == name).expect("a column");
        let (column, key) = (place(column), place(key));
        self.0[1..].iter().filter(|row| row[key] == value).map(|row| &*row[column]).collect()
    }
}

fn seconds(text: &str) -> f64 {
    text.parse().expect("a number")
}

#[test]
fn round_trips_of_programs_are_those_of_the_plan() {
    let place = Place::new("lab");
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/emulated-islands.toml");
    let scenario = scenario.to_str().expect("a path");
    place.write("ask.py", ASK);
    // The constellation leaves after six seconds, and is away for one.
    let sky = ["--set", "sky.start=1594 s", "--set", "sky.ground.min_elevation=24.45 deg"];
    let emulate = ["emulate", scenario, "--late", "10 s", "--out", "out", "--control", "control"];
    let programs = ["--in", "faial", "exec python3 ask.py control"];
    let outcome = place.run(&[&emulate[..], &sky, &programs].concat());
    if outcome.is_refused_namespaces() {
        return;
    }
    assert_eq!(outcome.status, Some(0), "{}{}", outcome.out, outcome.err);

    let handovers = Table::read(&place, "out/handovers.csv");
    let [began, ends, begins]: [f64; 3] = {
        let at: Vec<f64> = handovers.cells("at_s", "link", "leo-faial").into_iter().map(seconds).collect();
        at.try_into().expect("a contact, a gap and a contact")
    };
    assert!(
        began == 0.0 && (6.0..7.0).contains(&ends) && (ends + 0.8..8.0).contains(&begins),
        "{ends} {begins}"
    );
    let told: Vec<(&str, f64, Option<f64>)> = outcome
        .out
        .lines()
        .filter_map(|line| {
            let mut words = line.strip_prefix("faial: ")?.split(' ');
            Some((words.next()?, seconds(words.next()?), words.next()?.parse().ok()))
        })
        .collect();
    let by =
        |way: &'static str| told.iter().filter(move |(own, ..)| *own == way).map(|&(_, at, trip)| (at, trip));

    // The run has hosts in place of the islands, and tells what light takes when the contacts begin. A satellite that
    // rises comes nearer.
    let twin = place.run(&[&["run", scenario, "--out", "twin"][..], &sky].concat());
    assert_eq!(twin.status, Some(0), "{}", twin.err);
    let paths = Table::read(&place, "twin/sky_paths.csv");
    let light = |link: &str| -> Vec<f64> {
        let cells = paths.cells("propagation_s", "link", link);
        cells.into_iter().filter(|cell| !cell.is_empty()).map(seconds).collect()
    };
    let [setting, rising] = light("leo-pico")[..] else { panic!("two contacts") };
    let [geostationary] = light("vsat-pico")[..] else { panic!("one path") };
    let interfaces = Table::read(&place, "out/attached_interfaces.csv");
    let late: f64 = ["faial", "pico", "jorge"]
        .iter()
        .flat_map(|node| interfaces.cells("lateness_median_s", "node", node))
        .filter(|cell| !cell.is_empty())
        .map(seconds)
        .sum();
    let trips = |way, range: std::ops::Range<f64>| {
        let within = by(way).filter(|(at, _)| range.contains(at));
        let mut trips: Vec<f64> = within.filter_map(|(_, trip)| trip).collect();
        trips.sort_by(f64::total_cmp);
        assert!(trips.len() > 5, "{way}: {}", outcome.out);
        trips
    };
    for (way, range, light, waits) in [
        ("leo", 0.0..ends, setting, 0.001),
        ("leo", begins..begins + 1.0, rising - 0.0001, 0.001),
        ("geo", 0.0..9.0, geostationary, FRAMES_S),
    ] {
        let trips = trips(way, range);
        let (least, median) = (trips[0], trips[trips.len() / 2]);
        assert!(least >= 2.0 * light, "{way}: {least} s is less than light takes: {light} s each way");
        let most = 2.0 * light + waits + late + SLOW_S;
        assert!(median <= most, "{way}: {median} s is more than {most} s; {late} s are lateness");
    }

    // Nothing passes where there is no contact: what waits is answered when the next one has begun. What was asked
    // while there was one for sure is answered. Jorge is slower to change its satellite.
    let at = |way, range: std::ops::Range<f64>| by(way).filter(move |(at, _)| range.contains(at));
    for way in ["leo", "leo-jorge"] {
        let gap = ends..begins - SURE_S;
        assert!(at(way, gap.clone()).count() > 3, "{way}: nothing was asked: {}", outcome.out);
        assert!(
            at(way, gap).all(|(at, trip)| trip.is_none_or(|trip| at + trip > begins)),
            "{way}: {}",
            outcome.out
        );
        let before = 0.0..ends - SURE_S;
        assert!(at(way, before).all(|(_, trip)| trip.is_some()), "{way}: {}", outcome.out);
    }
    assert!(at("leo", begins + SURE_S..9.0).all(|(_, trip)| trip.is_some()), "{}", outcome.out);
    assert!(by("geo").all(|(_, trip)| trip.is_some()), "{}", outcome.out);

    // The clinic's pictures ask for more than the terminal has for good.
    let access = Table::read(&place, "out/access.csv");
    let allocated: Vec<f64> =
        access.cells("allocated_bit_per_s", "link", "geo-faial").into_iter().map(seconds).collect();
    let most = allocated.iter().copied().fold(0.0, f64::max);
    assert!(most > 2.0 * allocated[0], "{most} bit/s of {} bit/s for good", allocated[0]);
}

/// Waits for slots of frames of 40 ms, both ways, and for the pictures before.
const FRAMES_S: f64 = 0.3;
/// Time that a busy machine takes for what is not in the network: from a program to its door and back.
const SLOW_S: f64 = 0.02;
/// Time by which a question may be later at its door than its program says.
const SURE_S: f64 = 0.5;
