// A camera's video as it is recorded: played some seconds after it happened, and never stopping.

const BEHIND_S = 6;
const KEPT_S = 20;
const AGAIN_MS = 3000;
const EMPTY = new Uint8Array();

const happens = (/** @type {EventTarget} */ target, /** @type {string} */ name) =>
  new Promise((done) => target.addEventListener(name, done, { once: true }));

/** The codec that a video's opening part names, or null where that is not whole yet. */
export function codecIn(/** @type {Uint8Array} */ bytes) {
  const text = new TextDecoder("latin1").decode(bytes);
  const at = text.indexOf("avcC");
  if (at < 0 || bytes.length < at + 8) return null;
  return `avc1.${[...bytes.subarray(at + 5, at + 8)].map((one) => one.toString(16).padStart(2, "0")).join("")}`;
}

const joined = (/** @type {Uint8Array} */ one, /** @type {Uint8Array} */ other) => {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
};

/**
 * Play what `url` gives, asking again whenever it ends, until what is returned is called.
 *
 * @param onState called with whether it plays
 */
export function playLive(
  /** @type {HTMLVideoElement} */ video,
  /** @type {string} */ url,
  /** @type {(plays: boolean) => void} */ onState,
) {
  const over = new AbortController();
  /** @type {SourceBuffer} */
  let buffer;
  /** @type {string | null} */
  let codec = null;

  async function opened(/** @type {string} */ found) {
    const source = new MediaSource();
    const address = URL.createObjectURL(source);
    video.src = address;
    await happens(source, "sourceopen");
    URL.revokeObjectURL(address);
    buffer = source.addSourceBuffer(`video/mp4; codecs="${found}"`);
    codec = found;
  }

  async function add(/** @type {Uint8Array<ArrayBuffer>} */ piece) {
    buffer.appendBuffer(piece);
    await happens(buffer, "updateend");
    const last = buffer.buffered.length - 1;
    if (last < 0) return;
    const [begin, end] = [buffer.buffered.start(last), buffer.buffered.end(last)];
    if (video.currentTime < begin || end - video.currentTime > BEHIND_S)
      video.currentTime = Math.max(begin, end - BEHIND_S / 2);
    if (video.paused) await video.play();
    if (video.currentTime - buffer.buffered.start(0) > 2 * KEPT_S) {
      buffer.remove(0, video.currentTime - KEPT_S);
      await happens(buffer, "updateend");
    }
  }

  async function watched() {
    const answer = await fetch(url, { signal: over.signal });
    if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
    const reader = /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (answer.body).getReader();
    let opening = new Uint8Array(),
      isBegun = false;
    for (let { done, value = EMPTY } = await reader.read(); !done; { done, value = EMPTY } = await reader.read()) {
      if (isBegun) {
        await add(value);
        continue;
      }
      opening = joined(opening, value);
      const found = codecIn(opening);
      if (!found) continue;
      if (found !== codec) await opened(found);
      else buffer.abort();
      await add(opening);
      isBegun = true;
      onState(true);
    }
    return isBegun;
  }

  (async () => {
    while (!over.signal.aborted) {
      const isGood = await watched().catch(() => {
        codec = null;
        return false;
      });
      if (over.signal.aborted) return;
      if (!isGood) {
        onState(false);
        await new Promise((done) => setTimeout(done, AGAIN_MS));
      }
    }
  })();
  return () => over.abort();
}
