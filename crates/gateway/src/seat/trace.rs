//! Traces of messages that who operates a seat asks for.

use slantpath_base::Instant;
use slantpath_control::{ControlEvent, Pairs, Refusal};
use slantpath_signalling::network::SignallingEntity;
use slantpath_ss7::sccp::gtt::DigitPattern;
use slantpath_ss7::{PointCode, PointCodeFormat};

use super::Seat;
use super::orders::nothing;
use crate::message_trace::{Discards, MessageTrace, TraceNames, TraceRequest};

/// Keys of a request.
const KEYS: [&str; 3] = ["messages", "point", "title"];
/// Messages of a trace that says no number.
const MESSAGES: usize = 100;
/// Most messages of a trace.
const MESSAGES_MAX: usize = 10_000;

impl Seat {
    /// Traces messages of a title or of a point from now on, up to a number of them, in place of what was traced.
    ///
    /// # Errors
    /// The reason for which there is no such request here.
    pub fn trace_messages(&mut self, pairs: &Pairs) -> Result<(), Refusal> {
        if let Some((key, _)) = pairs.iter().find(|(key, _)| !KEYS.contains(&key.as_str())) {
            return Err(nothing("key", key, &KEYS));
        }
        let get = |key: &str| pairs.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str());
        let request = TraceRequest {
            title: get("title").map(pattern).transpose()?,
            point: get("point").map(|name| self.code_of(name)).transpose()?,
            messages: get("messages").map_or(Ok(MESSAGES), number)?,
        };
        if request.title.is_none() && request.point.is_none() {
            let refusal = Refusal::new("neither title nor point");
            return Err(refusal.help("write `title`, as `4917*`, or `point`, or both"));
        }
        self.passage.trace = Some(MessageTrace::new(request, self.code_format(), self.trace_names()));
        Ok(())
    }

    /// Ends a trace: nobody hears it any more.
    pub fn end_trace(&mut self) {
        self.passage.trace = None;
    }

    /// Takes the next thing that a trace tells, oldest first. The last says that it is over.
    pub fn poll_traced(&mut self, now: Instant) -> Option<ControlEvent> {
        let trace = self.passage.trace.as_mut()?;
        let told = trace.poll();
        if told.is_none() && trace.is_over() {
            self.passage.trace = None;
            return Some(ControlEvent::TraceEnded { at_s: now.since_start().as_secs_f64() });
        }
        told
    }

    /// Format of point codes of the network.
    pub(super) fn code_format(&self) -> PointCodeFormat {
        let point = match self.named {
            SignallingEntity::Point(id) => self.network.points.get(id.0),
            // Its gateways are of the network of its codes.
            SignallingEntity::Process(_) => self.network.points.first(),
        };
        point.map_or(PointCodeFormat::Itu, |point| point.mtp3.format)
    }

    /// Goes on with the names that there are now.
    pub(super) fn rename_trace(&mut self) {
        let names = self.trace_names();
        if let Some(trace) = &mut self.passage.trace {
            trace.rename(names);
        }
    }

    fn trace_names(&self) -> TraceNames {
        TraceNames {
            associations: self.associations.iter().map(|end| end.config.name.clone()).collect(),
            points: self.points_by_code(),
        }
    }

    /// Code of the point of a name, or of the number that is written.
    fn code_of(&self, name: &str) -> Result<PointCode, Refusal> {
        let points = self.points_by_code();
        let named = points.iter().find(|(_, own)| *own == name).map(|(code, _)| *code);
        let written = || PointCode::parse(name, self.code_format()).ok();
        named.or_else(written).ok_or_else(|| {
            let names: Vec<&str> = points.values().map(String::as_str).collect();
            nothing("point", name, &names)
        })
    }

    /// Notes what has been counted before traced messages go on.
    pub(super) fn note_before_traced(&mut self) {
        if self.before_traced.is_none() {
            self.before_traced = Some(self.all_discards());
        }
    }

    /// Tells what has become of traced messages that came, once all that was due is done.
    pub(super) fn settle_traced(&mut self, now: Instant) {
        let Some(before) = self.before_traced.take() else { return };
        let mut reasons = Vec::new();
        let mut discarded = 0;
        for (name, count) in self.all_discards() {
            let former = before.iter().find(|(own, _)| *own == name).map_or(0, |(_, former)| *former);
            if count > former {
                discarded += count - former;
                reasons.push(name);
            }
        }
        if let Some(trace) = &mut self.passage.trace {
            trace.settle(now, discarded, &reasons.join(" or "));
        }
    }

    /// Messages that went no further, by the rule of screening, or by layer and reason.
    fn all_discards(&self) -> Discards {
        let screening = self.entity.screening_counts().into_iter();
        let screening = screening
            .filter(|(_, counts)| counts.refused > 0)
            .map(|(name, counts)| (format!("screening {name}"), counts.refused));
        let titles = self.sccps().flat_map(|(_, counters)| {
            let causes = counters.untranslated.iter();
            causes.map(|(cause, count)| (format!("title {}", cause.name("-")), *count)).collect::<Vec<_>>()
        });
        let titles: Vec<_> = titles.collect();
        let layers = self.discards().into_iter().flat_map(|(layer, reasons)| {
            reasons.into_iter().map(move |(reason, count)| (format!("{layer} {reason}"), count))
        });
        screening.chain(titles).chain(layers).collect()
    }
}

fn pattern(text: &str) -> Result<DigitPattern, Refusal> {
    DigitPattern::parse(text).map_err(|error| {
        Refusal::new(format!("`title` is {text}: {error}")).help("write digits like 4917123456, or 4917*")
    })
}

fn number(text: &str) -> Result<usize, Refusal> {
    let number = text.parse().ok().filter(|number| (1..=MESSAGES_MAX).contains(number));
    number.ok_or_else(|| {
        Refusal::new(format!("`messages` is {text}")).help(format!("write a number from 1 to {MESSAGES_MAX}"))
    })
}
