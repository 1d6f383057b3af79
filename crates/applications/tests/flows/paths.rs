//! SCTP over two links of which one is dead, in both directions or only on the way back.

use super::fixture::{constant_rate, direction, run, sender};
use slantpath_base::{Duration, Instant, Probability, Seed};
use slantpath_host::Protocol;
use slantpath_sctp::SctpConfig;

/// RTO.Min as long as the delay of a SACK, and few errors until a path is given up.
fn impatient() -> Protocol {
    let two_hundred = Duration::from_millis(200);
    let config = SctpConfig {
        rto_min: two_hundred,
        sack_delay: two_hundred,
        path_max_retrans: 2,
        ..SctpConfig::default()
    };
    Protocol::Sctp(Box::new(config))
}

#[test]
fn over_a_primary_that_was_never_there_the_alternate_sets_up_and_takes_over() {
    let mut dead = [direction("10 Mbit/s", "10 ms"), direction("10 Mbit/s", "10 ms")];
    for way in &mut dead {
        way.loss = Probability::new(1.0).unwrap();
    }
    let alternate = [direction("10 Mbit/s", "10 ms"), direction("10 Mbit/s", "10 ms")];
    let config = sender(constant_rate(100, "100 ms"));
    let outcome = run(&[dead, alternate], impatient(), config, Seed::new(1, 0), Duration::from_secs(20));
    let first = outcome.received.messages[0].delivered;
    // The INIT to the alternate leaves after RTO.Initial, and the setup is done four ways of 10 ms later. DATA begins
    // there, since the alternate has answered, and nothing ever waits for the primary.
    assert!(first >= Instant::from_millis(1_050) && first < Instant::from_millis(1_052), "{first}");
    let sent_once_up =
        outcome.received.messages.iter().filter(|message| message.delivered > Instant::from_millis(1_060));
    for message in sent_once_up {
        let sent = outcome.sent.messages[message.number as usize].sent;
        assert!(message.delivered - sent < Duration::from_millis(20), "message {}", message.number);
    }
    assert!(outcome.received.messages_delivered >= 190, "{}", outcome.received.messages_delivered);
}

#[test]
fn where_only_the_way_back_of_the_primary_is_dead_the_flow_keeps_its_rate() {
    let mut primary = [direction("10 Mbit/s", "50 ms"), direction("10 Mbit/s", "50 ms")];
    primary[1].loss = Probability::new(1.0).unwrap();
    let alternate = [direction("10 Mbit/s", "150 ms"), direction("10 Mbit/s", "150 ms")];
    let config = sender(constant_rate(1_000, "20 ms"));
    let outcome = run(&[primary, alternate], impatient(), config, Seed::new(1, 0), Duration::from_secs(20));
    // Setting up takes RTO.Initial and four ways of 150 ms, which leaves 18.4 s for 920 messages; those of the last
    // 150 ms are on their way over the alternate.
    assert!(outcome.received.messages_delivered >= 912, "{}", outcome.received.messages_delivered);
}
