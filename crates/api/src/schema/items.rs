//! A body with one long list, read as it comes: its items are checked piece by piece, so that the whole of it is never
//! in memory.

use serde_json::Value;

use super::{Misfit, Schema, Unread, parse};

/// Bytes of items, from which on a piece is whole.
const PIECE: usize = 512 * 1024;
/// Most items of a piece.
const PIECE_ITEMS: usize = 2_000;
/// Most bytes of one item, and of everything outside of the list.
const LONGEST: usize = 1024 * 1024;

/// Where in the body the next byte is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the list or behind it.
    Beside,
    /// In the list.
    Within,
}

/// The items of a list that is a field of a body.
#[derive(Debug)]
pub struct Items {
    schema: Schema,
    field: &'static str,
    most: usize,
    place: Place,
    /// Objects and lists that are open.
    depth: usize,
    /// Within a text, and behind its `\`.
    text: bool,
    escaped: bool,
    /// Everything outside of the list, with its first item in place of the list.
    beside: Vec<u8>,
    /// Where the last text at the top began in `beside`, and whether a colon came after it.
    name: Option<(usize, usize)>,
    colon: bool,
    /// The list has been there.
    seen: bool,
    /// Items of the next piece, with the signs between them.
    items: Vec<u8>,
    /// Where the last of these begins, and how many there are before it.
    last: usize,
    count: usize,
    /// An item must follow: there was a comma behind the last piece.
    owed: bool,
    /// Items of earlier pieces.
    before: usize,
}

/// Items that are whole and have not been read yet.
#[derive(Debug)]
pub struct Piece {
    schema: Schema,
    field: &'static str,
    json: Vec<u8>,
    before: usize,
}

impl Piece {
    /// How many items came before it.
    pub fn before(&self) -> usize {
        self.before
    }

    /// Reads and checks the items; the body with these alone. It takes its time.
    ///
    /// # Errors
    /// The first item that does not fit, by its place in the whole list.
    pub fn read(self) -> Result<Value, Unread> {
        let Self { schema, field, json, before } = self;
        let read = parse(&schema, &json).and_then(|mut body| match schema.check(&mut body) {
            Ok(()) => Ok(body),
            Err(misfit) => Err(Unread::Misfit(misfit)),
        });
        read.map_err(|why| match why {
            Unread::Misfit(misfit) => {
                Unread::Misfit(Misfit { field: moved(&misfit.field, field, before), ..misfit })
            }
            // Its line and column are none of the body.
            Unread::Malformed(why) if before > 0 => {
                let why = why.split(" at line ").next().unwrap_or_default();
                Unread::Malformed(format!("{why}, behind {field}[{}]", before - 1))
            }
            Unread::Malformed(why) => Unread::Malformed(why),
        })
    }
}

/// The path of an item of a piece as that in the whole list.
fn moved(path: &str, field: &str, before: usize) -> String {
    let index = path
        .strip_prefix(field)
        .and_then(|rest| rest.strip_prefix('['))
        .and_then(|rest| rest.split_once(']'));
    match index.and_then(|(index, rest)| Some((index.parse::<usize>().ok()?, rest))) {
        Some((index, rest)) => format!("{field}[{}]{rest}", index + before),
        None => path.to_owned(),
    }
}

impl Items {
    /// The items of `field`, of which there are at most `most`, in a body of this shape.
    pub fn of(schema: Schema, field: &'static str, most: usize) -> Self {
        Self {
            schema,
            field,
            most,
            place: Place::Beside,
            depth: 0,
            text: false,
            escaped: false,
            beside: Vec::new(),
            name: None,
            colon: false,
            seen: false,
            items: Vec::new(),
            last: 0,
            count: 0,
            owed: false,
            before: 0,
        }
    }

    /// Takes the next bytes up to the end of a piece; the piece, once it is whole, and the bytes that are left.
    ///
    /// # Errors
    /// The list or an item has more than it may have, or the list is there twice.
    pub fn take<'b>(&mut self, bytes: &'b [u8]) -> Result<(Option<Piece>, &'b [u8]), Unread> {
        for (at, byte) in bytes.iter().enumerate() {
            match self.place {
                Place::Beside => self.beside(*byte)?,
                Place::Within => {
                    if self.within(*byte)? {
                        return Ok((Some(self.cut()), &bytes[at + 1..]));
                    }
                }
            }
        }
        Ok((None, &[]))
    }

    /// The end of the body; whether anything was in the list.
    ///
    /// # Errors
    /// Something outside of the list does not fit, or the body is not JSON.
    pub fn finish(self) -> Result<bool, Unread> {
        if self.place == Place::Within {
            return Err(Unread::Malformed("EOF while parsing a list".into()));
        }
        let mut body = parse(&self.schema, &self.beside)?;
        self.schema.check(&mut body).map_err(Unread::Misfit)?;
        Ok(self.before > 0)
    }

    fn too_long(&self, field: String) -> Unread {
        let must = format!("must have at most {LONGEST} bytes as JSON");
        Unread::Misfit(Misfit { field, must, unknown: Vec::new(), error: None })
    }

    /// A byte before or behind the list.
    fn beside(&mut self, byte: u8) -> Result<(), Unread> {
        if self.beside.len() >= LONGEST {
            return Err(self.too_long(String::new()));
        }
        let at = self.beside.len();
        self.beside.push(byte);
        if self.text {
            self.in_text(byte);
            if !self.text && self.depth == 1 && !self.colon {
                self.name = self.name.map(|(start, _)| (start, at + 1));
            }
            return Ok(());
        }
        match byte {
            b'"' => {
                self.text = true;
                if self.depth == 1 && !self.colon {
                    self.name = Some((at, at));
                }
            }
            b':' if self.depth == 1 => self.colon = true,
            b',' if self.depth == 1 => (self.colon, self.name) = (false, None),
            b'[' if self.depth == 1 && self.colon && self.is_named() => {
                if self.seen {
                    let must = "must be sent only once".to_owned();
                    return Err(Unread::Misfit(Misfit {
                        field: self.field.into(),
                        must,
                        unknown: Vec::new(),
                        error: None,
                    }));
                }
                (self.seen, self.place, self.depth) = (true, Place::Within, 2);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        Ok(())
    }

    /// Whether the last name at the top is that of the list.
    fn is_named(&self) -> bool {
        let name = self.name.and_then(|(start, end)| self.beside.get(start..end));
        name.and_then(|name| serde_json::from_slice::<String>(name).ok())
            .is_some_and(|name| name == self.field)
    }

    /// A byte of the list; whether a piece is whole with it.
    fn within(&mut self, byte: u8) -> Result<bool, Unread> {
        if self.text {
            self.in_text(byte);
        } else {
            match byte {
                b'"' => self.text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth > 2 => self.depth -= 1,
                b']' => return self.ended(),
                b',' if self.depth == 2 => {
                    self.count += 1;
                    self.check_count(1)?;
                    if self.items.len() >= PIECE || self.count >= PIECE_ITEMS {
                        self.owed = true;
                        return Ok(true);
                    }
                    self.last = self.items.len() + 1;
                }
                _ => {}
            }
        }
        self.items.push(byte);
        if self.items.len() - self.last.min(self.items.len()) > LONGEST {
            return Err(self.too_long(format!("{}[{}]", self.field, self.before + self.count)));
        }
        Ok(false)
    }

    /// The list ends; whether there is a piece left.
    fn ended(&mut self) -> Result<bool, Unread> {
        (self.place, self.depth) = (Place::Beside, 1);
        let blank = self.items.iter().all(u8::is_ascii_whitespace);
        if blank && self.owed {
            return Err(Unread::Malformed("trailing comma".into()));
        }
        if !blank {
            self.count += 1;
            self.check_count(0)?;
        } else {
            self.beside.push(b']');
        }
        Ok(!blank)
    }

    /// Whether there may be `more` items besides those that were counted.
    fn check_count(&self, more: usize) -> Result<(), Unread> {
        if self.before + self.count + more <= self.most {
            return Ok(());
        }
        // In the words of the schema, which are the same for a list that is too short.
        let mut body = serde_json::json!({self.field: []});
        let must = match self.schema.check(&mut body) {
            Err(misfit) if misfit.field == self.field => misfit.must,
            _ => format!("must have at most {} items", self.most),
        };
        Err(Unread::Misfit(Misfit { field: self.field.into(), must, unknown: Vec::new(), error: None }))
    }

    /// What was collected as a piece.
    fn cut(&mut self) -> Piece {
        let items = std::mem::take(&mut self.items);
        let mut json = Vec::with_capacity(items.len() + self.field.len() + 8);
        json.extend_from_slice(format!("{{\"{}\":[", self.field).as_bytes());
        json.extend_from_slice(&items);
        json.extend_from_slice(b"]}");
        if self.before == 0 {
            // One item represents all of them: the body around it is checked at the end.
            let mut first = serde_json::Deserializer::from_slice(&items).into_iter::<serde::de::IgnoredAny>();
            let end = first.next().map_or(0, |_| first.byte_offset());
            self.beside.extend_from_slice(&items[..end]);
        }
        if self.place == Place::Beside {
            self.beside.push(b']');
        }
        let piece = Piece { schema: self.schema.clone(), field: self.field, json, before: self.before };
        self.before += self.count;
        (self.count, self.last) = (0, 0);
        piece
    }

    fn in_text(&mut self, byte: u8) {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = true,
            b'"' => self.text = false,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Field, Shape, object, schema, text_of};
    use super::*;

    fn shape() -> Schema {
        let field =
            |name: &'static str, schema| Field { name: name.into(), schema, required: true, default: None };
        let item = object(vec![field("phone", text_of(0, 20))]);
        object(vec![field("contacts", schema(Shape::Array { items: Box::new(item), min: 1, max: 5_000 }))])
    }

    /// The items of a body that comes in pieces of so many bytes.
    fn read(body: &[u8], step: usize) -> Result<Vec<Value>, Unread> {
        let mut items = Items::of(shape(), "contacts", 5_000);
        let mut found = Vec::new();
        for mut bytes in body.chunks(step.max(1)) {
            while !bytes.is_empty() {
                let (piece, rest) = items.take(bytes)?;
                bytes = rest;
                if let Some(piece) = piece {
                    assert_eq!(piece.before(), found.len());
                    assert!(piece.json.len() <= PIECE + LONGEST + 64);
                    found.extend(piece.read()?["contacts"].as_array().unwrap().clone());
                }
            }
        }
        items.finish()?;
        Ok(found)
    }

    fn whole(body: &[u8]) -> Result<Vec<Value>, Unread> {
        let mut read = parse(&shape(), body)?;
        shape().check(&mut read).map_err(Unread::Misfit)?;
        Ok(read["contacts"].as_array().unwrap().clone())
    }

    #[test]
    fn a_body_in_pieces_is_the_same_as_a_whole_one() {
        let many: Vec<Value> = (0..4_500).map(|number| json!({"phone": number.to_string()})).collect();
        for body in [
            json!({"contacts": many}).to_string(),
            json!({"other": {"contacts": [1], "x": "contacts\":["}, "contacts": [{"phone": "a,]}\"\\"}]}).to_string(),
            " { \"\\u0063ontacts\" : [ {\"phone\":\"1\", \"more\": [[1], {}]} , {\"phone\":\"2\"} ] , \"b\": [] } ".to_owned(),
            "\u{FEFF}{\"contacts\":[{\"phone\":\"1\"}]}".to_owned(),
        ] {
            for step in [1, 7, 1 << 20] {
                assert_eq!(read(body.as_bytes(), step), whole(body.as_bytes()), "{step}");
                assert!(read(body.as_bytes(), step).is_ok());
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_named_by_its_place() {
        let mut many: Vec<Value> = (0..4_500).map(|number| json!({"phone": number.to_string()})).collect();
        many[4_321] = json!({"phone": 5});
        let refused = read(json!({"contacts": many}).to_string().as_bytes(), 1000);
        assert!(
            matches!(&refused, Err(Unread::Misfit(misfit)) if misfit.field == "contacts[4321].phone"),
            "{refused:?}"
        );
        let too_many = json!({"contacts": vec![json!({"phone": "1"}); 5_001]}).to_string();
        let refused = read(too_many.as_bytes(), 1000);
        assert!(matches!(&refused, Err(Unread::Misfit(misfit)) if misfit.field == "contacts"), "{refused:?}");
        assert!(
            read(json!({"contacts": vec![json!({"phone": "1"}); 5_000]}).to_string().as_bytes(), 1000)
                .is_ok()
        );
        let long =
            json!({"contacts": [{"phone": "1"}, {"phone": "1", "more": "x".repeat(LONGEST)}]}).to_string();
        assert!(
            matches!(read(long.as_bytes(), 1000), Err(Unread::Misfit(misfit)) if misfit.field == "contacts[1]")
        );
        let beside = json!({"more": "x".repeat(LONGEST), "contacts": [{"phone": "1"}]}).to_string();
        assert!(
            matches!(read(beside.as_bytes(), 1000), Err(Unread::Misfit(misfit)) if misfit.field.is_empty())
        );
        let twice = "{\"contacts\":[{\"phone\":\"1\"}],\"contacts\":[]}";
        assert!(
            matches!(read(twice.as_bytes(), 1000), Err(Unread::Misfit(misfit)) if misfit.must == "must be sent only once")
        );
        let row = "{\"phone\":\"1\"},".repeat(2_000);
        for bad in [
            "",
            "{",
            "[]",
            "5",
            "{}",
            "{\"contacts\":[]}",
            "{\"contacts\":5}",
            "{\"contacts\":null}",
            "{\"contacts\":[{}]}",
            "{\"contacts\":[{\"phone\":\"1\"},]}",
            "{\"contacts\":[,{\"phone\":\"1\"}]}",
            "{\"contacts\":[{\"phone\":\"1\"}",
            "{\"contacts\":[{\"phone\":\"1\"}]",
            "{\"contacts\":[{\"phone\":\"1\"}]}x",
            "{\"contacts\" [{\"phone\":\"1\"}]}",
            "{\"contacts\":[{\"phone\":\"1\"}}]",
            "{\"contacts\":[{\"phone\":\"1\"}],}",
            &format!("{{\"contacts\":[{row}]}}"),
            &format!("{{\"contacts\":[{row}x]}}"),
            &format!("{{\"contacts\":[{row}"),
        ] {
            assert!(
                whole(bad.as_bytes()).is_err() && read(bad.as_bytes(), 3).is_err(),
                "{}",
                &bad[..bad.len().min(80)]
            );
        }
    }

    /// Both ways of reading agree on whatever comes: texts of the signs that matter, drawn from a fixed seed.
    #[test]
    fn both_ways_agree_on_whatever_comes() {
        let mut state = 1_u64;
        let mut draw = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let signs = b"[]{},:\" 1\\p";
        for _ in 0..20_000 {
            let text: String = (0..draw(30)).map(|_| char::from(signs[draw(signs.len())])).collect();
            for body in [format!("{{\"contacts\":[{{\"phone\":\"1\"}}{text}]}}"), text] {
                let step = 1 + draw(8);
                assert_eq!(read(body.as_bytes(), step).is_ok(), whole(body.as_bytes()).is_ok(), "{body}");
            }
        }
    }
}
