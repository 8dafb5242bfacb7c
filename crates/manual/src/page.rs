//! A page of the manual as data. `html` and `text` write it.

use crate::schema::Field;

/// A page: it is served as HTML, and as Markdown below the same path with `.md`.
#[derive(Debug)]
pub struct Page {
    /// Where it is served: `/docs/guides/nudges`.
    pub path: String,
    /// Its only first-level heading.
    pub title: String,
    /// What it is about, in a sentence of plain text.
    pub about: String,
    /// What kind of page the search says that it is.
    pub kind: Kind,
    /// What follows the title, in order.
    pub blocks: Vec<Block>,
}

impl Page {
    /// The path from which its relative links lead on: that of its file.
    pub fn base(&self) -> String {
        match (self.kind, self.path.matches('/').count()) {
            (Kind::Contract | Kind::Operating, 2) => format!("{}/README", self.path),
            _ => self.path.clone(),
        }
    }
}

/// The path at which a page (with or without an anchor) is served as Markdown.
pub fn markdown_path(path: &str) -> String {
    match path.split_once('#') {
        Some((path, anchor)) => format!("{path}.md#{anchor}"),
        None => format!("{path}.md"),
    }
}

/// What kind of page it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The start page and the indexes.
    Index,
    /// A guide.
    Guide,
    /// Operations of one chapter.
    Reference,
    /// An event.
    Event,
    /// An error code.
    Error,
    /// A page of the contract.
    Contract,
    /// A page for operators.
    Operating,
}

impl Kind {
    /// What the search shows.
    pub fn label(self) -> &'static str {
        match self {
            Kind::Index => "Index",
            Kind::Guide => "Guide",
            Kind::Reference => "Operation",
            Kind::Event => "Event",
            Kind::Error => "Error",
            Kind::Contract => "Contract",
            Kind::Operating => "Operating",
        }
    }
}

/// A part of a page.
#[derive(Debug)]
pub enum Block {
    /// Markdown without a first-level heading. Its links are as in [`crate::links::Links`].
    Markdown(String),
    /// A heading with an anchor.
    Heading {
        /// 2 to 6.
        level: u8,
        /// Fragment of its address, without `#`; unique on the page.
        id: String,
        /// Plain text.
        text: String,
    },
    /// Method and path of an operation.
    Endpoint {
        /// `GET`.
        method: String,
        /// `/v1/calls/{id}`.
        path: String,
    },
    /// Fields of a body, an answer or an event, with nested ones folded.
    Fields(Vec<Field>),
    /// The same thing in several languages.
    Samples(Vec<Sample>),
    /// Links with a line about each.
    Cards(Vec<Card>),
    /// Links in a folded list.
    Folded {
        /// What is folded.
        title: String,
        /// What it holds.
        cards: Vec<Card>,
    },
    /// A form that sends the operation with a test key.
    Try(Form),
}

/// Code in a language.
#[derive(Debug)]
pub struct Sample {
    /// What the tab says: `Python`.
    pub label: &'static str,
    /// What a Markdown fence says: `python`.
    pub language: &'static str,
    /// What the tab shows and the button copies.
    pub code: String,
}

/// A link with a line about where it leads.
#[derive(Debug)]
pub struct Card {
    /// Text of the link.
    pub title: String,
    /// A path of the manual, perhaps with an anchor.
    pub href: String,
    /// A line of Markdown.
    pub about: String,
}

/// What a request needs to be sent from the page.
#[derive(Debug)]
pub struct Form {
    /// Method of the operation.
    pub method: String,
    /// Its path, with `{name}` for parameters.
    pub path: String,
    /// Whether a key is sent.
    pub keyed: bool,
    /// Parameters of path, query and header.
    pub inputs: Vec<Input>,
    /// The body to begin with.
    pub body: Option<String>,
}

/// A parameter in a form.
#[derive(Debug)]
pub struct Input {
    /// Its name on the wire.
    pub name: String,
    /// `path`, `query` or `header`.
    pub place: String,
    /// Whether a request without it is refused.
    pub required: bool,
}
