import { isWavForm } from '../../../audio/wav/wav-header.ts';
import { sampleRate } from '../../../protocol/audio-format.ts';

const wavType = 'audio/wav';
const pcmType = 'application/octet-stream';
/** The recorder delivers what it has heard this often. */
const pieceMs = 100;

/** What a person says while a button is held. */
export interface Take {
  /** Resolves when the microphone delivers sound. */
  begun: Promise<unknown>;
  /** Ends it and returns 16 kHz s16le mono. Throws if there is no microphone or nothing was recorded. */
  finish(): Promise<Blob>;
}

/** Records the microphone until `finish`. */
export function recordMicrophone(): Take {
  const begins = begin();
  begins.catch(() => {});
  return {
    begun: begins.then(({ heard }) => heard),
    async finish() {
      const { recorder, pieces, tracks } = await begins;
      await new Promise((resolve) => {
        recorder.onstop = resolve;
        recorder.stop();
      });
      for (const track of tracks) track.stop();
      return decodeSound(new Blob(pieces, { type: recorder.mimeType }));
    },
  };
}

async function begin() {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } });
  const recorder = new MediaRecorder(stream);
  const pieces: Blob[] = [];
  const heard = new Promise<void>((resolve) => {
    recorder.ondataavailable = ({ data }) => {
      pieces.push(data);
      if (data.size > 0) resolve();
    };
  });
  recorder.start(pieceMs);
  return { heard, recorder, pieces, tracks: stream.getTracks() };
}

/** A WAV unchanged; any other sound that the browser can read, as 16 kHz s16le mono. */
export async function soundOf(file: Blob): Promise<Blob> {
  const head = new TextDecoder('latin1').decode(await file.slice(0, 4).arrayBuffer());
  if (isWavForm(head)) return new Blob([file], { type: wavType });
  return decodeSound(file);
}

async function decodeSound(file: Blob): Promise<Blob> {
  const context = new OfflineAudioContext(1, 1, sampleRate);
  // Decoding converts to the rate of the context.
  const decoded = await context.decodeAudioData(await file.arrayBuffer()).catch(() => {
    throw new Error('The browser cannot decode this as audio');
  });
  const channels = Array.from({ length: decoded.numberOfChannels }, (_, at) => decoded.getChannelData(at));
  const view = new DataView(new ArrayBuffer(decoded.length * 2));
  for (let index = 0; index < decoded.length; index += 1) {
    const mixed = channels.reduce((sum, channel) => sum + (channel[index] ?? 0), 0) / channels.length;
    view.setInt16(index * 2, Math.max(-0x8000, Math.min(0x7fff, Math.round(mixed * 0x8000))), true);
  }
  return new Blob([view], { type: pcmType });
}
