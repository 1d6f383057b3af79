//! A signalling point alone, and two of them.

use slantpath_base::{Duration, Instant};
use slantpath_signalling::{
    ConfigError, LineInput, LinkEndChange, ManagementRequest, PointEventKind, PointInput, PointOutput,
    SignallingPoint,
};
use slantpath_ss7::mtp2::{self, SignalUnit};
use slantpath_ss7::mtp3::node::{self, Mtp3LinkId, Mtp3Timer};

use crate::world::{By, Holder, World, point, transfer};

/// Two points with a line and an association between them, in service.
fn pair() -> World {
    let links = [By::Line, By::Association(4)];
    let ends = [Holder::Point(0), Holder::Point(1)];
    let mut world = World::new(vec![point(1, 2, &links), point(2, 1, &links)], Vec::new(), &[(4, ends)]);
    world.pass(Duration::from_secs(20));
    world
}

#[test]
fn messages_change_over_from_a_line_to_an_association_in_their_order() {
    let mut world = pair();
    for number in 0..40 {
        let selection = (number % 4) as u8;
        world.points[0].transfer(world.now, &transfer(1, 2, selection, number)).unwrap();
        if number == 20 {
            let deactivate = ManagementRequest::Link(Mtp3LinkId(0), LinkEndChange::Deactivate);
            world.manage(0, deactivate);
            world.manage(1, deactivate);
        }
        world.pass(Duration::from_millis(20));
    }
    world.pass(Duration::from_secs(5));
    for selection in 0..4 {
        let expected: Vec<u32> = (0..40).filter(|number| number % 4 == u32::from(selection)).collect();
        assert_eq!(world.delivered[&(Holder::Point(1), selection)], expected);
    }
    let gone = |point| (point, Some(Mtp3LinkId(0)), PointEventKind::Unavailable);
    assert!(world.events.contains(&gone(0)) && world.events.contains(&gone(1)), "{:?}", world.events);
    let [line, association] = [0, 1].map(|link| world.points[1].link_counters(Mtp3LinkId(link)).received);
    // Selections 0 and 2 took the line, up to message 20. Beside messages each link has brought the far end's test
    // and the answer to its own, and the association what MTP3 says of changeover.
    assert_eq!((line, association), (11 + 2, 29 + 2 + 4));
}

/// Takes the outputs of a point at one instant: links whose lines are given units, and the instant at which it is due
/// next.
fn units(point: &mut SignallingPoint, now: Instant) -> (Vec<Mtp3LinkId>, Option<Instant>) {
    let mut links = Vec::new();
    loop {
        match point.poll_output(now) {
            PointOutput::Unit(link, mtp2::Transmission { unit: SignalUnit::Status(..), .. }) => {
                links.push(link);
            }
            PointOutput::Wait(deadline) => return (links, deadline),
            PointOutput::Event(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_links_have_to_do_at_one_instant_is_done_in_the_order_of_their_configuration() {
    let mut config = point(1, 2, &[By::Line; 3]);
    config.links.rotate_left(1);
    let mut point = SignallingPoint::new(Instant::START, config).unwrap();
    // SIOS of all terminals; MTP3 starts the links, in its own order, while SIOS is under way.
    let (links, _) = units(&mut point, Instant::START);
    assert_eq!(links, [1, 2, 0].map(Mtp3LinkId));
}

#[test]
fn a_point_with_nothing_to_do_waits_for_the_test_of_its_links() {
    let test = node::Timers::default().value(Mtp3Timer::TestT2);
    let mut world = pair();
    let quiet = world.now;
    let PointOutput::Wait(Some(deadline)) = world.points[0].poll_output(quiet) else { panic!() };
    assert!((quiet + test / 2..quiet + test).contains(&deadline), "{deadline}");
    for now in [quiet, quiet + Duration::from_secs(1), deadline - Duration::from_nanos(1)] {
        assert_eq!(world.points[0].poll_output(now), PointOutput::Wait(Some(deadline)));
    }
    assert!(matches!(
        world.points[0].poll_output(deadline),
        PointOutput::Transmit(_) | PointOutput::Unit(..)
    ));
}

#[test]
fn a_line_without_units_takes_its_link_out_and_leaves_the_other() {
    let mut world = pair();
    world.points[0].handle_input(world.now, PointInput::Line(Mtp3LinkId(0), LineInput::UnitsLost));
    world.events.clear();
    // 1,024 octets without a unit, sixteen an error, are 128 ms at 64 kbit/s.
    world.pass(Duration::from_millis(127));
    assert_eq!(world.events, []);
    world.pass(Duration::from_millis(2));
    assert_eq!(world.events, [(0, Some(Mtp3LinkId(0)), PointEventKind::Unavailable)]);
    assert!(world.points[0].is_accessible(slantpath_ss7::PointCode(2)));
}

#[test]
fn a_link_of_mtp3_without_an_end_or_with_two_is_refused() {
    let mut missing = point(1, 2, &[By::Line; 2]);
    missing.links.remove(0);
    let error = SignallingPoint::new(Instant::START, missing).unwrap_err();
    assert_eq!(error, ConfigError::Links(Mtp3LinkId(0)));
    let mut doubled = point(1, 2, &[By::Line; 2]);
    doubled.links[0].link = Mtp3LinkId(1);
    let error = SignallingPoint::new(Instant::START, doubled).unwrap_err();
    assert_eq!(error, ConfigError::Links(Mtp3LinkId(1)));
}
