//! A stalled stream, seen by a client in Rust, with the standard library alone. Needs stallwright on the PATH or in
//! $STALLWRIGHT.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/gated.yaml");

/// A fake provider that runs until it is dropped.
struct Fake {
    process: Child,
    address: String,
}

impl Fake {
    fn start() -> Result<Fake> {
        let program = std::env::var("STALLWRIGHT").unwrap_or("stallwright".into());
        let mut process = Command::new(program)
            .args(["fake", "provider", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line)?;
        let address = line.trim().trim_start_matches("http://").trim_end_matches("/v1").into();
        Ok(Fake { process, address })
    }

    /// Sends a request and reads the head of its answer.
    fn open(&self, method: &str, path: &str, body: &str) -> Result<Body> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )?;
        let mut reader = BufReader::new(stream);
        let mut status = String::new();
        reader.read_line(&mut status)?;
        let mut chunked = false;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            chunked |= header.trim().eq_ignore_ascii_case("transfer-encoding: chunked");
            if header.trim().is_empty() {
                break;
            }
        }
        let body = Body { reader, left: if chunked { 0 } else { usize::MAX }, chunked };
        assert!(status.contains(" 200 "), "{method} {path}: {status}");
        Ok(body)
    }

    fn call(&self, method: &str, path: &str, body: &str) -> Result<String> {
        let mut answer = String::new();
        self.open(method, path, body)?.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The body of an answer, chunked or until the connection ends.
struct Body {
    reader: BufReader<TcpStream>,
    chunked: bool,
    left: usize, // of the chunk, its line end not counted
}

impl Read for Body {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        if self.chunked && self.left == 0 {
            let mut size = String::new();
            self.reader.read_line(&mut size)?;
            self.left = usize::from_str_radix(size.trim(), 16).map_err(std::io::Error::other)?;
            if self.left == 0 {
                return Ok(0);
            }
        }
        let most = into.len().min(self.left);
        let n = self.reader.read(&mut into[..most])?;
        self.left -= n;
        if self.chunked && self.left == 0 {
            self.reader.read_exact(&mut [0; 2])?;
        }
        Ok(n)
    }
}

/// Reads lines until one has the text.
fn await_line(lines: &mut impl Iterator<Item = Result<String>>, text: &str) -> Result<String> {
    for line in lines {
        let line = line?;
        if line.contains(text) {
            return Ok(line);
        }
    }
    panic!("the stream has ended before {text}");
}

#[test]
fn the_answer_waits_for_the_gate() -> Result<()> {
    let fake = Fake::start()?;
    fake.call("POST", "/_stallwright/scripts?marker=rust", &std::fs::read_to_string(SCRIPT)?)?;
    let mut events = BufReader::new(fake.open("GET", "/_stallwright/timeline/stream?marker=rust", "")?).lines();

    let prompt = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hello [[sw:rust]]"}]}"#;
    let mut answer = BufReader::new(fake.open("POST", "/v1/chat/completions", prompt)?).lines();
    await_line(&mut answer, "The answer begins ")?;
    let waits = await_line(&mut events, r#""kind":"await""#)?; // the stream is silent now
    assert!(waits.contains(r#""detail":"go-on""#), "{waits}");

    fake.call("POST", "/_stallwright/gates/go-on?marker=rust", "")?;
    await_line(&mut answer, "and ends.")?;
    await_line(&mut answer, "data: [DONE]")?;
    await_line(&mut events, r#""kind":"end""#)?;

    let timeline = fake.call("GET", "/_stallwright/timeline?marker=rust", "")?;
    let place = |kind: &str| timeline.find(&format!(r#""kind":"{kind}""#)).expect(kind);
    assert!(place("await") < place("open") && place("open") < place("end"), "{timeline}");
    assert_eq!(timeline.matches(r#""kind":"request""#).count(), 1);
    assert_eq!(fake.call("DELETE", "/_stallwright/scripts?marker=rust", "")?.trim(), r#"{"unplayed":[]}"#);
    Ok(())
}
