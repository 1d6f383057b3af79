//! Random users over a transfer that loses messages: nothing breaks, nothing grows, and the ends agree in the end.

use bytes::Bytes;
use proptest::prelude::*;
use slantpath_base::{Duration, Probability};
use slantpath_ss7::sccp::{ConnectRequest, ConnectionId, ConnectionRequest, Indication, UnitdataRequest};
use slantpath_ss7::transfer::{StatusCause, TransferIndication};

use super::net::{A, B, HLR, Net, VLR, at, own, request};

#[derive(Clone, Copy, Debug)]
enum Step {
    Connect(bool, bool),
    Data(bool, usize, usize),
    Disconnect(bool, usize),
    Expedited(bool, usize),
    Pass(u64),
    Reset(bool, usize),
    Status(u8),
    Unitdata(bool, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        any::<(bool, bool)>().prop_map(|(here, class)| Step::Connect(here, class)),
        (any::<bool>(), 0_usize..8, 1_usize..2_000)
            .prop_map(|(here, which, len)| Step::Data(here, which, len)),
        (any::<bool>(), 0_usize..8).prop_map(|(here, which)| Step::Disconnect(here, which)),
        (any::<bool>(), 0_usize..8).prop_map(|(here, which)| Step::Expedited(here, which)),
        (0_u64..400).prop_map(Step::Pass),
        (any::<bool>(), 0_usize..8).prop_map(|(here, which)| Step::Reset(here, which)),
        (0_u8..4).prop_map(Step::Status),
        (any::<bool>(), 1_usize..3_900).prop_map(|(here, len)| Step::Unitdata(here, len)),
    ];
    proptest::collection::vec(step, 1..40)
}

/// The connections that users at a node have heard of, or asked for.
fn play(net: &mut Net, known: &mut [Vec<ConnectionId>; 2], step: Step) {
    let now = net.now;
    let side = |here: bool| if here { (A, B, 0) } else { (B, A, 1) };
    let ask = |net: &mut Net, here: bool, which: usize, request: ConnectionRequest| {
        let (code, _, at) = side(here);
        if let Some(id) = known[at].get(which).copied() {
            // A user may ask for what is not possible now.
            let _ = net.node(code).request(now, id, request);
        }
    };
    match step {
        Step::Connect(here, with_flow_control) => {
            let (code, other, index) = side(here);
            let (called, calling) = (at(other, HLR), own(VLR));
            let request =
                ConnectRequest { called, calling, with_flow_control, importance: None, data: Bytes::new() };
            if let Ok(id) = net.node(code).connect(now, request) {
                known[index].push(id);
            }
        }
        Step::Data(here, which, len) => {
            ask(net, here, which, ConnectionRequest::Data(Bytes::from(vec![7; len])));
        }
        Step::Disconnect(here, which) => ask(net, here, which, ConnectionRequest::Disconnect(Bytes::new())),
        Step::Expedited(here, which) => {
            ask(net, here, which, ConnectionRequest::ExpeditedData(Bytes::from_static(b"!")));
        }
        Step::Pass(seconds) => net.pass(Duration::from_secs(seconds)),
        Step::Reset(here, which) => ask(net, here, which, ConnectionRequest::Reset),
        Step::Status(0) => net.indicate(A, TransferIndication::Pause(B)),
        Step::Status(1) => net.indicate(A, TransferIndication::Resume(B)),
        Step::Status(_) => {
            net.indicate(A, TransferIndication::Status { affected: B, cause: StatusCause::Congestion(1) });
        }
        Step::Unitdata(here, len) => {
            let (code, other, _) = side(here);
            let _ = net.node(code).unitdata(now, request(at(other, HLR), vec![1; len]));
        }
    }
    net.settle();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_ends_of_every_connection_agree_once_messages_arrive_again(
        steps in steps(), loss in 0_u32..40, seed: u64,
    ) {
        let mut net = Net::three().with_seed(seed);
        net.loss = Probability::new(f64::from(loss) / 100.0).unwrap();
        let mut known = [Vec::new(), Vec::new()];
        for step in steps {
            play(&mut net, &mut known, step);
            prop_assert!(net.node(A).connections() <= 100);
        }
        net.loss = Probability::NEVER;
        net.indicate(A, TransferIndication::Resume(B));
        // The longest that one end may not know: T(iar), then T(rel) and T(int).
        net.pass(Duration::from_secs(30 * 60));
        prop_assert_eq!(net.node(A).connections(), net.node(B).connections());
        prop_assert_eq!(net.node(A).reassembly_octets(), 0);
        prop_assert_eq!(net.node(B).reassembly_octets(), 0);
    }

    #[test]
    fn messages_without_loss_arrive_once_whole_and_in_order(
        lens in proptest::collection::vec((1_usize..3_952, any::<bool>()), 1..12),
    ) {
        let mut net = Net::three();
        let mut expected = Vec::new();
        for (number, (len, in_sequence)) in lens.into_iter().enumerate() {
            let data: Bytes = (0..=250).cycle().skip(number).take(len.min(3_900)).collect();
            expected.push(data.clone());
            let sequence = in_sequence.then_some(3);
            let now = net.now;
            net.node(A).unitdata(now, UnitdataRequest { sequence, ..request(at(B, HLR), data) }).unwrap();
        }
        net.settle();
        let indications = net.indications(B).into_iter().map(|indication| match indication {
            Indication::Unitdata { data, .. } => data,
            other => panic!("{other:?}"),
        });
        prop_assert_eq!(indications.collect::<Vec<_>>(), expected);
    }
}
