//! 11: traffic test.

use slantpath_base::Duration;
use slantpath_ss7::mtp3::{Fsn, ManagementMessage as M};

use crate::tester::{B, D, F, Tester, configuration_b, configuration_d};

#[test]
fn q782_11_1_originated_traffic_in_order_on_every_link() {
    let mut tester = Tester::ready(configuration_b());
    for number in 0..10_000_u32 {
        tester.send(D, u8::try_from(number % 16).unwrap(), number);
        tester.pass(Duration::from_millis(1));
    }
    let carried = tester.carried();
    assert_eq!(carried.len(), 10_000);
    assert!(carried.is_sorted_by_key(|message| message.number));
    let on_first = carried.iter().filter(|message| message.over == 0).count();
    assert_eq!(on_first, 5_000);
    assert_eq!(tester.node.counters().discarded_in_all(), 0);
}

#[test]
fn q782_11_2_transferred_traffic_with_a_failure_in_between() {
    let mut tester = Tester::ready(configuration_d());
    for number in 0..5_000_u32 {
        tester.bring(4, F, D, u8::try_from(number % 16).unwrap(), number);
        if number == 200 {
            tester.fail(0);
        }
        if number == 300 {
            // B has all that link 0 was given: every second of 201.
            tester.say(1, B, 0, M::Coa(Fsn(101)));
        }
    }
    let mut numbers: Vec<_> = tester.carried().iter().map(|message| message.number).collect();
    numbers.sort_unstable();
    let missing: Vec<_> = (0..5_000).filter(|number| numbers.binary_search(number).is_err()).collect();
    assert_eq!((numbers.len(), missing), (5_000, vec![]), "each once");
    assert_eq!(tester.node.counters().transferred, 5_000);
}
