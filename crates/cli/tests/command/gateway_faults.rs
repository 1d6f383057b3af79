//! `slantpath gateway check` of files that no gateway can serve: what is wrong, at which place, and the cure.

use crate::gateway::LAB;
use crate::place::Place;

#[test]
fn a_file_that_no_gateway_can_serve_is_told_with_place_and_cure() {
    let place = Place::new("gateway-faults");
    let via = "from = \"exchange\"\nto = \"register\"\nvia = \"london\"";
    let code = "point_code = \"3-20-1\"";
    let twice =
        "[[signalling.routes]]\nfrom = \"london\"\nto = \"register\"\nvia = \"exchange\"\n\n[signalling.load";
    for (old, new, line, wrong, cure) in [
        // A route through itself, and one back to where its messages come from.
        (
            via,
            "from = \"exchange\"\nto = \"register\"\nvia = \"exchange\"",
            "via = \"exchange\"",
            "no link joins `exchange` to `exchange`",
            "let `via` be the far end of a link of `from`",
        ),
        (
            "[signalling.load",
            twice,
            "to = \"register\"",
            "is listed twice: join its routes",
            "the point is behind this one: remove the route",
        ),
        (
            code,
            "point_code = \"2-15-3\"",
            "point_code = \"2-15-3\"",
            "`london` and `register` both have point code 2-15-3 (4219)",
            "give every point a code of its own",
        ),
        (
            code,
            "point_code = \"20-20-1\"",
            "point_code = \"20-20-1\"",
            "`20` does not fit 3 bits",
            "write a number, or three with dashes like \"2-15-3\"",
        ),
        (
            code,
            "point_code = \"20-20-1\"\nformat = \"ansi\"",
            "dpc = \"register\"",
            "application server `register` is of network `international` (ansi), and gateway `london` of",
            "let `london` and `register` have one `format` and one `network`",
        ),
    ] {
        let text = LAB.replace(old, new);
        assert_ne!(text, LAB, "{old}");
        place.write("lab.toml", &text);
        let outcome = place.run(&["gateway", "check", "lab.toml", "--point", "london"]);
        assert_eq!(outcome.status, Some(2), "{}", outcome.out);
        let number =
            text.lines().collect::<Vec<_>>().iter().rposition(|own| *own == line).expect("the line is there")
                + 1;
        for words in [wrong, cure, &format!("[lab.toml:{number}:")] {
            assert!(outcome.err.contains(words), "{words}: {}", outcome.err);
        }
    }
}
