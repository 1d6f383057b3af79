//! A story in words.

mod steps;

use std::io::{self, Write};
use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_sctp::{PathState, Unanswered, WaitReason, WindowCause};

use super::story::{AssociationStory, Idle, Loss, Message, MessageKey, MessagePart, PathStory, Sacks, Story};
use crate::field::Evidence;
use crate::header::{TraceHeader, TraceOrigin, TraceSettings};

/// Choice of the parts of a story that are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorySelection {
    /// Only this message.
    pub message: Option<u64>,
    /// Only what concerns this path.
    pub path: Option<IpAddr>,
    /// All steps and messages, however many there are.
    pub all: bool,
}

/// Number of steps, messages and spans that are told of each association, unless all are to be.
const STEPS_TOLD: usize = 200;
const MESSAGES_TOLD: usize = 20;
const IDLES_TOLD: usize = 20;

/// Writes what a trace has told.
pub fn tell(story: &Story, selection: StorySelection, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", of_what(&story.header))?;
    let end = if story.is_whole { "" } else { ", where the trace is cut off" };
    writeln!(out, "told up to {}{end}", instant(story.until))?;
    if story.dropped > 0 {
        writeln!(out, "{} records are missing: more came at once than were held", story.dropped)?;
    }
    if story.associations.is_empty() {
        writeln!(out, "\nno association was up")?;
    }
    let settings = &story.header.settings;
    for (number, association) in &story.associations {
        if story.associations.len() > 1 {
            writeln!(out, "\n## Association {number}")?;
        }
        match selection.message {
            Some(message) => tell_message(association, message, out)?,
            None => tell_association(association, settings, selection, out)?,
        }
    }
    if story.left_out > 0 {
        writeln!(out, "\n{} more associations are not told of", story.left_out)?;
    }
    Ok(())
}

fn of_what(header: &TraceHeader) -> String {
    match &header.origin {
        TraceOrigin::Simulated { scenario, set, seed, run, from, to, .. } => {
            let subject = header.origin.subject().unwrap_or_default();
            let with: Vec<String> = set.iter().map(|set| format!(", with {set}")).collect();
            let with = with.concat();
            format!("{subject} from {from} to {to} in {scenario}{with}: seed {seed}, run {run}")
        }
        TraceOrigin::Captured { capture } => format!("{capture}, as it was captured at one point"),
        TraceOrigin::Live { command } => format!("slantpath {}, on real sockets", command.join(" ")),
    }
}

fn tell_association(
    association: &AssociationStory,
    settings: &TraceSettings,
    selection: StorySelection,
    out: &mut impl Write,
) -> io::Result<()> {
    if selection.path.is_none() {
        writeln!(out)?;
        tell_summary(association, out)?;
        if selection.all {
            tell_sacks(association.sacks, out)?;
        }
    }
    let is_meant = |address: &IpAddr| selection.path.is_none_or(|meant| meant == *address);
    writeln!(out, "\nPaths")?;
    for path in association.paths.iter().filter(|path| is_meant(&path.address)) {
        tell_path(path, out)?;
    }
    writeln!(out, "\nWhat happened")?;
    let steps = association.steps.iter().filter(|step| match (selection.path, step.path) {
        (None, _) => true,
        (Some(meant), of) => of == Some(meant),
    });
    let most = if selection.all { usize::MAX } else { STEPS_TOLD };
    for step in steps.clone().take(most) {
        let path = step.path.map_or_else(String::new, |path| format!("{path}: "));
        writeln!(out, "  {}  {path}{}", instant(step.at), steps::in_words(step, settings))?;
    }
    let rest = steps.count().saturating_sub(most) as u64 + association.steps_left_out;
    if rest > 0 {
        writeln!(out, "  … and {rest} more steps")?;
    }
    if selection.path.is_none() {
        tell_waits(association, selection, out)?;
    }
    let concerns = |message: &Message| {
        let mut sent = message.parts.iter().flat_map(|part| &part.sent);
        selection.path.is_none_or(|meant| sent.any(|sent| sent.path == meant))
    };
    let resent: Vec<_> = association.resent.iter().filter(|(_, message)| concerns(message)).collect();
    if resent.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nMessages that had to be retransmitted")?;
    let most = if selection.all { usize::MAX } else { MESSAGES_TOLD };
    for (key, message) in resent.iter().take(most) {
        tell_resent(**key, message, out)?;
    }
    let rest = resent.len().saturating_sub(most) as u64 + association.resent_left_out;
    if rest > 0 {
        writeln!(out, "  … and {rest} more; --all tells them, --message N one of them")?;
    }
    Ok(())
}

fn tell_summary(association: &AssociationStory, out: &mut impl Write) -> io::Result<()> {
    let up = association.up.map_or_else(
        || "It was up before the trace began, or never".to_owned(),
        |at| format!("It was up at {}", instant(at)),
    );
    let end = match &association.closed {
        None => "and was not closed".to_owned(),
        Some((at, true, reason)) => format!("and {reason} at {}", instant(*at)),
        Some((at, false, reason)) => format!("and ended at {}: {reason}", instant(*at)),
    };
    writeln!(out, "{up} {end}.")?;
    let resent = association.resent.len() as u64 + association.resent_left_out;
    writeln!(
        out,
        "{} messages were sent, {} acknowledged, {} given up; {resent} had to be retransmitted.",
        association.messages_sent, association.messages_acknowledged, association.messages_failed
    )?;
    writeln!(
        out,
        "{} DATA chunks were sent, {} of them retransmissions.",
        association.chunks_sent, association.chunks_resent
    )?;
    for (policy, [unsent, sent]) in &association.messages_abandoned {
        let (all, policy) = (unsent + sent, steps::policy_words(*policy));
        writeln!(out, "{all} messages were given up {policy}, {sent} of them after a part had been sent.")?;
    }
    if association.rooms > 0 {
        writeln!(out, "The send buffer was full, and had room again, {}.", times(association.rooms))?;
    }
    let delays = &association.delays;
    if let (Some(mean), Some((longest, message))) = (delays.mean(), delays.longest) {
        writeln!(
            out,
            "{} messages were delivered, after {} on average and {} at most ({message}).",
            delays.messages,
            duration(mean),
            duration(longest)
        )?;
    }
    if let Some((gap, at)) = delays.longest_gap {
        writeln!(out, "The longest time without a delivery was {}, from {} on.", duration(gap), instant(at))?;
    }
    Ok(())
}

fn tell_sacks(sacks: Sacks, out: &mut impl Write) -> io::Result<()> {
    let Sacks { count, with_gaps, a_rwnd_bytes: Some([least, greatest, last]) } = sacks else {
        return Ok(());
    };
    writeln!(
        out,
        "{count} SACKs came, {with_gaps} of them with gaps; the peer had room for {least} to {greatest} bytes, \
         for {last} at the end."
    )
}

fn tell_path(path: &PathStory, out: &mut impl Write) -> io::Result<()> {
    let source = path.source.map_or_else(String::new, |source| format!(" from {source}"));
    let primary = if path.is_primary { ", primary at the end" } else { "" };
    writeln!(out, "  {}{source}{primary}", path.address)?;
    let spans: Vec<String> = path
        .spans
        .iter()
        .map(|(state, span)| format!("{} for {}", state_name(*state), duration(*span)))
        .collect();
    if !spans.is_empty() {
        writeln!(out, "    {}", spans.join(", "))?;
    }
    writeln!(
        out,
        "    chunks: {} for the first time, {} retransmitted, {} lost; T3-rtx {}",
        path.chunks_sent,
        path.chunks_resent,
        path.chunks_lost,
        if path.timeouts == 0 {
            "never expired".to_owned()
        } else {
            format!("expired {}", times(path.timeouts))
        }
    )?;
    let [sent, answered] = path.heartbeats;
    writeln!(out, "    HEARTBEATs: {sent} sent, {answered} answered")?;
    if path.state.is_none() {
        // Only the sender knows what governs the path.
        return Ok(());
    }
    let [least, greatest, last] = path.cwnd;
    let reductions: Vec<String> = path
        .reductions
        .iter()
        .map(|(cause, count)| format!("{} {}", times(*count), cause_words(*cause)))
        .collect();
    let reduced = if reductions.is_empty() {
        "never reduced".to_owned()
    } else {
        format!("reduced {}", reductions.join(", "))
    };
    writeln!(out, "    cwnd: {least} to {greatest} bytes, {last} at the end; {reduced}")?;
    if let (Some(srtt), Some(rto)) = (path.srtt, path.rto) {
        let range = |[least, greatest, last]: [Duration; 3]| {
            format!("{} to {}, {} at the end", duration(least), duration(greatest), duration(last))
        };
        writeln!(out, "    SRTT: {}; RTO: {}", range(srtt), range(rto))?;
    }
    Ok(())
}

fn tell_waits(
    association: &AssociationStory,
    selection: StorySelection,
    out: &mut impl Write,
) -> io::Result<()> {
    if association.waits.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nWhy nothing left, in all")?;
    for (reason, time) in &association.waits {
        writeln!(out, "  {:>14}  {}", duration(*time), wait_words(*reason))?;
    }
    if association.idles.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nSpans without DATA")?;
    let most = if selection.all { usize::MAX } else { IDLES_TOLD };
    for Idle { from, to, reasons } in association.idles.iter().take(most) {
        let reasons: Vec<String> = reasons
            .iter()
            .filter(|(_, time)| !time.is_zero())
            .map(|(reason, time)| format!("{} ({})", wait_words(*reason), duration(*time)))
            .collect();
        let span = duration(to.saturating_since(*from));
        writeln!(out, "  from {} for {span}: {}", instant(*from), reasons.join(", then "))?;
    }
    let rest = association.idles.len().saturating_sub(most);
    if rest > 0 {
        writeln!(out, "  … and {rest} more")?;
    }
    Ok(())
}

fn tell_message(association: &AssociationStory, number: u64, out: &mut impl Write) -> io::Result<()> {
    writeln!(out)?;
    match association.resent.get(&MessageKey::Number(number)) {
        Some(message) => tell_resent(MessageKey::Number(number), message, out),
        None if association.latest_message.is_none_or(|latest| number > latest) => {
            writeln!(out, "The trace tells of no message {number} of this association.")
        }
        None => {
            writeln!(out, "Message {number} did not have to be retransmitted.")?;
            let key = MessageKey::Number(number);
            let message = association.asked.as_ref().or_else(|| association.under_way.get(&key));
            message.map_or(Ok(()), |message| tell_resent(key, message, out))
        }
    }
}

fn tell_resent(key: MessageKey, message: &Message, out: &mut impl Write) -> io::Result<()> {
    let is_resent =
        |part: &MessagePart| part.sent.len() > 1 || part.sent.iter().any(|sent| sent.lost.is_some());
    // Of one that was retransmitted the parts that were; of another all.
    let is_told_whole = !message.parts.iter().any(is_resent);
    match key {
        MessageKey::Number(number) => writeln!(out, "  message {number}")?,
        MessageKey::Tsn(tsn) => writeln!(out, "  a message without a number, of TSN {tsn}")?,
    }
    let is_whole = message.parts.len() == 1;
    for (place, part) in message.parts.iter().enumerate() {
        if is_whole || is_told_whole || is_resent(part) {
            let (number, tsn) = (place + 1, part.tsn);
            let name = if is_whole { String::new() } else { format!("part {number} (TSN {tsn}): ") };
            writeln!(out, "    {name}{}", part_words(part))?;
        }
    }
    if let Some(at) = message.acknowledged {
        writeln!(out, "    acknowledged at {}", instant(at))?;
    }
    if let Some(at) = message.failed {
        writeln!(out, "    given up at {}", instant(at))?;
    }
    let Some((at, offered)) = message.delivered else { return Ok(()) };
    let after = duration(at.saturating_since(offered));
    writeln!(out, "    its reader had it at {}, {after} after it was offered", instant(at))?;
    let mut losses = message.parts.iter().flat_map(|part| &part.sent).filter_map(|sent| sent.lost).peekable();
    if losses.peek().is_none() || losses.any(|loss| loss.at < at) {
        return Ok(());
    }
    writeln!(out, "    that was before it counted as lost: its acknowledgement was lost, or late")
}

fn part_words(part: &MessagePart) -> String {
    let mut words: Vec<String> = Vec::new();
    for sent in &part.sent {
        let verb = if words.is_empty() { "sent" } else { "retransmitted" };
        words.push(format!("{verb} at {} to {}", instant(sent.at), sent.path));
        if let Some(loss) = &sent.lost {
            words.push(loss_words(loss));
        }
    }
    words.join("; ")
}

fn loss_words(loss: &Loss) -> String {
    let at = instant(loss.at);
    let restored = if loss.is_restored { ", which was an error" } else { "" };
    let words = match loss.evidence {
        Evidence::MissIndications => {
            format!("lost: {} SACKs had reported it missing at {at}", loss.reports.unwrap_or_default())
        }
        Evidence::Overtaken => {
            let window = duration(loss.reordering_window.unwrap_or_default());
            format!(
                "lost: what was sent after it had arrived, and {window} for reordering had passed, at {at}"
            )
        }
        Evidence::Probed => format!("the last in flight: probed at {at}"),
        Evidence::Refused => format!("refused: the peer had had no room for it, and had some at {at}"),
        Evidence::LinkDown => format!("lost: the link of our address had gone at {at}"),
        Evidence::TimedOut => format!("lost: T3-rtx expired at {at}"),
        Evidence::Unknown => format!("retransmitted at {at} for a reason that was not seen"),
        Evidence::TooBig => format!("too long for a link on its way, as was told at {at}"),
    };
    words + restored
}

pub(super) const fn state_name(state: PathState) -> &'static str {
    match state {
        PathState::Active => "active",
        PathState::Inactive => "inactive",
        PathState::PotentiallyFailed => "potentially failed",
        PathState::Unconfirmed => "unconfirmed",
    }
}

const fn unanswered_name(what: Unanswered) -> &'static str {
    match what {
        Unanswered::Data => "DATA",
        Unanswered::Heartbeat => "a HEARTBEAT",
        Unanswered::Shutdown => "SHUTDOWN",
        Unanswered::Asconf => "ASCONF",
        Unanswered::ReConfig => "RE-CONFIG",
    }
}

const fn cause_words(cause: WindowCause) -> &'static str {
    match cause {
        WindowCause::Acknowledged => "by what was acknowledged",
        WindowCause::Controller => "by the controller itself",
        WindowCause::LossFound => "for losses",
        WindowCause::Marked => "for a mark of congestion",
        WindowCause::Recovering => "in the course of a recovery",
        WindowCause::TimedOut => "for a time-out",
        WindowCause::Unchanged => "for no reason that is known",
        WindowCause::Undone => "as a reduction was in error",
    }
}

const fn evidence_words(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::MissIndications => "reported missing by SACKs often enough",
        Evidence::Overtaken => "what was sent later has arrived, and time for reordering has passed",
        Evidence::Probed => "the last in flight, as a probe for its loss",
        Evidence::Refused => "the peer had no room, and has some now",
        Evidence::LinkDown => "the link of our address has gone",
        Evidence::TimedOut => "T3-rtx has expired",
        Evidence::Unknown => "for a reason that was not seen",
        Evidence::TooBig => "a link on the way carries no packet that long",
    }
}

pub(super) const fn wait_words(reason: WaitReason) -> &'static str {
    match reason {
        WaitReason::AfterTimeout => "what timed out waited for a SACK",
        WaitReason::Burst => "as many packets had left at once as may (Max.Burst)",
        WaitReason::Bundling => "new DATA waited for more to fill a packet",
        WaitReason::CongestionWindow => "the congestion window was full",
        WaitReason::NothingToSend => "there was nothing to send",
        WaitReason::Pacing => "the controller's rate held it back",
        WaitReason::PeerWindow => "the peer had no room",
        WaitReason::TooManyOutstanding => "as many chunks were outstanding as can be",
        WaitReason::OtherPath => "what was lost or in flight on another path went first",
    }
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

fn errors_words(errors: u32) -> String {
    if errors == 1 { "1 error".to_owned() } else { format!("{errors} errors") }
}

fn instant(at: Instant) -> String {
    format!("{:.6} s", at.since_start().as_secs_f64())
}

fn duration(time: Duration) -> String {
    if time >= Duration::from_secs(1) {
        format!("{:.3} s", time.as_secs_f64())
    } else {
        format!("{:.3} ms", time.as_millis_f64())
    }
}
