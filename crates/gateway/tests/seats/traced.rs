//! Traces of messages at seats.

use slantpath_base::Instant;
use slantpath_control::{ControlEvent, Refusal, TracedMessage};
use slantpath_signalling::{ScreeningAction, ScreeningCriteria, ScreeningRule};

use super::fixture::{Lab, code, lab_of_m3ua};

/// An instant at which everything is up, and the loads on their way.
const UP: Instant = Instant::from_secs(40);

fn trace(lab: &mut Lab, seat: usize, keys: &[(&str, &str)]) -> Result<(), Refusal> {
    let pairs = keys.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    lab.seat(seat).trace_messages(&pairs)
}

/// Everything that a trace has told, and whether it is over.
fn told(lab: &mut Lab, seat: usize) -> (Vec<TracedMessage>, bool) {
    let now = lab.now();
    let (mut messages, mut is_over) = (Vec::new(), false);
    while let Some(event) = lab.seat(seat).poll_traced(now) {
        match event {
            ControlEvent::Message(message) => messages.push(message),
            ControlEvent::TraceEnded { at_s } => {
                assert_eq!(at_s, now.since_start().as_secs_f64());
                is_over = true;
            }
            other => panic!("{other:?}"),
        }
    }
    (messages, is_over)
}

fn go_on(lab: &mut Lab) {
    let now = lab.now();
    lab.run_until(Instant::from_millis(now.since_start().as_millis() + 2_000));
}

fn events(messages: &[TracedMessage]) -> Vec<(&str, &str)> {
    messages.iter().map(|message| (message.event, message.association.as_str())).collect()
}

#[test]
fn a_message_is_traced_from_where_it_comes_to_where_it_leaves() {
    let mut lab = lab_of_m3ua();
    lab.run_until(UP);
    trace(&mut lab, 1, &[("point", "behind"), ("messages", "8")]).expect("it begins");
    go_on(&mut lab);
    let (messages, is_over) = told(&mut lab, 1);
    assert!(is_over && messages.len() == 16, "{messages:#?}");
    for pair in messages.chunks(2) {
        let [came, left] = pair else { panic!("pairs") };
        let ends = if came.from == "point-0" { ["point-0", "behind"] } else { ["behind", "point-0"] };
        for message in [came, left] {
            assert_eq!([message.from.as_str(), message.to.as_str()], ends);
            assert_eq!((message.service.as_str(), message.octets), ("ISUP", came.octets));
            assert_eq!((&message.called, &message.calling, &message.reason), (&None, &None, &None));
        }
        let [over, on] = if ends[0] == "point-0" { ["3565", "2905"] } else { ["2905", "3565"] };
        let name = |port: &str| format!("port-{port}");
        assert_eq!(events(pair), [("arrived", &name(over)[..]), ("left", &name(on)[..])]);
        assert_eq!((came.after_s, left.after_s), (None, Some(left.at_s - came.at_s)));
    }
    assert!(messages.iter().any(|message| message.from == "behind"), "both ways");
    go_on(&mut lab);
    assert_eq!(told(&mut lab, 1), (Vec::new(), false));
}

#[test]
fn a_message_that_goes_no_further_is_told_with_what_has_become_of_it() {
    let mut lab = lab_of_m3ua();
    let (mut config, ways) = lab.config();
    lab.run_until(UP);
    // At the process it comes to its user; what its user sends has not come.
    trace(&mut lab, 2, &[("point", "point-0"), ("messages", "20")]).expect("it begins");
    go_on(&mut lab);
    let (messages, is_over) = told(&mut lab, 2);
    assert!(is_over);
    let of = |event: &str| messages.iter().filter(|message| message.event == event).collect::<Vec<_>>();
    assert_eq!((of("arrived").len(), of("arrived").len() + of("left").len()), (of("delivered").len(), 20));
    assert!(!of("delivered").is_empty() && of("delivered").iter().all(|message| message.from == "point-0"));
    assert!(
        !of("left").is_empty() && of("left").iter().all(|own| own.after_s.is_none() && own.from == "behind")
    );
    // At the gateway a rule of screening ends it.
    let criteria = ScreeningCriteria { opcs: vec![code(0)], ..ScreeningCriteria::default() };
    let (name, action) = ("closed".to_owned(), ScreeningAction::Discard);
    config.points[1].screening.rules = vec![ScreeningRule { name, criteria, action, copies: false }];
    lab.reload(1, &config, &ways).expect("it is taken");
    go_on(&mut lab);
    trace(&mut lab, 1, &[("point", "1"), ("messages", "9")]).expect("it begins");
    go_on(&mut lab);
    let (messages, _) = told(&mut lab, 1);
    let discarded: Vec<_> = messages.iter().filter(|message| message.event == "discarded").collect();
    assert!(!discarded.is_empty(), "{messages:#?}");
    for message in discarded {
        assert_eq!((message.from.as_str(), message.to.as_str()), ("point-0", "behind"));
        assert_eq!((message.reason.as_deref(), message.after_s), (Some("screening closed"), Some(0.0)));
    }
}

#[test]
fn a_trace_ends_when_nobody_hears_it_and_what_cannot_be_traced_is_refused() {
    let mut lab = lab_of_m3ua();
    lab.run_until(UP);
    trace(&mut lab, 1, &[("point", "behind")]).expect("it begins");
    go_on(&mut lab);
    lab.seat(1).end_trace();
    assert_eq!(told(&mut lab, 1), (Vec::new(), false));
    let mut refused = |keys: &[(&str, &str)]| {
        let refusal = trace(&mut lab, 1, keys).expect_err("it is refused");
        format!("{}: {}", refusal.message, refusal.help.expect("a cure"))
    };
    assert_eq!(
        refused(&[("messages", "3")]),
        "neither title nor point: write `title`, as `4917*`, or `point`, or both"
    );
    assert_eq!(
        refused(&[("points", "a")]),
        "there is no key `points`: there is `messages`, `point`, `title`"
    );
    assert_eq!(
        refused(&[("point", "nowhere")]),
        "there is no point `nowhere`: there is `point-0`, `point-1`, `behind`"
    );
    for number in ["0", "10001", "many"] {
        let words = format!("`messages` is {number}: write a number from 1 to 10000");
        assert_eq!(refused(&[("point", "behind"), ("messages", number)]), words);
    }
    assert!(refused(&[("title", "49x*")]).ends_with(": write digits like 4917123456, or 4917*"));
}
