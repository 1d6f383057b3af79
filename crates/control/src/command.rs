//! Commands: what a client may ask of a network that runs.

use std::path::PathBuf;

use serde_json::{Map, Value as Json, json};
use slantpath_reader::suggest;

use crate::answer::Refusal;
use crate::lines::{LINE_MAX, Line};

/// Keys with their values, in the order of the keys.
pub type Pairs = Vec<(String, String)>;

/// Names of all commands.
pub const COMMANDS: [&str; 9] =
    ["capture", "do", "events", "explain", "reload", "set", "status", "stop", "trace"];

/// Request of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Capture all packets into a file of this path, or no more.
    Capture(Option<PathBuf>),
    /// Do what an event of a script does: its keys but `at`, each with its value as TOML.
    Do(Pairs),
    /// Tell events from now on, or no more.
    Events(bool),
    /// Explain where a global title goes: its digits and the rest of its addresses, by their names.
    Explain(Pairs),
    /// Read the file anew, and go on with it if that can be.
    Reload,
    /// Set values: the path of each, and the value as a command line has it.
    Set(Pairs),
    /// Tell the present state.
    Status,
    /// End the run.
    Stop,
    /// Trace messages: those of a title or of a point, up to a number.
    Trace(Pairs),
}

impl Command {
    /// Reads a line.
    ///
    /// # Errors
    /// If it is no command. The refusal says what there is.
    pub fn parse(line: Line<'_>) -> Result<Self, Refusal> {
        let Line::Whole(line) = line else {
            let refusal = Refusal::new(format!("a line is longer than {LINE_MAX} bytes"));
            return Err(refusal.help("send shorter commands, one a line"));
        };
        let form = || format!("a command is a line like {}", Self::Status.to_line().trim_end());
        let line = serde_json::from_slice::<Json>(line)
            .map_err(|error| Refusal::new(format!("this is not JSON: {error}")).help(form()))?;
        let Json::Object(line) = line else {
            return Err(Refusal::new(format!("{} is no command", kind(&line))).help(form()));
        };
        let mut entries = line.into_iter();
        let (Some((name, value)), None) = (entries.next(), entries.next()) else {
            return Err(Refusal::new("a command has one key: its name").help(form()));
        };
        Self::of(&name, value)
    }

    fn of(name: &str, value: Json) -> Result<Self, Refusal> {
        match (name, value) {
            ("capture", Json::String(path)) if !path.is_empty() => Ok(Self::Capture(Some(path.into()))),
            ("capture", Json::Bool(false)) => Ok(Self::Capture(None)),
            ("capture", value) => {
                Err(wrong(name, &value).help("write the path of a file, or `false` to end what is captured"))
            }
            ("do", Json::Object(table)) if !table.is_empty() => Ok(Self::Do(pairs(table, Json::to_string))),
            ("do", value) => {
                let table = json!({ "do": { "action": "down", "link": "satellite" } });
                Err(wrong(name, &value).help(format!("write it like {table}")))
            }
            ("events", Json::Bool(is_wanted)) => Ok(Self::Events(is_wanted)),
            ("events", value) => Err(wrong(name, &value).help("write `true` or `false`")),
            ("explain", Json::Object(table)) if !table.is_empty() => {
                Ok(Self::Explain(pairs(table, as_typed)))
            }
            ("explain", value) => {
                let table = json!({ "explain": { "digits": "4917123456", "subsystem": 6 } });
                Err(wrong(name, &value).help(format!("write it like {table}")))
            }
            ("reload", Json::Object(nothing)) if nothing.is_empty() => Ok(Self::Reload),
            ("set", Json::Object(table)) if !table.is_empty() => Ok(Self::Set(pairs(table, as_typed))),
            ("set", value) => {
                let table = json!({ "set": { "links.satellite.loss": "5 %" } });
                Err(wrong(name, &value).help(format!("write it like {table}")))
            }
            ("status", Json::Object(nothing)) if nothing.is_empty() => Ok(Self::Status),
            ("stop", Json::Object(nothing)) if nothing.is_empty() => Ok(Self::Stop),
            ("trace", Json::Object(table)) if !table.is_empty() => Ok(Self::Trace(pairs(table, as_typed))),
            ("trace", value) => {
                let table = json!({ "trace": { "title": "4917*", "messages": 20 } });
                Err(wrong(name, &value).help(format!("write it like {table}")))
            }
            ("reload" | "status" | "stop", value) => {
                Err(wrong(name, &value).help("write `{}`: there is nothing to say"))
            }
            (unknown, _) => {
                let refusal = Refusal::new(format!("there is no command `{unknown}`"));
                Err(refusal.help(suggest(unknown, "commands", &COMMANDS)))
            }
        }
    }

    /// Takes a link out of service, or brings it back: `action` is `down` or `up`.
    pub fn act(action: &str, link: &str) -> Self {
        let quoted = |value: &str| Json::from(value).to_string();
        Self::Do(vec![("action".to_owned(), quoted(action)), ("link".to_owned(), quoted(link))])
    }

    /// The command as a line, with its end.
    pub fn to_line(&self) -> String {
        let line = match self {
            Self::Capture(Some(path)) => json!({ "capture": path.to_string_lossy() }),
            Self::Capture(None) => json!({ "capture": false }),
            Self::Do(table) => {
                // A value that is no JSON is a string to TOML as well.
                let value = |value: &str| serde_json::from_str(value).unwrap_or_else(|_| Json::from(value));
                json!({ "do": table.iter().map(|(key, own)| (key.clone(), value(own))).collect::<Map<_, _>>() })
            }
            Self::Events(is_wanted) => json!({ "events": is_wanted }),
            Self::Explain(values) => json!({ "explain": strings(values) }),
            Self::Reload => json!({ "reload": {} }),
            Self::Set(values) => json!({ "set": strings(values) }),
            Self::Status => json!({ "status": {} }),
            Self::Stop => json!({ "stop": {} }),
            Self::Trace(values) => json!({ "trace": strings(values) }),
        };
        format!("{line}\n")
    }
}

fn pairs(table: Map<String, Json>, text: impl Fn(&Json) -> String) -> Pairs {
    table
        .into_iter()
        .map(|(key, value)| {
            let text = text(&value);
            (key, text)
        })
        .collect()
}

/// Values as they are typed.
fn strings(pairs: &Pairs) -> Map<String, Json> {
    pairs.iter().map(|(key, value)| (key.clone(), Json::from(value.as_str()))).collect()
}

/// A value as somebody would type it: a string without its quotes.
fn as_typed(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn wrong(name: &str, value: &Json) -> Refusal {
    Refusal::new(format!("`{name}` has {}", kind(value)))
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Array(_) => "a list",
        Json::Bool(_) => "a boolean",
        Json::Null => "a null",
        Json::Number(_) => "a number",
        Json::Object(table) if table.is_empty() => "a table without keys",
        Json::Object(_) => "a table",
        Json::String(_) => "a string",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(line: &str) -> Result<Command, String> {
        let told = |refusal: Refusal| format!("{}: {}", refusal.message, refusal.help.unwrap_or_default());
        Command::parse(Line::Whole(line.as_bytes())).map_err(told)
    }

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn each_command_is_read() {
        let loss = pair("links.satellite.loss", "5 %");
        let all = [
            (r#"{"set":{"links.satellite.loss":"5 %"}}"#, Command::Set(vec![loss])),
            (
                r#"{"set":{"a":0.5,"b":"0.5","c":true}}"#,
                Command::Set(vec![pair("a", "0.5"), pair("b", "0.5"), pair("c", "true")]),
            ),
            (
                r#" {"do": {"action": "down", "link": "satellite"}} "#,
                Command::Do(vec![pair("action", "\"down\""), pair("link", "\"satellite\"")]),
            ),
            (
                r#"{"explain":{"digits":"49","subsystem":6}}"#,
                Command::Explain(vec![pair("digits", "49"), pair("subsystem", "6")]),
            ),
            (
                r#"{"trace":{"title":"49*","messages":20}}"#,
                Command::Trace(vec![pair("messages", "20"), pair("title", "49*")]),
            ),
            (r#"{"capture":"/run/a.pcapng"}"#, Command::Capture(Some("/run/a.pcapng".into()))),
            (r#"{"capture":false}"#, Command::Capture(None)),
            (r#"{"status":{}}"#, Command::Status),
            (r#"{"reload":{}}"#, Command::Reload),
            (r#"{"stop":{}}"#, Command::Stop),
            (r#"{"events":true}"#, Command::Events(true)),
            (r#"{"events":false}"#, Command::Events(false)),
        ];
        for (line, command) in all {
            assert_eq!(parse(line), Ok(command), "{line}");
        }
        assert_eq!(Ok(Command::act("up", "a \"b\"")), parse(r#"{"do":{"link":"a \"b\"","action":"up"}}"#));
    }

    #[test]
    fn a_line_that_is_no_command_is_told_what_there_is() {
        let form = r#"a command is a line like {"status":{}}"#;
        let act = r#"write it like {"do":{"action":"down","link":"satellite"}}"#;
        let set = r#"write it like {"set":{"links.satellite.loss":"5 %"}}"#;
        for (line, told) in [
            ("[]", format!("a list is no command: {form}")),
            ("{}", format!("a command has one key: its name: {form}")),
            (r#"{"status":{},"stop":{}}"#, format!("a command has one key: its name: {form}")),
            (r#"{"statu":{}}"#, "there is no command `statu`: did you mean `status`?".to_owned()),
            (
                r#"{"x":1}"#,
                "there is no command `x`: commands: `capture`, `do`, `events`, `explain`, `reload`, `set`, `status`, \
                 `stop`, `trace`"
                    .to_owned(),
            ),
            (
                r#"{"capture":true}"#,
                "`capture` has a boolean: write the path of a file, or `false` to end what is captured".to_owned(),
            ),
            (
                r#"{"trace":{}}"#,
                r#"`trace` has a table without keys: write it like {"trace":{"messages":20,"title":"4917*"}}"#
                    .to_owned(),
            ),
            (r#"{"set":{}}"#, format!("`set` has a table without keys: {set}")),
            (r#"{"do":"down"}"#, format!("`do` has a string: {act}")),
            (r#"{"events":1}"#, "`events` has a number: write `true` or `false`".to_owned()),
            (r#"{"stop":{"now":1}}"#, "`stop` has a table: write `{}`: there is nothing to say".to_owned()),
        ] {
            assert_eq!(parse(line), Err(told), "{line}");
        }
        assert!(
            parse("{").unwrap_err().starts_with("this is not JSON: EOF while parsing"),
            "{:?}",
            parse("{")
        );
        let long = Command::parse(Line::TooLong).unwrap_err();
        assert_eq!(long.message, "a line is longer than 65536 bytes");
    }

    fn key() -> impl Strategy<Value = String> {
        "[a-z.]{1,12}"
    }

    fn command() -> impl Strategy<Value = Command> {
        let title = prop::collection::btree_map(key(), any::<String>(), 1..5);
        let set = prop::collection::btree_map(key(), any::<String>(), 1..5);
        let trace = prop::collection::btree_map(key(), any::<String>(), 1..5);
        let act = prop::collection::btree_map(key(), any::<String>(), 1..5);
        let quoted = |(key, value): (String, String)| (key, Json::from(value).to_string());
        prop_oneof![
            title.prop_map(|pairs| Command::Explain(pairs.into_iter().collect())),
            trace.prop_map(|pairs| Command::Trace(pairs.into_iter().collect())),
            prop::option::of("[ -~]{1,20}").prop_map(|path| Command::Capture(path.map(PathBuf::from))),
            set.prop_map(|pairs| Command::Set(pairs.into_iter().collect())),
            act.prop_map(move |pairs| Command::Do(pairs.into_iter().map(quoted).collect())),
            any::<bool>().prop_map(Command::Events),
            Just(Command::Status),
            Just(Command::Reload),
            Just(Command::Stop),
        ]
    }

    proptest! {
        #[test]
        fn a_command_that_is_written_is_read_again(command in command()) {
            let line = command.to_line();
            prop_assert_eq!(line.matches('\n').count(), 1);
            prop_assert_eq!(parse(line.trim_end_matches('\n')), Ok(command));
        }

        #[test]
        fn any_bytes_are_a_command_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Command::parse(Line::Whole(&bytes));
        }

        #[test]
        fn any_json_is_a_command_or_refused_with_a_cure(
            name in "capture|do|events|explain|reload|set|status|stop|trace|x",
            value in r#"[0-9]|true|"a"|\[\]|\{("a":[0-9])?\}|null"#,
        ) {
            if let Err(refusal) = Command::parse(Line::Whole(format!("{{\"{name}\":{value}}}").as_bytes())) {
                prop_assert!(refusal.help.is_some());
            }
        }
    }
}
