//! Sequence over changeovers, changebacks and reroutings, with failures drawn by chance.

use std::collections::BTreeMap;

use proptest::prelude::*;
use slantpath_base::Duration;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{Config, Function, Mtp3LinkId, SequenceNumbers, Spread};

use super::network::{Network, link_set, node, route};

/// Two points with three links.
fn pair(sequence: SequenceNumbers) -> Vec<Config> {
    vec![
        node(1, Function::EndPoint, vec![link_set(2, 3, sequence)]),
        node(2, Function::EndPoint, vec![link_set(1, 3, sequence)]),
    ]
}

/// Two end points, each with a link to each of two transfer points that are joined as well: a quad.
fn quad(sequence: SequenceNumbers) -> Vec<Config> {
    let end = |code: u32, far: u32, bit: u8| {
        let sets = vec![link_set(11, 2, sequence), link_set(12, 2, sequence)];
        let mut config = node(code, Function::EndPoint, sets);
        config.sharing_bit = bit;
        config.destinations = vec![
            route(far, &[(11, 0), (12, 0)]),
            route(11, &[(11, 0), (12, 1)]),
            route(12, &[(12, 0), (11, 1)]),
        ];
        config
    };
    let transfer = |code: u32, mate: u32| {
        let sets = vec![link_set(1, 2, sequence), link_set(2, 2, sequence), link_set(mate, 2, sequence)];
        let mut config = node(code, Function::TransferPoint, sets);
        config.destinations = vec![route(1, &[(1, 0), (mate, 1)]), route(2, &[(2, 0), (mate, 1)])];
        config
    };
    vec![end(1, 2, 3), end(2, 1, 3), transfer(11, 12), transfer(12, 11)]
}

/// Every message that was delivered, by stream, as its number.
fn streams(network: &Network) -> BTreeMap<(PointCode, PointCode, u8), Vec<u32>> {
    let mut streams: BTreeMap<_, Vec<u32>> = BTreeMap::new();
    for (_, transfer) in &network.delivered {
        let number = u32::from_be_bytes(transfer.user_data.as_ref().try_into().unwrap());
        let stream = (transfer.label.opc, transfer.label.dpc, transfer.label.sls.0);
        streams.entry(stream).or_default().push(number);
    }
    streams
}

/// The numbers of the messages of each stream: origin, destination, selection.
pub(crate) type Sent = BTreeMap<(u32, u32, u8), Vec<u32>>;

/// Of each property.
pub(crate) const CASES: u32 = 200;

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Acknowledge(usize, usize),
    Activate(usize, usize),
    Break(usize, usize),
    Deactivate(usize, usize),
    Deliver(usize, usize, u8),
    Inhibit(usize, usize),
    Mend(usize),
    Run(u64),
    Send(usize, u8),
    Uninhibit(usize, usize),
}

pub(crate) fn any_step(wires: usize) -> impl Strategy<Value = Step> {
    prop_oneof![
        30 => (0..2_usize, 0..16_u8).prop_map(|(from, sls)| Step::Send(from, sls)),
        20 => (0..wires, 0..2_usize, 1..6_u8).prop_map(|(at, side, count)| Step::Deliver(at, side, count)),
        8 => (0..wires, 0..2_usize).prop_map(|(at, side)| Step::Acknowledge(at, side)),
        3 => (0..wires, 0..2_usize).prop_map(|(at, side)| Step::Break(at, side)),
        3 => (0..wires).prop_map(Step::Mend),
        4 => (1..3_000_u64).prop_map(Step::Run),
    ]
}

/// Variant of [`any_step`] with steps of management.
fn any_step_of_management(wires: usize) -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => any_step(wires),
        1 => (0..wires, 0..2_usize).prop_map(|(at, side)| Step::Inhibit(at, side)),
        1 => (0..wires, 0..2_usize).prop_map(|(at, side)| Step::Uninhibit(at, side)),
        1 => (0..wires, 0..2_usize).prop_map(|(at, side)| Step::Deactivate(at, side)),
        1 => (0..wires, 0..2_usize).prop_map(|(at, side)| Step::Activate(at, side)),
    ]
}

/// Plays the steps, never breaking more than `most` wires at a time, and lets everything settle.
pub(crate) fn play(configs: Vec<Config>, steps: &[Step], most: usize) -> (Network, Sent) {
    let mut network = Network::new(configs);
    network.activate_all();
    let mut sent = Sent::new();
    for (number, step) in (0_u32..).zip(steps) {
        match *step {
            Step::Send(from, sls) => {
                let (opc, dpc) = if from == 0 { (1, 2) } else { (2, 1) };
                if network.send(from, dpc, sls, number) {
                    sent.entry((opc, dpc, sls)).or_default().push(number);
                }
            }
            Step::Deliver(at, side, count) => {
                for _ in 0..count {
                    network.deliver(at, side);
                }
            }
            Step::Acknowledge(at, side) => network.acknowledge(at, side),
            Step::Break(at, first) => {
                if network.unavailable_wires_beside(at) < most && !network.wires[at].is_broken {
                    network.break_wire(at, first);
                }
            }
            Step::Mend(at) => {
                // Aligning and proving takes longer than what is on its way over the other links.
                network.run(Duration::ZERO);
                network.mend_wire(at);
            }
            Step::Inhibit(at, side) => {
                let (node, link) = network.wires[at].ends[side];
                // A refusal is an answer too.
                let _ = network.nodes[node].inhibit(network.now, link);
                network.drain();
            }
            Step::Uninhibit(at, side) => {
                let (node, link) = network.wires[at].ends[side];
                network.nodes[node].uninhibit(network.now, link);
                network.drain();
            }
            Step::Deactivate(at, side) => {
                let (node, link) = network.wires[at].ends[side];
                network.nodes[node].deactivate(network.now, link);
                network.drain();
            }
            Step::Activate(at, side) => {
                network.run(Duration::ZERO);
                let (node, link) = network.wires[at].ends[side];
                network.nodes[node].activate(network.now, link);
                network.drain();
            }
            Step::Run(ms) => network.run(Duration::from_millis(ms)),
        }
    }
    for at in 0..network.wires.len() {
        network.run(Duration::ZERO);
        network.mend_wire(at);
    }
    network.run(Duration::from_secs(60));
    (network, sent)
}

fn counted(network: &Network, count: impl Fn(&slantpath_ss7::mtp3::node::Counters) -> u64) -> u64 {
    network.nodes.iter().map(|node| count(node.counters())).sum()
}

/// In order, and never twice.
pub(crate) fn assert_in_order(network: &Network) -> Result<(), TestCaseError> {
    for (stream, numbers) in streams(network) {
        prop_assert!(numbers.is_sorted_by(|a, b| a < b), "{stream:?} {numbers:?}");
    }
    Ok(())
}

pub(crate) fn assert_whole(network: &Network, sent: &Sent) -> Result<(), TestCaseError> {
    let delivered = streams(network);
    for ((opc, dpc, sls), numbers) in sent {
        let got = delivered.get(&(PointCode(*opc), PointCode(*dpc), *sls));
        prop_assert_eq!(got, Some(numbers), "from {} to {} with SLS {}", opc, dpc, sls);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn while_a_link_is_left_everything_arrives_once_and_in_order(
        steps in proptest::collection::vec(any_step(3), 1..400),
        is_extended: bool,
    ) {
        let sequence = if is_extended { SequenceNumbers::Bits24 } else { SequenceNumbers::Bits7 };
        let (network, sent) = play(pair(sequence), &steps, 1);
        prop_assert_eq!(counted(&network, |counters| counters.unsequenced_changeovers), 0);
        prop_assert_eq!(counted(&network, |counters| counters.timed_changeovers), 0);
        assert_in_order(&network)?;
        assert_whole(&network, &sent)?;
    }

    #[test]
    fn whatever_fails_nothing_is_repeated_or_overtaken(
        steps in proptest::collection::vec(any_step(3), 1..400),
    ) {
        let (network, sent) = play(pair(SequenceNumbers::Bits7), &steps, 3);
        assert_in_order(&network)?;
        let is_sequenced = counted(&network, |c| c.unsequenced_changeovers + c.timed_changeovers) == 0
            && counted(&network, slantpath_ss7::mtp3::node::Counters::discarded_in_all) == 0;
        if is_sequenced {
            assert_whole(&network, &sent)?;
        }
        for node in &network.nodes {
            prop_assert_eq!(node.waiting(), 0);
        }
    }

    #[test]
    fn whatever_management_does_nothing_is_repeated_or_overtaken(
        steps in proptest::collection::vec(any_step_of_management(3), 1..400),
    ) {
        let (network, _) = play(pair(SequenceNumbers::Bits24), &steps, 3);
        assert_in_order(&network)?;
        for node in &network.nodes {
            prop_assert_eq!(node.waiting(), 0);
        }
    }

    #[test]
    fn a_quad_with_one_failure_at_a_time_loses_nothing(
        steps in proptest::collection::vec(any_step(10), 1..300),
    ) {
        let (network, sent) = play(quad(SequenceNumbers::Bits24), &steps, 1);
        assert_in_order(&network)?;
        assert_whole(&network, &sent)?;
    }

    #[test]
    fn a_quad_with_many_failures_accounts_for_every_message(
        steps in proptest::collection::vec(any_step(10), 1..300),
    ) {
        let (network, sent) = play(quad(SequenceNumbers::Bits7), &steps, 10);
        let accepted: usize = sent.values().map(Vec::len).sum();
        let delivered = network.delivered.len();
        let is_sequenced = counted(&network, |c| c.unsequenced_changeovers + c.timed_changeovers) == 0;
        let discarded = counted(&network, slantpath_ss7::mtp3::node::Counters::discarded_in_all);
        prop_assert!(delivered <= accepted, "{delivered} of {accepted}");
        let missing = (accepted - delivered) as u64;
        prop_assert!(!is_sequenced || missing <= discarded, "{missing} missing, {discarded} discarded");
        for node in &network.nodes {
            prop_assert_eq!(node.waiting(), 0);
        }
    }
}

#[test]
fn what_comes_back_from_a_link_goes_before_what_its_changeback_held() {
    // Link 2 is back at one end only when link 1, whose traffic is about to change back to it, fails too.
    let steps = [
        Step::Break(2, 0),
        Step::Break(0, 0),
        Step::Run(1),
        Step::Mend(2),
        Step::Send(0, 0),
        Step::Deliver(2, 1, 1),
        Step::Send(1, 2),
        Step::Deliver(2, 0, 2),
        Step::Send(1, 2),
        Step::Break(1, 0),
    ];
    let (network, _) = play(pair(SequenceNumbers::Bits7), &steps, 3);
    assert_in_order(&network).unwrap();
}

#[test]
fn an_order_for_a_link_that_failed_in_its_test_gets_the_number_of_its_last_life() {
    // Link 1 is back, tested at one end only, and used by it, when it fails again.
    let steps = [
        Step::Break(1, 0),
        Step::Mend(1),
        Step::Send(0, 0),
        Step::Deliver(1, 1, 1),
        Step::Deliver(1, 0, 2),
        Step::Deliver(2, 1, 1),
        Step::Deliver(2, 0, 1),
        Step::Send(1, 1),
        Step::Break(1, 0),
    ];
    let (network, sent) = play(pair(SequenceNumbers::Bits7), &steps, 1);
    assert_whole(&network, &sent).unwrap();
}

#[test]
fn a_transfer_point_spreads_by_the_code_of_the_link_that_a_message_came_by_if_it_is_told_to() {
    // 16 and 14 lines to two end points, eight links to the third.
    let lines = |far, count| link_set(far, count, SequenceNumbers::Bits7);
    let end = |code, count| {
        let mut config = node(code, Function::EndPoint, vec![lines(11, count)]);
        config.destinations = vec![route(3, &[(11, 0)])];
        config
    };
    let mut gateway = node(11, Function::TransferPoint, vec![lines(1, 16), lines(2, 14), lines(3, 8)]);
    let shares = |gateway: Config, selections: [u8; 2]| -> Vec<u64> {
        let ends = vec![end(1, 16), end(2, 14), gateway, node(3, Function::EndPoint, vec![lines(11, 8)])];
        let mut network = Network::new(ends);
        network.activate_all();
        let received = |network: &Network| -> Vec<u64> {
            (0..8).map(|link| network.nodes[3].link_measurements(Mtp3LinkId(link)).received_msus).collect()
        };
        let before = received(&network);
        for (from, selections) in selections.into_iter().enumerate() {
            for sls in 0..selections {
                assert!(network.send(from, 3, sls, u32::from(sls)));
            }
        }
        network.run(Duration::from_secs(1));
        received(&network).iter().zip(before).map(|(after, before)| after - before).collect()
    };
    // A selection for each line: thirty lines over eight associations.
    let thirty = [4, 4, 4, 4, 4, 4, 3, 3];
    assert_eq!(shares(gateway.clone(), [16, 14]), thirty);
    // All sixteen at both: the first two of fourteen lines carry two each, and selections are even all the same.
    assert_eq!(shares(gateway.clone(), [16, 16]), [4; 8]);
    gateway.spread = Spread::LinkCode;
    assert_eq!(shares(gateway.clone(), [16, 14]), thirty);
    assert_eq!(shares(gateway, [16, 16]), [5, 5, 4, 4, 4, 4, 3, 3]);
}

#[test]
fn what_comes_over_one_association_goes_over_all_lines() {
    // A gateway with an association to the left, and sixteen lines to the right.
    let association = |far| link_set(far, 1, SequenceNumbers::Bits24);
    let lines = |far| link_set(far, 16, SequenceNumbers::Bits7);
    let mut left = node(1, Function::EndPoint, vec![association(11)]);
    left.destinations = vec![route(3, &[(11, 0)])];
    let mut gateway = node(11, Function::TransferPoint, vec![association(1), lines(3)]);
    gateway.spread = Spread::LinkCode;
    let mut network = Network::new(vec![left, gateway, node(3, Function::EndPoint, vec![lines(11)])]);
    network.activate_all();
    let received = |network: &Network| -> Vec<u64> {
        (0..16).map(|link| network.nodes[2].link_measurements(Mtp3LinkId(link)).received_msus).collect()
    };
    let before = received(&network);
    for sls in 0..16 {
        assert!(network.send(0, 3, sls, u32::from(sls)));
    }
    network.run(Duration::from_secs(1));
    let shares: Vec<u64> =
        received(&network).iter().zip(before).map(|(after, before)| after - before).collect();
    assert_eq!(shares, [1; 16]);
}
