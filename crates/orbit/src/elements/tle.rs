//! Two-line element sets: fixed columns, assumed decimal points, a check digit.
//!
//! Columns follow the catalogue's published format ("TLE", AIAA 2006-6753 appendix B). Blank ephemeris types
//! and designators occur in real and in verification files and are taken; letters in the catalogue number are
//! Alpha-5.

use slantpath_base::Angle;

use super::{Checksums, ElementError, ElementFault, ElementSet, ElementSource};
use crate::utc::Utc;

/// Reads two-line sets, each with or without a line of name before it; the first fault ends it. Lines that are empty
/// or begin with `#` are passed over, and so are blanks before a line and whatever follows column 69.
pub fn read(text: &str, file: &str, checksums: Checksums) -> Result<Vec<ElementSet>, ElementError> {
    read_each(text, file, checksums).into_iter().collect()
}

/// As [`read`], each set or what is wrong with it.
pub fn read_each(text: &str, file: &str, checksums: Checksums) -> Vec<Result<ElementSet, ElementError>> {
    let mut sets = Vec::new();
    let mut name = None;
    let mut first: Option<(usize, &str)> = None;
    let error = |line, name, card: &str, fault| {
        let file = file.to_owned();
        Err(ElementError { file, line, object: object_of(name, card), fault })
    };
    let alone = ElementFault::Pair { found: 1, missing: 2 };
    for (index, line) in text.lines().enumerate() {
        // Columns count from the first character: the lines of a set that is indented are whole.
        let (number, line) = (index + 1, line.trim());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (is_first, is_second) = (line.starts_with("1 "), line.starts_with("2 "));
        if let Some((at, card1)) = first.take() {
            if is_second {
                let source = ElementSource { file: file.to_owned(), line: at };
                sets.push(match parse(card1, line, name, checksums, source) {
                    Ok(set) => set.check(),
                    Err((card, fault)) => error(at + usize::from(card == 2), name, card1, fault),
                });
                name = None;
                continue;
            }
            sets.push(error(at, name, card1, alone.clone()));
            name = None;
        }
        if is_first {
            first = Some((number, line));
        } else if is_second {
            sets.push(error(number, name, line, ElementFault::Pair { found: 2, missing: 1 }));
            name = None;
        } else {
            name = Some(line.strip_prefix("0 ").unwrap_or(line).trim());
        }
    }
    if let Some((line, card)) = first {
        sets.push(error(line, name, card, alone));
    }
    sets
}

/// Writes a set as its two lines of 69 columns. Digits beyond the columns are rounded away.
///
/// The catalogue number must fit the format: above 339,999 it is written modulo 100,000.
pub fn write(set: &ElementSet) -> [String; 2] {
    let (year, day) = set.epoch.day_of_year();
    let number = alpha5(set.catalogue_number);
    let dot = format!("{:.8}", set.mean_motion_dot.abs().min(0.999_999_99));
    let sign = if set.mean_motion_dot < 0.0 { '-' } else { ' ' };
    let designator = designator(&set.designator);
    let degrees = |angle: Angle| {
        let turned = libm::fmod(libm::fmod(angle.as_degrees(), 360.0) + 360.0, 360.0);
        format!("{:8.4}", if turned > 359.999_95 { 0.0 } else { turned })
    };
    let mut first = format!(
        "1 {number}U {designator:<8} {:02}{day:012.8} {sign}{}  00000-0 {} 0  999",
        year.rem_euclid(100),
        &dot[1..],
        assumed_point(set.bstar),
    );
    let mut second = format!(
        "2 {number} {} {} {:07.0} {} {} {:11.8}{:5}",
        degrees(set.inclination),
        degrees(set.right_ascension),
        libm::floor(set.eccentricity * 1e7 + 0.5),
        degrees(set.argument_of_perigee),
        degrees(set.mean_anomaly),
        set.mean_motion_rev_per_day,
        0,
    );
    for line in [&mut first, &mut second] {
        line.push(char::from(b'0' + checksum(line.as_bytes())));
    }
    [first, second]
}

/// A designator in its eight columns, the last two digits of the year first: `98067A` for `1998-067A`. One that is of
/// neither notation and longer than its columns is left out.
fn designator(text: &str) -> String {
    let text = text.trim();
    let is_number =
        |part: &str, digits| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
    let short = match text.split_once('-') {
        Some((year, rest))
            if is_number(year, 4) && rest.get(..3).is_some_and(|launch| is_number(launch, 3)) =>
        {
            format!("{}{rest}", &year[2..])
        }
        _ => text.to_owned(),
    };
    if short.is_ascii() && short.len() <= 8 { short } else { String::new() }
}

fn parse(
    card1: &str,
    card2: &str,
    name: Option<&str>,
    checksums: Checksums,
    source: ElementSource,
) -> Result<ElementSet, (u8, ElementFault)> {
    for (card, line) in [(1, card1), (2, card2)] {
        verify(card, line, checksums).map_err(|fault| (card, fault))?;
    }
    let one = |result: Result<f64, ElementFault>| result.map_err(|fault| (1, fault));
    let two = |result: Result<f64, ElementFault>| result.map_err(|fault| (2, fault));
    let first = catalogue_number(&card1[2..7]).map_err(|fault| (1, fault))?;
    let second = catalogue_number(&card2[2..7]).map_err(|fault| (2, fault))?;
    if first != second {
        return Err((2, ElementFault::TwoObjects { first, second }));
    }
    let degrees = |field, text| two(decimal(field, text)).map(Angle::from_degrees);
    Ok(ElementSet {
        name: name.filter(|name| !name.is_empty()).map_or_else(|| first.to_string(), str::to_owned),
        catalogue_number: first,
        designator: card1[9..17].trim().to_owned(),
        epoch: epoch(&card1[18..32]).map_err(|fault| (1, fault))?,
        mean_motion_dot: one(decimal("first derivative of mean motion", &card1[33..43]))?,
        bstar: one(exponent("drag term", &card1[53..61]))?,
        inclination: degrees("inclination", &card2[8..16])?,
        right_ascension: degrees("right ascension of the node", &card2[17..25])?,
        eccentricity: two(decimal("eccentricity", &format!("0.{}", card2[26..33].trim().replace(' ', "0"))))?,
        argument_of_perigee: degrees("argument of perigee", &card2[34..42])?,
        mean_anomaly: degrees("mean anomaly", &card2[43..51])?,
        mean_motion_rev_per_day: two(decimal("mean motion", &card2[52..63]))?,
        source,
    })
}

fn verify(card: u8, line: &str, checksums: Checksums) -> Result<(), ElementFault> {
    if !line.is_ascii() {
        return Err(ElementFault::Field {
            field: "the line",
            text: line.to_owned(),
            expected: "ASCII characters",
        });
    }
    let Some((body, last)) = line.as_bytes().get(..69).map(|line| (&line[..68], line[68])) else {
        return Err(ElementFault::Length { card, columns: line.len() });
    };
    let computed = checksum(body);
    match checksums {
        Checksums::Verify if last != b'0' + computed => {
            Err(ElementFault::Checksum { card, written: char::from(last), computed })
        }
        Checksums::Verify | Checksums::Ignore => Ok(()),
    }
}

/// The sum of the digits, a minus counting one, modulo ten.
fn checksum(body: &[u8]) -> u8 {
    let sum: u32 = body
        .iter()
        .map(|&byte| match byte {
            b'0'..=b'9' => u32::from(byte - b'0'),
            b'-' => 1,
            _ => 0,
        })
        .sum();
    (sum % 10) as u8
}

fn object_of(name: Option<&str>, card: &str) -> String {
    let number = card.get(2..7).unwrap_or("").trim();
    match name {
        Some(name) if !name.is_empty() => format!("{name} ({number})"),
        _ => number.to_owned(),
    }
}

fn catalogue_number(text: &str) -> Result<u32, ElementFault> {
    let field = |text: &str| ElementFault::Field {
        field: "catalogue number",
        text: text.to_owned(),
        expected: "five digits, or a letter and four digits",
    };
    let trimmed = text.trim();
    let (head, tail) = match trimmed.as_bytes() {
        [letter @ b'A'..=b'Z', tail @ ..] if tail.len() == 4 => match ALPHA5.find(char::from(*letter)) {
            Some(index) => (u32::try_from(index).unwrap_or(0) + 10, &trimmed[1..]),
            None => return Err(field(text)),
        },
        _ => (0, trimmed),
    };
    if !tail.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(field(text));
    }
    tail.parse::<u32>().map(|tail| head * 10_000 + tail).map_err(|_| field(text))
}

fn alpha5(number: u32) -> String {
    let head = (number / 10_000) as usize;
    match head.checked_sub(10).and_then(|index| ALPHA5.get(index..=index)) {
        Some(letter) => format!("{letter}{:04}", number % 10_000),
        None => format!("{:05}", number % 100_000),
    }
}

/// Alpha-5's letters for ten and up; I and O are left out.
const ALPHA5: &str = "ABCDEFGHJKLMNPQRSTUVWXYZ";

fn epoch(text: &str) -> Result<Utc, ElementFault> {
    let fault = || ElementFault::Field { field: "epoch", text: text.to_owned(), expected: "YYDDD.DDDDDDDD" };
    let whole = |text: &str| text.trim().parse::<i64>().ok().filter(|value| *value >= 0).ok_or_else(fault);
    let year = whole(&text[..2])?;
    let year = if year < 57 { 2_000 + year } else { 1_900 + year };
    let (day, fraction) = text[2..].trim_end().split_once('.').unwrap_or((&text[2..], "0"));
    // Eight digits of a day are 864 µs each: whole nanoseconds, without the detour over a float.
    let units = whole(&format!("{fraction:0<8}"))?;
    if fraction.len() > 9 || units >= 10_i64.pow(u32::try_from(fraction.len().max(8)).unwrap_or(8)) {
        return Err(fault());
    }
    let nanos = if fraction.len() == 9 { units * 86_400 } else { units * 864_000 };
    Utc::from_day_of_year(year, whole(day)?, nanos).ok_or_else(fault)
}

fn decimal(field: &'static str, text: &str) -> Result<f64, ElementFault> {
    let fault = || ElementFault::Field { field, text: text.to_owned(), expected: "a decimal number" };
    let trimmed = text.trim();
    if !trimmed.bytes().all(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte)) {
        return Err(fault());
    }
    trimmed.parse().map_err(|_| fault())
}

/// A number with its point assumed before the digits and a power of ten after them: ` 28098-4` is 0.28098e-4.
fn exponent(field: &'static str, text: &str) -> Result<f64, ElementFault> {
    let fault = || ElementFault::Field {
        field,
        text: text.to_owned(),
        expected: "digits and a power, as in ` 28098-4`",
    };
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Ok(0.0);
    }
    let (sign, body) = match trimmed.as_bytes()[0] {
        b'-' => ("-", &trimmed[1..]),
        b'+' => ("", &trimmed[1..]),
        _ => ("", trimmed),
    };
    let at = body.find(['-', '+']).ok_or_else(fault)?;
    let (digits, power) = body.split_at(at);
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !plain(digits.trim()) || !plain(&power[1..]) {
        return Err(fault());
    }
    format!("{sign}0.{}e{power}", digits.trim()).parse().map_err(|_| fault())
}

/// Eight columns with an assumed point.
fn assumed_point(value: f64) -> String {
    if value == 0.0 || libm::fabs(value) < 1e-10 {
        return " 00000+0".to_owned();
    }
    let text = format!("{:.4e}", libm::fabs(value).min(9.0e8));
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power = power.parse::<i32>().unwrap_or(0) + 1;
    let sign = if value < 0.0 { '-' } else { ' ' };
    let power_sign = if power < 0 { '-' } else { '+' };
    format!("{sign}{}{power_sign}{}", mantissa.replace('.', ""), power.abs().min(9))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const VANGUARD: [&str; 2] = [
        "1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753",
        "2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667",
    ];

    fn read_lines(lines: &[&str]) -> Result<Vec<ElementSet>, ElementError> {
        read(&lines.join("\n"), "test.tle", Checksums::Verify)
    }

    #[test]
    fn a_named_set_reads_as_its_columns_say() {
        let sets = read_lines(&["# a comment", "0 VANGUARD 1", VANGUARD[0], VANGUARD[1]]).unwrap();
        let set = &sets[0];
        assert_eq!(
            (set.name.as_str(), set.catalogue_number, set.designator.as_str()),
            ("VANGUARD 1", 5, "58002B")
        );
        assert_eq!(set.epoch.to_string(), "2000-06-27T18:50:19.733568Z");
        assert_eq!((set.eccentricity, set.bstar), (0.185_966_7, 0.280_98e-4));
        assert_eq!(set.mean_motion_rev_per_day, 10.824_191_57);
        assert_eq!(set.source.line, 3);
    }

    #[test]
    fn a_wrong_check_digit_names_file_line_object_and_cure() {
        let broken = VANGUARD[1].replace("413667", "413668");
        let error = read_lines(&["VANGUARD 1", VANGUARD[0], &broken]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "test.tle:3: VANGUARD 1 (00005): line 2 ends in checksum 8, its digits give 7: \
             the line was altered or cut; fetch the set again, or read the file with checksums ignored"
        );
        let text = [VANGUARD[0], &broken].join("\n");
        assert!(read(&text, "test.tle", Checksums::Ignore).is_ok());
    }

    #[test]
    fn what_is_no_set_is_refused() {
        let short = &VANGUARD[0][..60];
        let other = VANGUARD[1].replace("2 00005", "2 00006").replace("413667", "413668");
        for lines in [
            vec![VANGUARD[0]],
            vec![VANGUARD[1]],
            vec![short, VANGUARD[1]],
            vec![VANGUARD[0], &other],
            vec![VANGUARD[0], "VANGUARD"],
        ] {
            assert!(read_lines(&lines).is_err(), "{lines:?}");
        }
    }

    #[test]
    fn a_line_without_its_other_is_told_by_its_place_object_and_card() {
        type Read = Result<(String, usize), (String, usize, ElementFault)>;
        let alone = |found, missing| ElementFault::Pair { found, missing };
        let read = |lines: &[&str]| -> Vec<Read> {
            let each = read_each(&lines.join("\n"), "test.tle", Checksums::Verify).into_iter();
            let whole = |set: ElementSet| (set.name, set.source.line);
            each.map(|set| set.map(whole).map_err(|error| (error.object, error.line, error.fault))).collect()
        };
        let [first, second] = VANGUARD;
        let unnamed = "00005".to_owned();
        // At the end of the file, before a name, and before the first line of another set, which is whole.
        assert_eq!(read(&[first]), [Err((unnamed.clone(), 1, alone(1, 2)))]);
        assert_eq!(read(&[first, "VANGUARD 1"]), [Err((unnamed.clone(), 1, alone(1, 2)))]);
        assert_eq!(
            read(&["ONE", first, "TWO", first, second]),
            [Err(("ONE (00005)".to_owned(), 2, alone(1, 2))), Ok(("TWO".to_owned(), 4))]
        );
        // No name outlives the set that it stands before.
        assert_eq!(
            read(&["ONE", first, first, second]),
            [Err(("ONE (00005)".to_owned(), 2, alone(1, 2))), Ok(("5".to_owned(), 3))]
        );
        assert_eq!(
            read(&["ONE", second, first, second]),
            [Err(("ONE (00005)".to_owned(), 2, alone(2, 1))), Ok(("5".to_owned(), 3))]
        );
        assert_eq!(read(&[first, second, second]), [Ok(("5".to_owned(), 1)), Err((unnamed, 3, alone(2, 1)))]);
    }

    #[test]
    fn lines_may_be_indented() {
        let lines =
            ["  VANGUARD 1", &format!("\t{}", VANGUARD[0]), &format!("  {}  ", VANGUARD[1]), "  # a comment"];
        let sets = read_lines(&lines).unwrap();
        assert_eq!(sets.len(), 1);
        assert_eq!((sets[0].name.as_str(), sets[0].source.line), ("VANGUARD 1", 2));
        let plain = read_lines(&["", "VANGUARD 1", VANGUARD[0], VANGUARD[1]]).unwrap();
        assert_eq!(ElementSet { source: sets[0].source.clone(), ..plain[0].clone() }, sets[0]);
        assert_eq!(plain[0].source.line, 3);
    }

    #[test]
    fn designators_are_written_as_the_columns_have_them() {
        let set = read_lines(&VANGUARD).unwrap().remove(0);
        for (known, written) in [
            ("1998-067A", "98067A  "),
            ("98067A", "98067A  "),
            ("2019-074BCD", "19074BCD"),
            ("1958-002", "58002   "),
            ("", "        "),
            // Neither notation, and more than the columns hold.
            ("1998-67A", "1998-67A"),
            ("UNKNOWN OBJECT", "        "),
            ("2019-074ABCD", "        "),
        ] {
            let [first, _] = write(&ElementSet { designator: known.to_owned(), ..set.clone() });
            assert_eq!((&first[9..17], first.len()), (written, 69), "{known}");
        }
    }

    #[test]
    fn alpha_5_numbers_count_on() {
        assert_eq!(catalogue_number("A0000"), Ok(100_000));
        assert_eq!(catalogue_number("Z9999"), Ok(339_999));
        assert!(catalogue_number("I0000").is_err());
        assert_eq!(alpha5(148_493), "E8493");
    }

    proptest! {
        #[test]
        fn reading_any_text_is_total(text in "(1 |2 )?[ -~]{0,80}\n(1 |2 )?\\PC{0,80}") {
            let _ = read(&text, "x", Checksums::Verify);
            let _ = read(&text, "x", Checksums::Ignore);
        }

        #[test]
        fn a_damaged_set_never_panics(at in 0..138_usize, byte in 0x20..0x7f_u8) {
            let mut text = VANGUARD.join("\n").into_bytes();
            text[at] = byte;
            let text = String::from_utf8(text).unwrap();
            let _ = read(&text, "x", Checksums::Ignore);
        }

        #[test]
        fn what_is_written_reads_back(
            number in 1..339_999_u32, incl in 0.0..180.0_f64, raan in 0.0..360.0_f64, ecc in 0.0..0.9_f64,
            motion in 0.9..16.0_f64, bstar in -0.5..0.5_f64, dot in -0.01..0.01_f64, day in 1..365_i64,
            nanos in 0..86_400_000_000_000_i64,
        ) {
            let set = ElementSet {
                name: number.to_string(), catalogue_number: number, designator: "19001A".into(),
                epoch: Utc::from_day_of_year(2021, day, nanos).unwrap(), inclination: Angle::from_degrees(incl),
                right_ascension: Angle::from_degrees(raan), eccentricity: ecc,
                argument_of_perigee: Angle::from_degrees(raan / 2.0), mean_anomaly: Angle::from_degrees(incl * 1.9),
                mean_motion_rev_per_day: motion, bstar, mean_motion_dot: dot, source: ElementSource::default(),
            };
            let lines = write(&set);
            prop_assert!(lines.iter().all(|line| line.len() == 69), "{lines:?}");
            let back = read(&lines.join("\n"), "x", Checksums::Verify).unwrap().remove(0);
            prop_assert_eq!(back.catalogue_number, number);
            prop_assert!((back.inclination.as_degrees() - incl).abs() < 1e-4);
            prop_assert!((back.eccentricity - ecc).abs() < 1e-7);
            prop_assert!((back.mean_motion_rev_per_day - motion).abs() < 1e-8);
            prop_assert!((back.bstar - bstar).abs() <= 1e-4 * bstar.abs() + 1e-10);
            prop_assert!((back.mean_motion_dot - dot).abs() < 1e-8);
            prop_assert!(back.epoch.seconds_since(set.epoch).abs() < 1e-3);
        }
    }
}
