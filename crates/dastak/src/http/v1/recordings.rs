//! `/v1/recordings`: the sound behind a signed link.

use std::sync::Arc;

use api::error_codes;
use bytes::Bytes;
use http::HeaderMap;

use crate::app::{App, Failure, recordings};
use crate::http::handler::{Outcome, Reply, Request, full};
use crate::http::stream::pieces;

/// What of a file is wanted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part {
    All,
    /// From the first to the last byte, both included.
    Some(u64, u64),
    Nothing,
}

/// Reads a `Range` header of one range (RFC 9110, 14.2). What is not understood, and more than one range, is
/// answered with all of it.
pub(crate) fn part(range: Option<&str>, length: u64) -> Part {
    let Some((first, last)) =
        range.and_then(|range| range.trim().strip_prefix("bytes=")).and_then(|range| range.split_once('-'))
    else {
        return Part::All;
    };
    let number = |text: &str| {
        let text = text.trim();
        // A number beyond any file is a number all the same.
        text.bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| if text.is_empty() { None } else { Some(text.parse().unwrap_or(u64::MAX)) })
    };
    match (number(first), number(last)) {
        (Some(Some(first)), Some(Some(last))) if first > last => Part::All,
        (Some(Some(first)), Some(_)) if first >= length => Part::Nothing,
        (Some(Some(first)), Some(last)) => Part::Some(first, last.unwrap_or(u64::MAX).min(length - 1)),
        // The last so many bytes.
        (Some(None), Some(Some(many))) if many == 0 || length == 0 => Part::Nothing,
        (Some(None), Some(Some(many))) => Part::Some(length.saturating_sub(many), length - 1),
        _ => Part::All,
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

pub async fn get(app: Arc<App>, request: Request) -> Outcome {
    let id = request.parameter("id").parse().ok();
    let signature = request.query_text("signature").unwrap_or_default();
    let (recording, length) =
        recordings::behind(&app, id, request.query_number("expires"), signature).await?;
    let etag = format!("\"{}\"", recording.id);
    // A range of another version than the one that is here would be pieced together wrongly. Ranges are for
    // GET alone.
    let fits = !request.is_head && header(&request.headers, "if-range").is_none_or(|wanted| wanted == etag);
    let (status, first, count) = match part(header(&request.headers, "range").filter(|_| fits), length) {
        Part::All => (200, 0, length),
        Part::Some(first, last) => (206, first, last - first + 1),
        Part::Nothing => {
            let mut reply = Reply::failure(&Failure::plain(error_codes::RANGE_NOT_SATISFIABLE), &request.id);
            reply.headers.push(("content-range", format!("bytes */{length}")));
            return Ok(reply);
        }
    };
    let body = if request.is_head || count == 0 {
        full(Bytes::new())
    } else {
        let sound = recordings::sound(&app, &recording, first, count).await?;
        pieces(sound, |sound| async { sound.next().await.map(|(piece, rest)| (Bytes::from(piece), rest)) })
    };
    let mut headers = vec![("content-length", count.to_string())];
    if status == 206 {
        headers.push(("content-range", format!("bytes {first}-{}/{length}", first + count - 1)));
    }
    headers.push(("accept-ranges", "bytes".into()));
    headers.push(("content-disposition", format!("inline; filename=\"{}.wav\"", recording.call)));
    headers.push(("etag", etag));
    Ok(Reply { status, content_type: "audio/wav", headers, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        for (range, expected) in [
            ("bytes=0-3", Part::Some(0, 3)),
            ("bytes=4-", Part::Some(4, 9)),
            ("bytes=9-9", Part::Some(9, 9)),
            ("bytes=2-400", Part::Some(2, 9)),
            ("bytes=-3", Part::Some(7, 9)),
            ("bytes=-30", Part::Some(0, 9)),
            ("bytes=10-", Part::Nothing),
            ("bytes=99999999999999999999999-", Part::Nothing),
            ("bytes=-0", Part::Nothing),
            ("bytes=5-4", Part::All),
            ("bytes=-", Part::All),
            ("bytes=a-b", Part::All),
            ("bytes=0-1,3-4", Part::All),
            ("pages=1-2", Part::All),
        ] {
            assert_eq!(part(Some(range), 10), expected, "{range}");
        }
        assert_eq!((part(None, 10), part(Some("bytes=0-"), 0)), (Part::All, Part::Nothing));
    }
}
