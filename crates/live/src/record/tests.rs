use super::*;

/// A host that answers every packet by its length, and notes its calls.
#[derive(Default)]
struct Parrot {
    calls: Vec<String>,
    answers: Vec<u8>,
}

impl EndSystem for Parrot {
    fn handle_packet(&mut self, now: Instant, interface: InterfaceId, packet: &mut Packet) {
        self.calls.push(format!("{now} {} {:?}", interface.number(), packet.contiguous()));
        self.answers.push(u8::try_from(packet.len()).unwrap());
    }

    fn handle_address(&mut self, now: Instant, news: AddressNews) {
        self.calls.push(format!("{now} {news:?}"));
    }

    fn handle_deadline(&mut self, now: Instant) {
        self.calls.push(format!("{now} due"));
    }

    fn poll_transmit(&mut self, _now: Instant, packet: &mut Packet) -> Option<InterfaceId> {
        *packet = Packet::copied(&[self.answers.pop()?], Checksum::Complete);
        Some(InterfaceId::new(0))
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}

fn record() -> Vec<u8> {
    let mut recorder = Recorder::new([7; 32]);
    recorder.start(Instant::from_millis(1));
    recorder.packet(Instant::from_millis(2), InterfaceId::new(3), b"abc");
    recorder.deadline(Instant::from_millis(2));
    let addresses: [IpAddr; 2] = [[10, 0, 0, 1].into(), "fd00::1".parse().unwrap()];
    recorder.address(Instant::from_millis(3), AddressNews::Back(addresses[0]));
    recorder.address(Instant::from_millis(3), AddressNews::Added(addresses[1], InterfaceId::new(7)));
    recorder.address(Instant::from_millis(4), AddressNews::Removed(addresses[1]));
    let mut first = recorder.take();
    recorder.command(Instant::from_millis(5), 9);
    recorder.order(Instant::from_millis(5), 2, " turn left");
    first.extend(recorder.take());
    first
}

#[test]
fn a_host_is_told_what_was_told_and_when() {
    let record = record();
    let replay = Replay::new(&record).unwrap();
    assert_eq!(replay.secret(), [7; 32]);
    let mut parrot = Parrot::default();
    let digest = replay
        .run(&mut parrot, |parrot, now, number, words| {
            parrot.calls.push(format!("{now} command {number}{}", String::from_utf8_lossy(words)));
        })
        .unwrap();
    assert_eq!(
        parrot.calls,
        [
            "0.002000000 s 3 b\"abc\"",
            "0.002000000 s due",
            "0.003000000 s Back(10.0.0.1)",
            "0.003000000 s Added(fd00::1, InterfaceId(7))",
            "0.004000000 s Removed(fd00::1)",
            "0.005000000 s command 9",
            "0.005000000 s command 2 turn left"
        ]
    );
    assert_eq!(digest.packets(), 1);
}

#[test]
fn what_a_record_says_of_the_run_is_read_again_and_its_digest_held_against_the_repetition() {
    let mut recorder = Recorder::new([7; 32]);
    recorder.about("a parrot");
    let mut record = recorder.take();
    assert_eq!(Replay::new(&record).unwrap().about().as_deref(), Some("a parrot"));
    recorder.packet(Instant::from_millis(2), InterfaceId::new(3), b"abc");
    record.extend(recorder.take());
    let replayed = |record: &[u8]| {
        let mut behind = Vec::new();
        let watch = |_: &mut Parrot, at: Instant| behind.push(at.as_nanos());
        let replayed =
            Replay::new(record).unwrap().run_watched(&mut Parrot::default(), |_, _, _, _| {}, watch);
        (replayed.unwrap(), behind)
    };
    let (cut_off, behind) = replayed(&record);
    assert_eq!((cut_off.is_same(), cut_off.recorded.clone(), behind), (false, None, vec![2_000_000]));
    let mut another = recorder.clone();
    recorder.digest(Instant::from_millis(3), &cut_off.digest);
    let (whole, _) = replayed(&[record.clone(), recorder.take()].concat());
    assert!(whole.is_same());
    another.digest(Instant::from_millis(3), &Digest::default());
    let (other, _) = replayed(&[record, another.take()].concat());
    assert!(!other.is_same());
}

/// A host that has a question behind each packet.
#[derive(Default)]
struct Curious {
    question: Option<[IpAddr; 1]>,
    answers: Vec<Vec<Vec<IpAddr>>>,
}

impl EndSystem for Curious {
    fn handle_packet(&mut self, _now: Instant, _interface: InterfaceId, _packet: &mut Packet) {
        self.question = Some([[10, 0, 0, 9].into()]);
    }

    fn route_question(&self) -> Option<&[IpAddr]> {
        self.question.as_ref().map(|question| &question[..])
    }

    fn answer_routes(&mut self, _now: Instant, sources: &[Vec<IpAddr>]) {
        self.question = None;
        self.answers.push(sources.to_vec());
    }

    fn handle_deadline(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, _now: Instant, _packet: &mut Packet) -> Option<InterfaceId> {
        assert!(self.question.is_none(), "it is polled before it has its answer");
        None
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}

#[test]
fn what_a_host_asked_of_routes_is_answered_as_it_was_and_not_at_all_where_nobody_did() {
    let sources: Vec<Vec<IpAddr>> = vec![vec![[10, 0, 0, 1].into(), "fd00::1".parse().unwrap()], vec![]];
    let mut recorder = Recorder::new([7; 32]);
    recorder.packet(Instant::from_millis(1), InterfaceId::new(0), b"a");
    recorder.routes(Instant::from_millis(1), &sources);
    recorder.packet(Instant::from_millis(2), InterfaceId::new(0), b"b");
    recorder.deadline(Instant::from_millis(3));
    let record = recorder.take();
    let mut curious = Curious::default();
    Replay::new(&record).unwrap().run(&mut curious, |_, _, _, _| {}).unwrap();
    assert_eq!(curious.answers, [sources, vec![]]);
    // A host that does not ask passes over the answer.
    let digest = Replay::new(&record).unwrap().run(&mut Parrot::default(), |_, _, _, _| {}).unwrap();
    assert_eq!(digest.packets(), 2);
}

#[test]
fn a_record_is_repeated_up_to_where_it_is_cut() {
    // One whose entries are not in blocks: the container's own tests cut blocks.
    let container = record();
    let record = [&MAGIC[..], &content(&container[..]).unwrap().0].concat();
    let mut whole = Vec::new();
    for len in 0..=record.len() {
        let replay = match Replay::new(&record[..len]) {
            Err(error) => {
                assert_eq!((error, len < 48), (ReplayError::NotARecord, true));
                continue;
            }
            Ok(replay) => replay,
        };
        let replayed = replay.run_watched(&mut Parrot::default(), |_, _, _, _| {}, |_, _| {}).unwrap();
        if replayed.is_cut {
            // As it was behind the last whole entry.
            let before = Replayed { is_cut: true, ..whole.last().cloned().unwrap() };
            assert_eq!(replayed, before, "{len}");
        } else {
            whole.push(replayed);
        }
    }
    assert_eq!(whole.len(), 9, "an empty one, and one behind each entry");
    let repeated = |record: &[u8]| {
        let replay = Replay::new(record).unwrap();
        replay.run_watched(&mut Parrot::default(), |_, _, _, _| {}, |_, _| {}).unwrap()
    };
    // The last block, with the last entry alone.
    let before = Replayed { is_cut: true, ..whole[6].clone() };
    assert_eq!(
        (repeated(&container), repeated(&container[..container.len() - 1])),
        (whole[7].clone(), before)
    );
    for place in 0..container.len() {
        let mut changed = container.clone();
        changed[place] ^= 1;
        assert!(Replay::new(&changed).is_err(), "byte {place}");
    }
    let unknown = [&MAGIC[..], &[0; 32], &[10; 9]].concat();
    let replayed = Replay::new(&unknown).unwrap().run(&mut Parrot::default(), |_, _, _, _| {});
    assert_eq!(replayed, Err(ReplayError::UnknownEntry(10)));
    let unknown = [&MAGIC[..], &[0; 32], &[kind::ADDRESS], &[0; 8], &[9]].concat();
    let replayed = Replay::new(&unknown).unwrap().run(&mut Parrot::default(), |_, _, _, _| {});
    assert_eq!(replayed, Err(ReplayError::UnknownNews(9)));
}
