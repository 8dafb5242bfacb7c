//! Streams a reply while it is written. The text so far is kept whole, so a slow reader never blocks the writer, and needs
//! no more memory than the reply itself.

use std::sync::Arc;

use tokio::sync::watch;

/// The writing end of a streamed reply.
#[derive(Clone, Default)]
pub struct Feed(Option<Arc<watch::Sender<String>>>);

/// The reading end of a [`Feed`].
pub struct Watch {
    text: watch::Receiver<String>,
    /// Bytes that were read.
    read: usize,
}

/// A part of a streamed reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    /// The writer has finished, or has given up.
    End,
}

impl Feed {
    /// A feed without a reader.
    pub fn silent() -> Self {
        Self(None)
    }

    /// A feed, and who reads it.
    pub fn watched() -> (Self, Watch) {
        let (sender, text) = watch::channel(String::new());
        (Self(Some(Arc::new(sender))), Watch { text, read: 0 })
    }

    pub(crate) fn push(&self, words: &str) {
        if let Some(sender) = self.0.as_ref().filter(|_| !words.is_empty()) {
            sender.send_modify(|text| text.push_str(words));
        }
    }

    /// The next text begins: it is separated from the one before.
    pub(crate) fn part(&self) {
        if let Some(sender) = &self.0 {
            sender.send_if_modified(|text| {
                let parted = !text.is_empty() && !text.ends_with("\n\n");
                if parted {
                    text.push_str("\n\n");
                }
                parted
            });
        }
    }
}

impl Watch {
    /// Waits for the next part.
    pub async fn next(&mut self) -> Piece {
        loop {
            {
                let text = self.text.borrow_and_update();
                if let Some(more) = text.get(self.read..).filter(|more| !more.is_empty()) {
                    self.read = text.len();
                    return Piece::Text(more.to_owned());
                }
            }
            if self.text.changed().await.is_err() {
                // Text written between the check above and the end is still there.
                let text = self.text.borrow();
                return match text.get(self.read..).filter(|more| !more.is_empty()) {
                    Some(more) => {
                        self.read = text.len();
                        Piece::Text(more.to_owned())
                    }
                    None => Piece::End,
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_slow_reader_gets_everything_at_once() {
        let (feed, mut watch) = Feed::watched();
        feed.part();
        feed.push("Good ");
        feed.push("morning");
        assert_eq!(watch.next().await, Piece::Text("Good morning".into()));
        feed.part();
        feed.push("Bye");
        drop(feed);
        assert_eq!(watch.next().await, Piece::Text("\n\nBye".into()));
        assert_eq!((watch.next().await, watch.next().await), (Piece::End, Piece::End));
    }

    #[test]
    fn a_feed_that_nobody_reads_takes_nothing() {
        let (feed, watch) = Feed::watched();
        drop(watch);
        feed.push("words");
        Feed::silent().push("words");
    }
}
