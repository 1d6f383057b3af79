//! Routing by global title: a point in the middle translates.

use std::collections::BTreeMap;

use slantpath_base::Duration;
use slantpath_signalling::network::{self, NetworkConfig, PointEnd, PointId};
use slantpath_ss7::load::{ByTitle, Lengths};
use slantpath_ss7::mtp3::NetworkIndicator;
use slantpath_ss7::mtp3::node::{Function, Mtp3LinkId, SequenceNumbers};
use slantpath_ss7::sccp::gtt::{
    Conditions, DigitPattern, Entity, Group, RouteOn, Rule, Sharing, TitleChange, Translator,
};
use slantpath_ss7::sccp::{Digits, GlobalTitle, NodeConfig, PartyAddress, Ssn, Subsystem};

use crate::fixture::{code, direction, line, load, point, run, settle};

const HLR: Ssn = Ssn(6);

#[test]
fn messages_by_global_title_pass_the_translator_to_the_subsystem() {
    let bits = SequenceNumbers::Bits7;
    let mut points =
        vec![point(0, &[(1, 1, bits)]), point(1, &[(0, 1, bits), (2, 1, bits)]), point(2, &[(1, 1, bits)])];
    points[1].mtp3.function = Function::TransferPoint;
    let entity = Entity { point_code: code(2), ssn: Some(HLR), routing: RouteOn::Ssn, weight: 1 };
    let group = Group { name: "hlr".to_owned(), sharing: Sharing::Dominant, entities: vec![entity] };
    let rule = Rule {
        name: "germany".to_owned(),
        digits: DigitPattern::parse("49*").unwrap(),
        conditions: Conditions::default(),
        change: TitleChange::default(),
        group: "hlr".to_owned(),
    };
    let mut translating = NodeConfig::new(code(1), NetworkIndicator::International);
    translating.translator = Translator::new(vec![rule], vec![group]).unwrap();
    points[1].sccp = Some(translating);
    let mut receiving = NodeConfig::new(code(2), NetworkIndicator::International);
    receiving.subsystems = BTreeMap::from([(HLR, Subsystem::default())]);
    points[2].sccp = Some(receiving);
    let link = |name: &str, ends: [(usize, u16); 2]| network::LinkConfig {
        name: name.to_owned(),
        ends: ends.map(|(point, link)| PointEnd { point: PointId(point), link: Mtp3LinkId(link) }),
        carrier: line("5 ms", 0.0),
    };
    let mut load = load(1, 0.3, "20 s", "80 s");
    let title = GlobalTitle::with(Some(0), Some(1), Some(4), Digits::parse("4912345678").unwrap());
    load.generator.lengths = Lengths::Fixed(120);
    load.generator.routing = slantpath_ss7::load::Routing::GlobalTitle(ByTitle {
        translator: code(1),
        called: vec![PartyAddress { ssn: Some(HLR), global_title: Some(title), ..PartyAddress::default() }],
        calling: PartyAddress { routes_on_ssn: true, ssn: Some(Ssn(7)), ..PartyAddress::default() },
    });
    (load.destinations, load.subsystem) = (vec![code(2)], Some(HLR));
    let config = NetworkConfig {
        points,
        links: vec![link("near", [(0, 0), (1, 0)]), link("far", [(1, 1), (2, 0)])],
        loads: vec![load],
        ..NetworkConfig::default()
    };
    let mut run = run(config, &direction("1 Mbit/s", "1 ms"), &[], "100 s");
    let reports = run.reports();
    let [sent, rest @ ..] = settle(&reports);
    assert!(sent > 1_000, "{sent}");
    assert_eq!(rest, [0, 0, 0], "{:?}", run.simulation.signalling().sccp_counters(PointId(1)));
    // Two lines: twice 15 ms and twice 5 ms.
    assert!(reports[0].delay_min.unwrap() >= Duration::from_millis(40), "{reports:?}");
    assert_eq!(run.simulation.signalling().messages_of_no_load(), 0);
}
