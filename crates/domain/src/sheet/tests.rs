use super::*;

/// Rows of a file, with their lines; a cell `phone` in the first row is what is looked for.
fn read(file: &[u8]) -> Result<Vec<(u64, Vec<String>)>, Fault> {
    let mut rows = Rows::of(file, 1000, |row| row.cells().any(|cell| cell.eq_ignore_ascii_case("phone")))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push((row.line(), row.cells().map(str::to_owned).collect()));
    }
    Ok(found)
}

fn texts(file: &str) -> Vec<(u64, Vec<String>)> {
    read(file.as_bytes()).unwrap()
}

fn row(line: u64, cells: &[&str]) -> (u64, Vec<String>) {
    (line, cells.iter().map(|cell| (*cell).to_owned()).collect())
}

#[test]
fn cells_rows_and_lines() {
    for end in ["\n", "\r\n", "\r"] {
        let file = ["phone,name", "", "1,\"a, \"\"b\"\"", "c\"", ",", "  2  ,x", "\"3\" ,", "\"\""].join(end);
        assert_eq!(
            texts(&file),
            [
                row(1, &["phone", "name"]),
                row(3, &["1", &format!("a, \"b\"{end}c")]),
                row(5, &["", ""]),
                row(6, &["  2  ", "x"]),
                row(7, &["3", ""]),
                row(8, &[""]),
            ],
            "{end:?}"
        );
        assert_eq!(texts(&format!("{file}{end}{end}")).len(), 6);
    }
    assert_eq!(texts(""), []);
    assert_eq!(texts("\r\n\r\n"), []);
    assert_eq!(texts("a"), [row(1, &["a"])]);
    assert_eq!(texts("a,"), [row(1, &["a", ""])]);
}

#[test]
fn a_quote_in_a_bare_cell_is_a_letter() {
    assert_eq!(texts("a,5\" pipe\nb,6\""), [row(1, &["a", "5\" pipe"]), row(2, &["b", "6\""])]);
    // Quotes that are not doubled, on one line.
    assert_eq!(texts("\"a\" b ,c"), [row(1, &["a b ", "c"])]);
    assert_eq!(texts("\"Asha \"B\" Rao\",1"), [row(1, &["Asha B\" Rao\"", "1"])]);
    assert_eq!(texts("1, \"Rao, Asha\" ,x"), [row(1, &["1", "Rao, Asha", "x"])]);
}

#[test]
fn the_separator_is_found_in_the_whole_first_row() {
    for (file, cells) in [
        (
            "Name;\"Due (Rs, incl. GST, fees)\";Phone\nA;1;2",
            vec!["Name", "Due (Rs, incl. GST, fees)", "Phone"],
        ),
        ("\"Customer\nName\";Phone;City", vec!["Customer\nName", "Phone", "City"]),
        ("\"Customer\r\nName\"\tPhone", vec!["Customer\r\nName", "Phone"]),
        ("a;\"b\"\",,,,c\";d", vec!["a", "b\",,,,c", "d"]),
        ("a|b|phone", vec!["a", "b", "phone"]),
        ("a, b and c;phone", vec!["a, b and c", "phone"]),
        ("x;y,z", vec!["x;y", "z"]),
        ("Due, incl. GST, fees;phone", vec!["Due, incl. GST, fees", "phone"]),
        ("\n\r\nphone;a;b,c", vec!["phone", "a", "b,c"]),
        ("phone", vec!["phone"]),
    ] {
        assert_eq!(texts(file)[0].1, cells, "{file}");
    }
}

#[test]
fn a_line_may_set_the_separator() {
    for (file, line, cells) in [
        ("sep=;\r\nphone;a, b", 2, vec!["phone", "a, b"]),
        ("SEP=|\nphone|a;b;c", 2, vec!["phone", "a;b;c"]),
        ("sep=\t\rphone\ta", 2, vec!["phone", "a"]),
        ("sep=\\t\nphone\ta, b", 2, vec!["phone", "a, b"]),
        ("sep=;;;\nphone;a;b;c", 2, vec!["phone", "a", "b", "c"]),
        ("\"sep=,\"\nphone,a;b;c", 2, vec!["phone", "a;b;c"]),
        ("sep=:\nphone:a,b", 2, vec!["phone", "a,b"]),
        ("\u{FEFF}sep=;\nphone;a", 2, vec!["phone", "a"]),
        ("sep=a\nphone", 1, vec!["sep=a"]),
        ("sep=", 1, vec!["sep="]),
        ("sep=;x;phone", 1, vec!["sep=", "x", "phone"]),
    ] {
        assert_eq!(texts(file)[0], (line, cells.into_iter().map(str::to_owned).collect()), "{file}");
    }
}

#[test]
fn quotes_that_would_swallow_rows_are_named() {
    for (file, fault) in [
        ("phone,note\n1,\"never\n2,ok\n", Fault::NeverClosed(2)),
        ("phone,note\r\n1,\"never\r\n2,ok\r\n3,\"fine\"\r\n4,good", Fault::ClosedAmid(2, 4)),
        ("name,phone\n\"A,1\nB,2\n\"C\",3\nD,4", Fault::ClosedAmid(2, 4)),
        ("name,phone,item\nA,1,\"pipe\nB,2,5\" pipe\nC,3,tap", Fault::ClosedAmid(2, 3)),
        ("\"A\",\"1\n\"B\",\"2\"", Fault::ClosedAmid(1, 2)),
        ("a\rb,\"c\rd,e", Fault::NeverClosed(2)),
        ("a,\"b\nc\" d", Fault::ClosedAmid(1, 2)),
        ("a,\"x\nb\",\"y\n", Fault::NeverClosed(2)),
    ] {
        assert_eq!(read(file.as_bytes()), Err(fault), "{file}");
    }
    let long = format!("phone\n\"{}", "9".repeat(1001));
    assert_eq!(read(long.as_bytes()), Err(Fault::TooLong(2, 1000)));
    assert_eq!(read("x".repeat(3000).as_bytes()), Err(Fault::TooLong(1, 1000)));
}

#[test]
fn a_row_within_a_cell_is_named() {
    let check = |file: &str, cells, number| {
        let mut rows = Rows::of(file.as_bytes(), 1000, |_| false).unwrap();
        std::iter::from_fn(|| rows.next().unwrap()).find_map(|row| row.check_whole(cells, number).err())
    };
    let swallowed = "A,9812340001,\"pipe\nB,9812340002,5\"\nC,9812340003,x";
    assert_eq!(check(swallowed, 3, 1), Some(Fault::RowWithin(1, 2)));
    assert_eq!(check("\"A;9812340001\r\nB\";'9812340002.0", 2, 1), Some(Fault::RowWithin(1, 2)));
    assert_eq!(check("\"9812340001\r9812340002\"", 1, 0), Some(Fault::RowWithin(1, 2)));
    assert_eq!(check("\"Iyer\nRavi\",9812340002", 2, 1), None);
    assert_eq!(check("\"Iyer\nRavi\",9812340002\n\"Rao\r\nAsha\",9812340001", 2, 1), None);
    assert_eq!(check("A,9812340001,\"said\nx\ncall 9812340009, B\"", 3, 1), None);
    assert_eq!(check("A,9812340001,\"12, M G Road\nPune, 411001\"", 3, 1), None);
    assert_eq!(check("A,9812340001,x\nB,9812340002,y", 3, 1), None);
}

#[test]
fn encodings() {
    let text = "phone;name\r\n9812340001;आशा 😀\r\n";
    let expected = [row(1, &["phone", "name"]), row(2, &["9812340001", "आशा 😀"])];
    let utf16 = |mark: bool, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        let mark = mark.then_some(0xFEFF);
        mark.into_iter().chain(text.encode_utf16()).flat_map(bytes).collect()
    };
    for file in [
        text.as_bytes().to_vec(),
        format!("\u{FEFF}{text}").into_bytes(),
        utf16(true, u16::to_le_bytes),
        utf16(true, u16::to_be_bytes),
        utf16(false, u16::to_le_bytes),
        utf16(false, u16::to_be_bytes),
    ] {
        assert_eq!(read(&file).as_deref(), Ok(&expected[..]), "{:x?}", &file[..4]);
        // In pieces of one byte, as a pipe may give them.
        struct Drops<'a>(&'a [u8]);
        impl Read for Drops<'_> {
            fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
                let count = self.0.len().min(1);
                into[..count].copy_from_slice(&self.0[..count]);
                self.0 = &self.0[count..];
                Ok(count)
            }
        }
        let mut rows = Rows::of(Drops(&file), 1000, |_| false).unwrap();
        let count = std::iter::from_fn(|| rows.next().unwrap()).count();
        assert_eq!((count, rows.bytes_read()), (2, file.len() as u64));
    }
    assert_eq!(read(b"phone,name\r1,Asha\r2,Ren\xE9\r"), Err(Fault::NotText(3)));
    assert_eq!(read(b"\xE9t\xE9,phone\n"), Err(Fault::NotText(1)));
    assert_eq!(read(b"a\r\nb\r\n\xE9"), Err(Fault::NotText(3)));
    assert_eq!(read("a\nआ".as_bytes().split_last().unwrap().1), Err(Fault::NotText(2)));
    assert_eq!(read(b"\xFF\xFEa\0\n\0\x00\xD8b\0"), Err(Fault::NotText(2)));
    assert_eq!(read(b"\xFF\xFEa\0\n\0b"), Err(Fault::NotText(2)));
}

#[test]
fn numbers_of_cells() {
    for (cell, number) in [
        ("'9812340001", "9812340001"),
        (" \u{2019}9812340001 ", "9812340001"),
        ("=\"09812340001\"", "09812340001"),
        ("9812340001.0", "9812340001.0"),
        ("", ""),
        ("=\"", "=\""),
    ] {
        assert_eq!(number_of(cell), number, "{cell}");
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_answered(file in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
        let _ = read(&file);
    }

    /// What is written with quotes is read as it was, whatever stands in the cells.
    #[test]
    fn quoted_cells_come_back(cells in proptest::collection::vec("[a-c0-9\"',;|\t\r\n ]{0,6}", 1..5), separator in 0usize..4, end in 0usize..3) {
        let separator = SEPARATORS[separator];
        let end = ["\n", "\r\n", "\r"][end];
        let quoted: Vec<String> = cells.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
        let line = quoted.join(&separator.to_string());
        let file = format!("sep={separator}{end}{line}{end}{line}");
        let found = texts(&file);
        proptest::prop_assert_eq!(found.len(), 2);
        for (_, found) in found {
            proptest::prop_assert_eq!(&found, &cells);
        }
    }
}
