//! The parts of an archive. Relations name them (ECMA-376, part 2), and programs differ in where they put them.

use std::io::{Cursor, Read};

use domain::ports::{ReadLimit, Unreadable};
use quick_xml::Reader;
use quick_xml::events::Event;
use zip::ZipArchive;
use zip::result::ZipError;

use super::xml::{attribute, next};
use crate::{MAX_UNPACKED, text};

/// Most entries of an archive.
const MAX_ENTRIES: usize = 10_000;
/// Most relations of a part.
const MAX_RELATIONS: usize = 10_000;

/// An archive of parts.
pub struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// Relations of the archive itself: kind and target.
    relations: Vec<(String, String)>,
}

impl<'a> Package<'a> {
    pub fn open(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|why| damaged(&why))?;
        if archive.len() > MAX_ENTRIES {
            return Err(Unreadable::Beyond(ReadLimit::Entries, MAX_ENTRIES as u64));
        }
        let mut package = Self { archive, relations: Vec::new() };
        package.relations = package.relations_of("")?;
        Ok(package)
    }

    /// The name and the text of the main part of a Word document; `None` in another archive.
    pub fn main(&mut self) -> Result<Option<(String, String)>, Unreadable> {
        let named = target(&self.relations, "officeDocument");
        for name in named.into_iter().chain(["word/document.xml".to_owned()]) {
            if let Some(part) = self.part(&name)? {
                return Ok(is_document(&part)?.then_some((name, part)));
            }
        }
        Ok(None)
    }

    /// The metadata of the document.
    pub fn properties(&mut self) -> Result<Option<String>, Unreadable> {
        let named = target(&self.relations, "core-properties");
        self.part(&named.unwrap_or_else(|| "docProps/core.xml".to_owned()))
    }

    /// A part by its relation, such as `styles`.
    pub fn related(&mut self, to: &str, kind: &str) -> Result<Option<String>, Unreadable> {
        let relations = self.relations_of(to)?;
        let folder = to.rsplit_once('/').map_or("", |(folder, _)| folder);
        let named = target(&relations, kind);
        self.part(&named.unwrap_or_else(|| resolved(folder, &format!("{kind}.xml"))))
    }

    /// The relations of a part, or of the archive, whose name is empty. Targets are names of parts.
    fn relations_of(&mut self, part: &str) -> Result<Vec<(String, String)>, Unreadable> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let Some(xml) = self.part(&resolved(folder, &format!("_rels/{name}.rels")))? else {
            return Ok(Vec::new());
        };
        let mut reader = Reader::from_str(&xml);
        let mut found = Vec::new();
        loop {
            match next(&mut reader)? {
                Event::Start(tag) | Event::Empty(tag) if tag.local_name().as_ref() == "Relationship" => {
                    let outside = attribute(&tag, "TargetMode").is_some_and(|mode| mode == "External");
                    let kind = attribute(&tag, "Type").unwrap_or_default();
                    // The kind is an address; its last part is the same in both editions of the standard.
                    let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
                    if let (Some(target), false) = (attribute(&tag, "Target"), outside) {
                        found.push((kind, resolved(folder, &target)));
                    }
                    if found.len() > MAX_RELATIONS {
                        return Ok(found);
                    }
                }
                Event::Eof => return Ok(found),
                _ => {}
            }
        }
    }

    /// A part of the archive, within the limit of its decompressed size.
    fn part(&mut self, name: &str) -> Result<Option<String>, Unreadable> {
        let Some(name) = self.entry_named(name) else { return Ok(None) };
        let mut entry = match self.archive.by_name(&name) {
            Ok(entry) => entry,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(why) => return Err(damaged(&why)),
        };
        let mut bytes = Vec::new();
        // The size in the archive's header is not trusted.
        entry
            .by_ref()
            .take(MAX_UNPACKED as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(|why| Unreadable::Damaged(format!("its archive is damaged: {why}")))?;
        if bytes.len() > MAX_UNPACKED {
            return Err(Unreadable::Beyond(ReadLimit::Unpacked, MAX_UNPACKED as u64));
        }
        text::decode(&bytes).map(Some)
    }

    /// The entry with this name. Names do not differ in case alone (ECMA-376, part 2, 6.2.2.3), and some programs
    /// write another slash.
    fn entry_named(&self, name: &str) -> Option<String> {
        if self.archive.index_for_name(name).is_some() {
            return Some(name.to_owned());
        }
        let same = |entry: &str| {
            let plain = entry.replace('\\', "/");
            plain.trim_start_matches('/').eq_ignore_ascii_case(name)
        };
        self.archive.file_names().flatten().find(|entry| same(entry)).map(|entry| entry.into_owned())
    }
}

fn damaged(why: &ZipError) -> Unreadable {
    Unreadable::Damaged(format!("its archive cannot be opened: {why}"))
}

/// The first target of this kind.
fn target(relations: &[(String, String)], kind: &str) -> Option<String> {
    relations.iter().find(|(known, _)| known == kind).map(|(_, target)| target.clone())
}

/// The name of a part that is named from a folder.
fn resolved(folder: &str, target: &str) -> String {
    let target = target.replace('\\', "/");
    let mut parts: Vec<&str> = if target.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.join("/")
}

/// Whether the first element of a part is that of a Word document.
fn is_document(part: &str) -> Result<bool, Unreadable> {
    let mut reader = Reader::from_str(part);
    loop {
        match next(&mut reader)? {
            Event::Start(tag) | Event::Empty(tag) => return Ok(tag.local_name().as_ref() == "document"),
            Event::Eof => return Ok(false),
            _ => {}
        }
    }
}
