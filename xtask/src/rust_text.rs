//! Rust source without its comments and literals, so that a rule about code does not fire on prose.

/// The text with every comment and the inside of every string and character literal turned into blanks. Line
/// breaks stay, so line numbers hold.
pub(crate) fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let kept = rest_after_identifier(rest);
        if kept > 0 {
            // An identifier or number whole, so that the `r` of `for"` is never taken for a raw string's.
            let (word, after) = rest.split_at(kept);
            code.push_str(word);
            rest = after;
            continue;
        }
        let skipped = literal_or_comment_length(rest);
        if skipped > 0 {
            let (hidden, after) = rest.split_at(skipped);
            code.extend(hidden.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = after;
        } else {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    code
}

/// Bytes of the identifier at the start, unless it is the prefix of a literal.
fn rest_after_identifier(rest: &str) -> usize {
    let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let (word, after) = rest.split_at(length);
    let is_prefix = match word {
        "b" | "c" => after.starts_with(['"', '\'']),
        "r" | "br" | "cr" => after.starts_with('"') || after.trim_start_matches('#').starts_with('"'),
        _ => false,
    };
    if is_prefix { 0 } else { length }
}

fn literal_or_comment_length(rest: &str) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment_length(rest);
    }
    let body = rest.trim_start_matches(['b', 'c']);
    let prefix = rest.len() - body.len();
    if let Some(raw) = body.strip_prefix('r') {
        let opened = raw.trim_start_matches('#');
        let hashes = raw.len() - opened.len();
        if let Some(inside) = opened.strip_prefix('"') {
            let closing = format!("\"{}", "#".repeat(hashes));
            let inner = inside.find(&closing).map_or(inside.len(), |at| at + closing.len());
            return prefix + 1 + hashes + 1 + inner;
        }
        return 0;
    }
    if body.starts_with('"') {
        return prefix + quoted_length(body, '"');
    }
    if body.starts_with('\'') {
        return character_length(body).map_or(0, |length| prefix + length);
    }
    0
}

/// A character literal's length, or `None` for a lifetime.
fn character_length(body: &str) -> Option<usize> {
    let mut chars = body.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        return Some(quoted_length(body, '\''));
    }
    let (at, second) = chars.next()?;
    (second == '\'').then_some(at + 1)
}

fn quoted_length(body: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in body.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    body.len()
}

fn block_comment_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squeezed(text: &str) -> String {
        code_only(text).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_vanish_and_lines_stay() {
        assert_eq!(code_only("a // todo!()\nb").lines().count(), 2);
        assert_eq!(squeezed("a /* x /* y */ z\n */ b"), "a b");
    }

    #[test]
    fn strings_vanish_whatever_their_prefix_and_escapes() {
        assert_eq!(squeezed(r#"f("dbg!(\" ", b"x", x)"#), "f( , , x)");
        assert_eq!(squeezed("g(r#\"a \" // b\"#, br\"\\\", y)"), "g( , , y)");
        assert_eq!(squeezed("let r = 1; for x in r { }"), "let r = 1; for x in r { }");
    }

    #[test]
    fn lifetimes_are_code_and_characters_are_not() {
        assert_eq!(squeezed("fn f<'a>(x: &'a str) { '\"' ; '\\'' ; b'/' }"), "fn f<'a>(x: &'a str) { ; ; }");
    }

    #[test]
    fn unfinished_literals_end_with_the_file() {
        assert_eq!(squeezed("a \"b"), "a");
        assert_eq!(squeezed("a /* b"), "a");
        assert_eq!(squeezed("a r#\"b"), "a");
        assert_eq!(squeezed("'"), "'");
    }
}
