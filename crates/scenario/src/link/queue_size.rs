//! Limits of queues, in packets or in bytes.

use core::fmt;

use slantpath_base::DataSize;
use slantpath_net::QueueLimit;
use slantpath_reader::{Fault, Json, KeyValue, UpperBound, ValueNode, json};

/// Largest content of a queue, as a file has it: `"100 packets"`, `"64 KiB"` or `"unlimited"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSize(pub QueueLimit);

impl QueueSize {
    /// The limit where none is given, twice ns-2's.
    pub const DEFAULT: Self = Self(QueueLimit::Packets(100));

    /// Tells whether nothing fits.
    pub const fn is_zero(self) -> bool {
        match self.0 {
            QueueLimit::Bytes(size) => size.as_bytes() == 0,
            QueueLimit::Packets(count) => count == 0,
            QueueLimit::Unlimited => false,
        }
    }
}

impl fmt::Display for QueueSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            QueueLimit::Bytes(size) => size.fmt(f),
            QueueLimit::Packets(count) => write!(f, "{count} packets"),
            QueueLimit::Unlimited => f.write_str("unlimited"),
        }
    }
}

/// The most that a limit of a queue may be, in either of its units.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct QueueMost {
    /// Of a number of packets.
    pub packets: u32,
    /// Of an amount of data.
    pub size: DataSize,
}

impl fmt::Display for QueueMost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packets or {}", self.packets, self.size)
    }
}

impl UpperBound for QueueMost {
    fn number(self) -> Option<Json> {
        None
    }
}

impl KeyValue for QueueSize {
    type Most = QueueMost;

    fn beyond(&self, most: &QueueMost) -> Option<String> {
        let is_beyond = match self.0 {
            QueueLimit::Bytes(size) => size > most.size,
            QueueLimit::Packets(count) => count > most.packets,
            QueueLimit::Unlimited => false,
        };
        is_beyond.then(|| self.to_string())
    }

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        let help = "a queue is written \"100 packets\", \"64 KiB\" or \"unlimited\"";
        let text = String::read(node).map_err(|_| {
            Fault::new(format!("a queue's limit is wanted here, not {}", node.kind())).help(help)
        })?;
        let trimmed = text.trim();
        if trimmed == "unlimited" {
            return Ok(Self(QueueLimit::Unlimited));
        }
        let number = trimmed.strip_suffix("packets").or_else(|| trimmed.strip_suffix("packet"));
        let wrong = || Fault::new(format!("`{text}` is no limit of a queue")).help(help);
        let limit = match number {
            Some(number) => number.trim().parse().map(QueueLimit::Packets).map_err(|_| wrong()),
            None => trimmed.parse().map(QueueLimit::Bytes).map_err(|_| wrong()),
        };
        limit.map(Self)
    }

    fn write(&self) -> String {
        format!("\"{self}\"")
    }

    fn schema() -> Json {
        let pattern =
            "^\\s*[0-9][0-9_]*(\\.[0-9_]+)?\\s*(packets?|B|bytes?|[kMG]B|[KMG]iB)\\s*$|^\\s*unlimited\\s*$";
        json!({ "type": "string", "pattern": pattern, "examples": ["100 packets", "64 KiB", "unlimited"] })
    }
}

#[cfg(test)]
mod tests {
    use slantpath_reader::{Place, ValueData};

    use super::*;

    fn limit(text: &str) -> Result<QueueLimit, String> {
        let node = ValueNode { place: Place::default(), data: ValueData::Text(text.to_owned()) };
        QueueSize::read(&node).map(|size| size.0).map_err(|fault| fault.message)
    }

    #[test]
    fn a_queue_is_limited_in_packets_or_in_bytes() {
        assert_eq!(limit("100 packets"), Ok(QueueLimit::Packets(100)));
        assert_eq!(limit("1 packet"), Ok(QueueLimit::Packets(1)));
        assert_eq!(limit("13 kB"), Ok(QueueLimit::Bytes(DataSize::from_bytes(13_000))));
        for wrong in ["100", "-1 packets", "many packets", "1.5 packets", "10 ms", ""] {
            assert_eq!(limit(wrong), Err(format!("`{wrong}` is no limit of a queue")));
        }
    }
}
