//! A story for programs.

use std::net::IpAddr;

use serde_json::{Value, json};
use slantpath_base::{Duration, Instant};

use super::story::{AssociationStory, Message, MessageKey, PathStory, Step, StepKind, Story};
use super::text::{StorySelection, state_name};
use crate::field::{Field, written};

impl Story {
    /// All that is known, but for what a selection leaves out.
    pub fn json(&self, selection: StorySelection) -> Value {
        let associations: Vec<Value> = self
            .associations
            .iter()
            .map(|(number, association)| {
                let mut value = association.json(selection);
                value["association"] = json!(number);
                value
            })
            .collect();
        json!({
            "until_s": seconds(self.until),
            "is_whole": self.is_whole,
            "dropped": self.dropped,
            "outcome": self.outcome().json(),
            "associations": associations,
        })
    }
}

impl AssociationStory {
    fn json(&self, selection: StorySelection) -> Value {
        let is_meant = |path: Option<IpAddr>| selection.path.is_none() || path == selection.path;
        let paths: Vec<Value> =
            self.paths.iter().filter(|path| is_meant(Some(path.address))).map(path).collect();
        let steps: Vec<Value> = self.steps.iter().filter(|step| is_meant(step.path)).map(step).collect();
        let is_asked =
            |key: &MessageKey| selection.message.is_none_or(|number| *key == MessageKey::Number(number));
        let resent: Vec<Value> =
            self.resent.iter().filter(|(key, _)| is_asked(key)).map(|(key, of)| message(*key, of)).collect();
        let waits = |waits: &[(slantpath_sctp::WaitReason, Duration)]| -> Vec<Value> {
            let mut list = Vec::new();
            for (reason, time) in waits {
                list.push(json!({ "reason": Field::write(reason), "time_s": time.as_secs_f64() }));
            }
            list
        };
        let idles: Vec<Value> = self
            .idles
            .iter()
            .map(|idle| {
                json!({
                    "from_s": seconds(idle.from),
                    "to_s": seconds(idle.to),
                    "reasons": waits(&idle.reasons),
                })
            })
            .collect();
        let closed = self.closed.as_ref().map(
            |(at, orderly, reason)| json!({ "at_s": seconds(*at), "orderly": orderly, "reason": reason }),
        );
        let abandoned: Vec<Value> = self
            .messages_abandoned
            .iter()
            .map(|(policy, [unsent, sent])| {
                json!({ "policy": Field::write(policy), "unsent": unsent, "sent": sent })
            })
            .collect();
        json!({
            "up_s": self.up.map(seconds),
            "closed": closed,
            "messages_sent": self.messages_sent,
            "messages_acknowledged": self.messages_acknowledged,
            "messages_failed": self.messages_failed,
            "messages_abandoned": abandoned,
            "rooms": self.rooms,
            "sacks": {
                "count": self.sacks.count,
                "with_gaps": self.sacks.with_gaps,
                "a_rwnd_bytes": self.sacks.a_rwnd_bytes.map(|[least, greatest, last]| {
                    json!({ "least": least, "greatest": greatest, "last": last })
                }),
            },
            "chunks_sent": self.chunks_sent,
            "chunks_resent": self.chunks_resent,
            "paths": paths,
            "steps": steps,
            "steps_left_out": self.steps_left_out,
            "resent": resent,
            "asked": self.asked.as_ref().zip(selection.message).map(|(of, number)| {
                message(MessageKey::Number(number), of)
            }),
            "resent_left_out": self.resent_left_out,
            "waits": waits(&self.waits),
            "idles": idles,
        })
    }
}

fn path(path: &PathStory) -> Value {
    let range = |times: Option<[Duration; 3]>| {
        times.map(|[least, greatest, last]| {
            json!({
                "least_s": least.as_secs_f64(),
                "greatest_s": greatest.as_secs_f64(),
                "last_s": last.as_secs_f64(),
            })
        })
    };
    let [least, greatest, last] = path.cwnd;
    let spans = path.spans.iter();
    let spans: Vec<Value> = spans
        .map(|(state, time)| json!({ "state": Field::write(state), "time_s": time.as_secs_f64() }))
        .collect();
    json!({
        "path": path.address,
        "source": path.source,
        "state": path.state.map(state_name),
        "is_primary": path.is_primary,
        "states": spans,
        "chunks_sent": path.chunks_sent,
        "chunks_resent": path.chunks_resent,
        "chunks_lost": path.chunks_lost,
        "timeouts": path.timeouts,
        "heartbeats_sent": path.heartbeats[0],
        "heartbeats_answered": path.heartbeats[1],
        "cwnd_bytes": { "least": least, "greatest": greatest, "last": last },
        "srtt": range(path.srtt),
        "rto": range(path.rto),
    })
}

fn step(step: &Step) -> Value {
    let mut value = match &step.kind {
        StepKind::Up => json!({ "step": "up" }),
        StepKind::Known(state) => json!({ "step": "known", "state": Field::write(state) }),
        StepKind::TimedOut(rto, outstanding, oldest) => json!({
            "step": "timed-out",
            "rto_s": rto.as_secs_f64(),
            "outstanding_bytes": outstanding,
            "oldest_sent_s": oldest.map(|at| at.since_start().as_secs_f64()),
        }),
        StepKind::Unanswered(what, errors, association_errors) => json!({
            "step": "unanswered",
            "what": Field::write(what),
            "errors": errors,
            "association_errors": association_errors,
        }),
        StepKind::Became(state, errors) => {
            let error =
                |(at, what): &(Instant, _)| json!({ "at_s": seconds(*at), "what": Field::write(what) });
            let errors: Vec<Value> = errors.iter().map(error).collect();
            json!({ "step": "became", "state": Field::write(state), "errors": errors })
        }
        StepKind::Answered(after, errors) => json!({
            "step": "answered",
            "heartbeat_s": after.map(Duration::as_secs_f64),
            "errors": errors,
        }),
        StepKind::Primary => json!({ "step": "primary" }),
        StepKind::NewData(MessageKey::Number(number)) => json!({ "step": "new-data", "message": number }),
        StepKind::NewData(MessageKey::Tsn(tsn)) => {
            json!({ "step": "new-data", "message": null, "tsn": tsn })
        }
        StepKind::Reduced(reduction) => json!({
            "step": "reduced",
            "cause": Field::write(&reduction.cause),
            "from_bytes": reduction.from,
            "to_bytes": reduction.to,
            "ssthresh_bytes": reduction.ssthresh,
        }),
        StepKind::Lost(count, evidence) => {
            json!({ "step": "lost", "chunks": count, "evidence": Field::write(evidence) })
        }
        StepKind::PeerWindowClosed(since, room) => {
            json!({ "step": "peer-window-closed", "since_s": seconds(*since), "room_bytes": room })
        }
        StepKind::LocalLink(source, up) => json!({ "step": "local-link", "source": source, "up": up }),
        StepKind::SwitchedOver => json!({ "step": "switched-over" }),
        StepKind::State(state) => json!({ "step": "state", "state": Field::write(state) }),
        StepKind::Revoked(count) => json!({ "step": "revoked", "chunks": count }),
        StepKind::Abandoned(count, stream, policy, was_sent) => json!({
            "step": "abandoned",
            "messages": count,
            "stream": stream,
            "policy": Field::write(policy),
            "was_sent": was_sent,
        }),
        StepKind::Told(notice) => {
            let mut value = json!({ "step": notice.name().replace('_', "-") });
            for (name, of_field) in notice.fields() {
                value[name] = written(of_field).unwrap_or_default();
            }
            value
        }
        StepKind::Closed(orderly, reason) => {
            json!({ "step": "closed", "orderly": orderly, "reason": reason })
        }
    };
    value["at_s"] = json!(seconds(step.at));
    value["path"] = json!(step.path);
    value
}

fn message(key: MessageKey, message: &Message) -> Value {
    let parts: Vec<Value> = message
        .parts
        .iter()
        .map(|part| {
            let sent: Vec<Value> = part
                .sent
                .iter()
                .map(|sent| {
                    let lost = sent.lost.map(|loss| {
                        json!({
                            "at_s": seconds(loss.at),
                            "evidence": Field::write(&loss.evidence),
                            "reports": loss.reports,
                            "in_error": loss.is_restored,
                        })
                    });
                    json!({ "at_s": seconds(sent.at), "path": sent.path, "lost": lost })
                })
                .collect();
            json!({ "tsn": part.tsn, "sent": sent })
        })
        .collect();
    let number = if let MessageKey::Number(number) = key { Some(number) } else { None };
    json!({
        "message": number,
        "parts": parts,
        "acknowledged_s": message.acknowledged.map(seconds),
        "failed_s": message.failed.map(seconds),
        "delivered_s": message.delivered.map(|(at, _)| seconds(at)),
        "offered_s": message.delivered.map(|(_, offered)| seconds(offered)),
    })
}

fn seconds(at: Instant) -> f64 {
    at.since_start().as_secs_f64()
}
