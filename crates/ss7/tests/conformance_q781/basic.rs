//! Q.781, section 8.2: the basic method asks for what is missing.

use crate::bench::{Bench, basic, fisu, msu, time_of};

#[test]
fn case_8_2() {
    let mut bench = Bench::in_service(basic());
    bench.give([0, 1]);
    bench.pass(time_of(60));
    assert_eq!(bench.sent(), [msu(0xff, 0x80), msu(0xff, 0x81), fisu(0xff, 0x81)]);
    bench.peer(fisu(0x7f, 0xff));
    bench.pass(time_of(60));
    assert_eq!(bench.sent(), [msu(0xff, 0x00), msu(0xff, 0x01), fisu(0xff, 0x01)], "with the bit inverted");
    // The same indicator bit asks for nothing more.
    bench.peer(fisu(0x7f, 0xff));
    bench.pass(time_of(60));
    assert_eq!(bench.sent(), []);
    bench.peer(fisu(0x01, 0xff));
    bench.expect_in_service();
    assert_eq!(bench.link.queued(), 0);
}
