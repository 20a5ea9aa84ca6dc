import { sampleRate } from '../../../protocol/audio-format.ts';

/** Playback is delayed by this, because messages arrive unevenly. */
const cushionS = 0.15;
const headerBytes = 3;

/** Plays both voices of a stream as they arrive, until it ends. */
export async function play(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
  const context = new AudioContext({ sampleRate });
  const voices = [createVoice(context, -0.4), createVoice(context, 0.4)];
  try {
    const reader = body.getReader();
    let rest = new Uint8Array();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest = playChunks(joined(rest, value), (voice, pcm) => voices[voice]?.(pcm));
    }
  } finally {
    await context.close();
  }
}

/** Passes on every complete chunk; returns the beginning of the next one. */
function playChunks(
  bytes: Uint8Array,
  play: (voice: number, pcm: Uint8Array) => void,
): Uint8Array<ArrayBuffer> {
  let at = 0;
  for (;;) {
    const length = (bytes[at + 1] ?? 0) | ((bytes[at + 2] ?? 0) << 8);
    const end = at + headerBytes + length;
    if (at + headerBytes > bytes.length || end > bytes.length) return bytes.slice(at);
    play(bytes[at] ?? 0, bytes.subarray(at + headerBytes, end));
    at = end;
  }
}

/** Plays pieces of s16le one after the other; after a pause with a new cushion. */
function createVoice(context: AudioContext, pan: number): (pcm: Uint8Array) => void {
  const panner = new StereoPannerNode(context, { pan });
  panner.connect(context.destination);
  let playedUntil = 0;
  return (pcm) => {
    const count = pcm.length >> 1;
    if (count === 0) return;
    const view = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
    const samples = Float32Array.from(
      { length: count },
      (_, index) => view.getInt16(index * 2, true) / 0x8000,
    );
    const buffer = context.createBuffer(1, count, sampleRate);
    buffer.copyToChannel(samples, 0);
    const source = new AudioBufferSourceNode(context, { buffer });
    source.connect(panner);
    if (playedUntil < context.currentTime) playedUntil = context.currentTime + cushionS;
    source.start(playedUntil);
    playedUntil += count / sampleRate;
  };
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
