//! Whatever comes to a point, it comes to rest, and how often it is asked changes nothing.

use bytes::Bytes;
use proptest::prelude::*;
use slantpath_base::{Duration, Instant};
use slantpath_signalling::{
    LineInput, LinkEndChange, ManagementRequest, PointChange, PointInput, PointOutput, SignallingPoint,
};
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, TransportInput};
use slantpath_ss7::mtp2::{self, Arrival, Header, SignalUnit};
use slantpath_ss7::mtp3::node::Mtp3LinkId;

use crate::world::{By, point, transfer};

const ASSOCIATION: AssociationNumber = AssociationNumber(3);

#[derive(Clone, Debug)]
enum Step {
    Input(PointInput),
    Pass(Duration),
    Send(u32),
}

fn unit() -> impl Strategy<Value = SignalUnit> {
    let header = (0_u8..4, any::<bool>(), 0_u8..4, any::<bool>()).prop_map(|(bsn, bib, fsn, fib)| Header {
        bsn,
        bib,
        fsn,
        fib,
    });
    let body = prop::collection::vec(any::<u8>(), 3..40).prop_map(Bytes::from);
    prop_oneof![
        (
            header.clone(),
            prop::sample::select(vec![
                mtp2::LinkStatus::OutOfAlignment,
                mtp2::LinkStatus::Normal,
                mtp2::LinkStatus::OutOfService,
                mtp2::LinkStatus::Busy,
            ]),
        )
            .prop_map(|(header, status)| SignalUnit::Status(header, status)),
        header.clone().prop_map(SignalUnit::FillIn),
        (header, body).prop_map(|(header, body)| SignalUnit::Message { header, spare: 0, body }),
    ]
}

fn input() -> impl Strategy<Value = PointInput> {
    let octets = prop::collection::vec(any::<u8>(), 0..40).prop_map(Bytes::from);
    let message = (0_u16..3, octets).prop_map(|(stream, octets)| TransportInput::Message {
        stream: StreamNumber(stream),
        payload_protocol: 5,
        octets,
    });
    let transport = prop_oneof![
        3 => message,
        1 => Just(TransportInput::Up { outbound_streams: 2 }),
        1 => Just(TransportInput::Down),
        1 => any::<bool>().prop_map(TransportInput::Congested),
    ];
    let line = prop_oneof![
        4 => (unit(), prop::option::of(1_u64..5)).prop_map(|(unit, period)| {
            LineInput::Arrival(Arrival::Unit(unit, period.map(Duration::from_millis)))
        }),
        1 => Just(LineInput::Arrival(Arrival::Errored)),
        1 => Just(LineInput::UnitsLost),
    ];
    let change = prop::sample::select(vec![
        LinkEndChange::Activate,
        LinkEndChange::Deactivate,
        LinkEndChange::Emergency,
        LinkEndChange::Inhibit,
        LinkEndChange::ProcessorOutage,
        LinkEndChange::ProcessorRecovered,
        LinkEndChange::Uninhibit,
    ]);
    let link = (0_u16..2).prop_map(Mtp3LinkId);
    prop_oneof![
        4 => transport.prop_map(|input| PointInput::Association(ASSOCIATION, input)),
        4 => line.prop_map(|input| PointInput::Line(Mtp3LinkId(0), input)),
        1 => (link, change)
            .prop_map(|(link, change)| PointInput::Management(ManagementRequest::Link(link, change))),
        1 => Just(PointInput::Management(ManagementRequest::Point(PointChange::Restart))),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => input().prop_map(Step::Input),
        2 => (0_u64..3_000).prop_map(|millis| Step::Pass(Duration::from_millis(millis))),
        1 => any::<u32>().prop_map(Step::Send),
    ]
}

/// Everything until the point waits. One step lets nothing come out for ever.
fn drain(point: &mut SignallingPoint, now: Instant) -> (Vec<PointOutput>, Option<Instant>) {
    let mut outputs = Vec::new();
    loop {
        match point.poll_output(now) {
            PointOutput::Wait(deadline) => return (outputs, deadline),
            output => outputs.push(output),
        }
        assert!(outputs.len() < 1_000, "{outputs:?}");
    }
}

proptest! {
    #[test]
    fn a_point_comes_to_rest_and_asking_again_changes_nothing(
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let new = || {
            let config = point(1, 2, &[By::Line, By::Association(ASSOCIATION.0)]);
            SignallingPoint::new(Instant::START, config).unwrap()
        };
        let (mut asked_once, mut asked_often) = (new(), new());
        let mut now = Instant::START;
        let (begun, mut deadline) = drain(&mut asked_once, now);
        prop_assert_eq!(drain(&mut asked_often, now), (begun, deadline));
        for step in steps {
            match step {
                Step::Input(input) => {
                    asked_once.handle_input(now, input.clone());
                    asked_often.handle_input(now, input);
                }
                Step::Pass(time) => {
                    let end = now + time;
                    // Both are called at each deadline; one of them halfway to it, too.
                    while let Some(due) = deadline.filter(|due| *due <= end) {
                        prop_assert!(due > now);
                        let halfway = now + (due - now) / 2;
                        prop_assert_eq!(drain(&mut asked_often, halfway), (Vec::new(), deadline));
                        now = due;
                        let outputs;
                        (outputs, deadline) = drain(&mut asked_once, now);
                        prop_assert_eq!(drain(&mut asked_often, now), (outputs, deadline));
                    }
                    now = end;
                }
                Step::Send(number) => {
                    let message = transfer(1, 2, (number % 16) as u8, number);
                    let taken = [&mut asked_once, &mut asked_often].map(|point| point.transfer(now, &message));
                    prop_assert_eq!(taken[0], taken[1]);
                }
            }
            let outputs;
            (outputs, deadline) = drain(&mut asked_once, now);
            prop_assert_eq!(drain(&mut asked_often, now), (outputs, deadline));
            prop_assert_eq!(drain(&mut asked_often, now), (Vec::new(), deadline));
        }
    }
}
