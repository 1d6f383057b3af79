//! A sky that is planned in pieces is the sky that is planned at once.

use std::io;

use slantpath_base::{Duration, Instant};
use slantpath_net::InterfaceId;
use slantpath_runner::{
    Attachment, InterfaceReport, Outside, OwnKinds, RunOptions, Scenario, SkyHandover, SkyInPieces, Turn,
    Watch, Work, files_in, run, run_attached_without_records,
};
use slantpath_wire::Packet;

use super::LONDON_TO_BOSTON;

const SKY: &str = r#"
    [scenario]
    name = "pieces"
    duration = "10 min"

    [sky]
    epoch = "2026-03-01T00:00:00Z"

    [sky.constellations.ring]
    isl = { pattern = "grid" }

    [sky.constellations.ring.satellites]
    kind = "shell"
    arrangement = "delta"
    planes = 8
    per_plane = 12
    altitude = "1200 km"
    inclination = "60 deg"
    phasing = "walker 1"

    [sky.ground]
    min_elevation = "10 deg"
    reselect = "grid"
    grid_period = "15 s"
    handover = "make-before-break"
    handover_time = "1 s"

    [sky.sites.london]
    latitude = "51.5 deg"
    longitude = "-0.1 deg"

    [sky.sites.boston]
    latitude = "42.3 deg"
    longitude = "-71.1 deg"
"#;

/// Instants at which somebody lets the network run on, with what it is told on the way.
struct Steps {
    end: Instant,
    /// True if nobody does the work.
    is_idle: bool,
    works: usize,
    handovers: Vec<SkyHandover>,
    next: Vec<Option<(Instant, String)>>,
    failures: Vec<(Instant, String)>,
}

impl Steps {
    fn up_to(end: Instant) -> Self {
        Self { end, is_idle: false, works: 0, handovers: Vec::new(), next: Vec::new(), failures: Vec::new() }
    }
}

impl Outside for Steps {
    fn begin(&mut self, _: &[Attachment]) -> io::Result<()> {
        Ok(())
    }

    fn wait(&mut self, turn: &mut Turn<'_>) -> io::Result<Option<Instant>> {
        self.next.push(turn.next_handover());
        let next = (turn.now + Duration::from_secs(3)).min(self.end);
        Ok((turn.now < self.end).then_some(next))
    }

    fn depart(&mut self, _: Instant, _: InterfaceId, _: Packet) -> io::Result<()> {
        Ok(())
    }

    fn beside(&mut self, work: Work) {
        self.works += 1;
        if !self.is_idle {
            work();
        }
    }

    fn handed_over(&mut self, handovers: Vec<SkyHandover>) {
        self.handovers.extend(handovers);
    }

    fn fail(&mut self, at: Instant, reason: String) {
        self.failures.push((at, reason));
    }

    fn end(&mut self) -> io::Result<Vec<InterfaceReport>> {
        Ok(Vec::new())
    }
}

fn scenario(pieces: Option<SkyInPieces>) -> Scenario {
    let watch = Watch { pieces, ..Watch::new(&|_| {}) };
    let text = format!("{SKY}{LONDON_TO_BOSTON}");
    let files = files_in(std::path::Path::new("."));
    Scenario::parse_observed("pieces.toml", &text, &[], files, &OwnKinds::none(), watch)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Pieces of which the first ends after four minutes, and the third with the run.
const PIECES: SkyInPieces = SkyInPieces { whole: Duration::ZERO, first: Some(Duration::from_secs(4 * 60)) };
const END: Instant = Instant::from_secs(10 * 60);

#[test]
fn a_run_over_a_sky_in_pieces_is_that_over_the_whole() {
    let whole = run(&scenario(None), &RunOptions::default()).unwrap();
    let mut steps = Steps::up_to(END);
    let pieces = scenario(Some(PIECES));
    let output = run_attached_without_records(&pieces, &RunOptions::default(), &mut steps).unwrap();
    assert_eq!(steps.failures, []);
    assert_eq!(steps.works, 2);
    assert_eq!((output.digest, output.events), (whole.digest.clone(), whole.events));
    // As far as it goes without an Outside, too.
    assert_eq!(run(&pieces, &RunOptions::default()).unwrap().digest, whole.digest);
    // What was looked forward to has happened.
    let told: Vec<Instant> = steps.handovers.iter().map(|handover| handover.at).collect();
    assert!(told.len() >= 5 && told.is_sorted(), "{told:?}");
    let next = steps.next.iter().flatten().filter(|(at, _)| *at < END);
    assert!(steps.next.len() > 190 && next.clone().count() > 150);
    let overlap = Duration::from_secs(1);
    for (at, _) in next {
        // An antenna that loses one of two satellites is the other half of a handover.
        assert!(told.contains(at) || told.contains(&(*at - overlap)), "{at}");
    }
}

#[test]
fn a_plan_that_is_not_there_in_time_is_told_once() {
    let mut steps = Steps { is_idle: true, ..Steps::up_to(END) };
    run_attached_without_records(&scenario(Some(PIECES)), &RunOptions::default(), &mut steps).unwrap();
    let told: Vec<&str> = steps.failures.iter().map(|(_, reason)| reason.as_str()).collect();
    assert_eq!(told, ["the sky was not worked out in time beyond 60 s"]);
    assert_eq!((steps.failures[0].0, steps.works), (Instant::from_secs(60), 1));
}
