//! Two gateways with one point code, at one point.

use slantpath_base::Instant;

use super::fixture::{END, lab_of_twins};

/// Time for which a message may be at the twin that ends.
const HELD_MS: u32 = 50;

/// A test of a link has the point codes of both ends and its link code (Q.707): each twin answers it, so that MTP3
/// takes the two for one point. What one of them held stays there once its link fails: the other one knows no such
/// link, and the changeover ends by time, or by an answer without a number (Q.704, sections 5.5 to 5.7).
#[test]
fn two_with_one_code_are_one_point_to_a_third_and_each_has_its_part_of_the_traffic() {
    let mut lab = lab_of_twins();
    lab.run_until(Instant::from_secs(40));
    let available = lab.status(0).links.iter().filter(|link| link.is_available).count();
    assert_eq!(available, 2);
    let halves = [1, 2].map(|twin| lab.seat(twin).report().arrived);
    assert!(halves.iter().all(|arrived| *arrived > 500), "{halves:?}");
    lab.stop(1);
    lab.run_until(END);
    let now = lab.now();
    let sent: u64 = lab.seat(0).load_reports(now, 0).iter().map(|link| link.report.sent).sum();
    let [first, second] = [1, 2].map(|twin| lab.seat(twin).report().arrived);
    let told = lab.happened_at(0, Instant::from_secs(40));
    let changed_over = ["unavailable", "changeover-without-sequence", "traffic-diverted"];
    assert_eq!(told[..3], changed_over, "{told:?}");
    assert!(second > 2 * halves[1], "the other one has all of it: {halves:?} {second}");
    let [(_, ended), _] = &lab.seat(0).report().associations[..] else { unreachable!("it has two") };
    let lost = sent - first - second;
    assert!(lost <= ended.in_doubt + u64::from(HELD_MS) * sent / 20_000, "{lost} {ended:?}");
}
