//! Units that the peer repeats: a copy of them is read where the state is new, and is nothing to wait for where it is
//! not.

use slantpath_base::{Duration, Instant};
use slantpath_ss7::link::{LinkIndication, LinkRequest};
use slantpath_ss7::mtp2::{Config, Header, Link, LinkState, LinkStatus, Output, SignalUnit};

/// A terminal whose peer is the test.
struct End {
    now: Instant,
    link: Link,
    indicated: Vec<LinkIndication>,
}

/// Numbers of a peer that has neither sent nor received a message.
const HEADER: Header = Header { bsn: 127, bib: true, fsn: 127, fib: true };
const FILL_IN: SignalUnit = SignalUnit::FillIn(HEADER);
/// Period of what the peer repeats: more than two units of the terminal's own take.
const PERIOD: Duration = Duration::from_millis(2);

const fn status(status: LinkStatus) -> SignalUnit {
    SignalUnit::Status(HEADER, status)
}

impl End {
    /// Proving has begun by what the peer repeats, and a copy of that has been read.
    fn proving(peer: LinkStatus) -> Self {
        let link = Link::new(Config::default()).unwrap();
        let mut end = Self { now: Instant::from_secs(1), link, indicated: Vec::new() };
        end.request(LinkRequest::Start);
        end.peer_repeats(status(LinkStatus::OutOfAlignment));
        end.peer_repeats(status(peer));
        end.pass(PERIOD);
        end
    }

    fn in_service() -> Self {
        let mut end = Self::proving(LinkStatus::Emergency);
        end.pass(Config::default().t4_emergency);
        end.peer_repeats(FILL_IN);
        end.pass(PERIOD);
        assert_eq!(end.link.state(), LinkState::InService);
        end.indicated.clear();
        end
    }

    fn request(&mut self, request: LinkRequest) {
        self.link.request(self.now, request);
        self.drain();
    }

    fn peer_repeats(&mut self, unit: SignalUnit) {
        self.pass(PERIOD);
        self.link.handle_unit(self.now, unit, Some(PERIOD));
        self.drain();
    }

    fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(at) = self.drain().filter(|at| *at <= until) {
            self.now = at;
        }
        self.now = until;
    }

    /// Does what is due, and gives the instant until which there is nothing more to do.
    fn drain(&mut self) -> Option<Instant> {
        loop {
            match self.link.poll_output(self.now) {
                Output::Indication(indication) => self.indicated.push(indication),
                Output::Transmit(_) => {}
                Output::Wait(deadline) => return deadline,
            }
        }
    }

    /// So many copies come of what the peer repeats, and each is waited for. Gives the instant that is waited for then.
    fn after_copies(&mut self, copies: u64) -> Option<Instant> {
        for _ in 0..copies {
            let next = self.now + PERIOD;
            assert_eq!(self.drain(), Some(next));
            self.pass(PERIOD);
        }
        self.drain()
    }
}

/// A reason for which proving begins anew.
type Cause<'a> = &'a dyn Fn(&mut End);

#[test]
fn proving_that_begins_anew_waits_for_the_end_of_its_period_and_for_no_copy_of_what_the_peer_says() {
    let Config { t4_normal, t4_emergency, proving_errors_normal, .. } = Config::default();
    let errors = |end: &mut End| {
        for _ in 0..proving_errors_normal {
            end.link.handle_errored_unit(end.now);
        }
    };
    let own_wish = |end: &mut End| end.link.request(end.now, LinkRequest::Emergency);
    let peers_wish =
        |end: &mut End| end.link.handle_unit(end.now, status(LinkStatus::Emergency), Some(PERIOD));
    let causes: [(Cause<'_>, Duration); 3] =
        [(&errors, t4_normal), (&own_wish, t4_emergency), (&peers_wish, t4_emergency)];
    for (number, (cause, period)) in causes.into_iter().enumerate() {
        let mut end = End::proving(LinkStatus::Normal);
        end.pass(t4_normal / 2);
        cause(&mut end);
        let ends = end.now + period;
        // A unit of its own ends first, before it says what it wants.
        end.pass(PERIOD / 2);
        assert_eq!(end.drain(), Some(ends), "cause {number}");
    }
}

#[test]
fn what_the_peer_repeats_in_a_processor_outage_is_told_once_and_its_copies_are_not_waited_for() {
    let mut end = End::in_service();
    for (unit, expected, copies) in [
        (status(LinkStatus::ProcessorOutage), LinkIndication::RemoteProcessorOutage, 1),
        (FILL_IN, LinkIndication::RemoteProcessorRecovered, 0),
    ] {
        end.peer_repeats(unit);
        assert_eq!(end.indicated, [expected]);
        // A copy of the first is read in the new state.
        assert_eq!(end.after_copies(copies), None);
        assert_eq!((end.link.state(), end.indicated.drain(..).len()), (LinkState::ProcessorOutage, 1));
    }
}

#[test]
fn what_the_peer_repeats_already_is_read_once_the_end_has_come_to_another_state() {
    let mut end = End::proving(LinkStatus::Emergency);
    // Its processor fails before this end is ready to hear of that.
    end.peer_repeats(status(LinkStatus::ProcessorOutage));
    end.pass(Config::default().t4_emergency - PERIOD * 3);
    assert_eq!((end.link.state(), end.indicated.as_slice()), (LinkState::InitialAlignment, &[][..]));
    end.pass(PERIOD * 2);
    let expected = [LinkIndication::InService, LinkIndication::RemoteProcessorOutage];
    assert_eq!((end.link.state(), end.indicated.as_slice()), (LinkState::ProcessorOutage, &expected[..]));
}
