import { connectedKind } from '../../protocol/read-message.ts';

/** What can be wrong with a voice. The names are published in events, recordings and summaries. */
export type VoiceFinding = keyof typeof voiceFindings;

/** Whose voice it is. */
export type SpeakingSide = 'device' | 'service';

interface FindingFacts {
  /**
   * `room`: the microphone or the loudness, whatever the format. `sound`: what a listener hears. `pace`: the text contains
   * figures, and is made elsewhere. `order`: when it is sent.
   */
  about: 'format' | 'room' | 'sound' | 'pace' | 'order';
  /** The text about a device's audio, with advice for its developer. */
  device?: string;
  /** The text about a service's audio, which is the subject of the sentence. Missing if it is not wrong for a service. */
  service?: string;
  /** What to do, for either side. Default: the advice in `device`. */
  advice?: string;
  /** Findings that it causes. */
  explains?: readonly string[];
}

/** What bytes that are not samples look like. */
const ofOtherBytes = ['wrong-rate', 'too-fast', 'too-slow', 'odd-sizes', 'dc-offset'] as const;

const sendEvenly = 'send 640 bytes every 20 ms';

/** Every check of a voice. A new one needs a row here, and code that finds it. */
export const voiceFindings = {
  'riff-header': {
    about: 'format',
    device: 'the stream begins with a WAV header, which is audible as a click: send only the samples',
    service: 'begins with a WAV header, which is audible as a click',
  },
  'frame-header': {
    about: 'format',
    device:
      'each message begins with a header that contains a counter, which is audible as clicks: send only the samples',
    service: 'has a header with a counter in each message, which is audible as clicks',
    explains: [...ofOtherBytes, 'byte-shift', 'clipping'],
  },
  compressed: {
    about: 'format',
    device:
      'this is compressed audio, or a file with compressed audio (Ogg, MP3, AAC, FLAC, WebM): send raw PCM',
    service: 'is compressed, or a file with compressed audio (Ogg, MP3, AAC, FLAC, WebM)',
  },
  base64: {
    about: 'format',
    device: 'the binary messages contain base64: send the bytes themselves',
    service: 'is base64 in binary messages',
    explains: ofOtherBytes,
  },
  json: {
    about: 'format',
    device: 'the binary messages contain JSON: send the bytes of the audio themselves',
    service: 'is JSON in binary messages',
    explains: ofOtherBytes,
  },
  'base64-text': {
    about: 'format',
    device: 'audio is sent as base64 in text messages: send the bytes as binary messages',
  },
  'json-text': {
    about: 'format',
    device: 'audio is sent as JSON in text messages: send the bytes as binary messages',
  },
  float32: looksLike('32-bit float', 'send 16-bit integers'),
  int32: looksLike('32-bit integers', 'send 16-bit integers'),
  'half-empty': {
    about: 'format',
    device:
      'every other sample is zero, as in 32-bit samples or stereo with a silent channel: send 16-bit mono',
    service: 'has zero in every other sample, like 32-bit samples or stereo with a silent channel',
  },
  int24: looksLike('24-bit integers', 'send 16-bit integers'),
  'unsigned-16': looksLike('unsigned 16-bit audio', 'subtract 32768 from each sample'),
  'unsigned-8': looksLike('unsigned 8-bit audio', 'send 16-bit integers'),
  'signed-8': looksLike('signed 8-bit audio', 'send 16-bit integers'),
  mulaw: looksLike('G.711 µ-law', 'decode it to 16-bit integers'),
  alaw: looksLike('G.711 A-law', 'decode it to 16-bit integers'),
  'swapped-bytes': {
    about: 'format',
    device: 'the bytes of each sample are swapped: send little-endian',
    service: 'is big-endian: the bytes of each sample are swapped',
  },
  'byte-shift': {
    about: 'format',
    device: 'the samples are shifted by one byte: an odd number of bytes precedes them',
    service: 'is shifted by one byte: an odd number of bytes precedes the samples',
    explains: ['odd-sizes', 'dc-offset'],
  },
  stereo: looksLike('stereo', 'send one channel'),
  clipping: {
    about: 'room',
    device: 'the audio clips: lower the gain',
    service: 'clips',
    explains: ['loud-voice', 'noise', 'click', 'dropout', 'dc-offset', 'level-jump'],
  },
  'dc-offset': {
    about: 'room',
    explains: ['loud-voice', 'noise', 'cut-on', 'cut-off'],
    device: 'the samples are not centred on zero: remove the DC offset',
    service: 'is not centred on zero',
  },
  silence: { about: 'room', device: 'nothing but silence for 5 s: is the microphone on?' },
  quiet: {
    about: 'room',
    device: 'nothing louder than -40 dBFS for 5 s: raise the gain of the microphone',
    explains: ['quiet-voice'],
  },
  'odd-sizes': {
    about: 'format',
    device: 'messages end within a sample: send whole samples',
    service: 'ends within a sample: it has an odd number of bytes',
  },
  dropout: sounds('drops out', 'look for lost or late audio that was replaced by silence', ['click']),
  repeat: sounds('is sent twice', 'look for messages that are sent more than once', [
    'click',
    'dropout',
    'noise',
    'wrong-rate',
    'too-fast',
  ]),
  click: sounds('clicks', 'check the boundaries of messages, and send whole samples'),
  'cut-off': sounds('ends in the middle of a sound', 'send the audio to its end'),
  'cut-on': sounds('begins in the middle of a sound', 'send the audio from its start'),
  'user-echo': sounds(
    'contains the user’s words while they are spoken',
    'cancel the echo, or do not mix the received audio into what is sent',
    ['noise', 'click', 'narrow-band', 'quiet-voice', 'level-jump', 'cut-on', 'cut-off', 'dropout'],
  ),
  noise: sounds('is noisy', 'look for hum or noise in the pauses'),
  'narrow-band': sounds('is narrow-band, like a telephone', 'use a 16 kHz source'),
  'quiet-voice': sounds('is quiet', 'raise its level to about -26 dBov'),
  'loud-voice': sounds('is loud', 'lower its level to about -26 dBov'),
  'level-jump': sounds('changes its level from one reply to the next', 'keep all replies at the same level'),
  'too-early': {
    about: 'order',
    device: `audio was sent before the confirmation: wait for ${connectedKind}`,
  },
  'too-fast': { about: 'pace', advice: sendEvenly },
  'too-slow': { about: 'pace', advice: sendEvenly },
  bursts: { about: 'pace', advice: sendEvenly },
  gaps: { about: 'pace', advice: sendEvenly },
  'wrong-rate': {
    about: 'pace',
    advice: 'send 16 kHz mono in real time',
    explains: ['narrow-band', 'click', 'quiet-voice', 'loud-voice', 'level-jump', 'noise'],
  },
} as const satisfies Record<string, FindingFacts>;

function sounds(says: string, advice: string, explains: readonly string[] = []) {
  return { about: 'sound', device: `the audio ${says}: ${advice}`, service: says, advice, explains } as const;
}

function looksLike(format: string, advice: string) {
  return {
    about: 'format',
    device: `this looks like ${format}: ${advice}`,
    service: `looks like ${format}`,
    explains: ['odd-sizes', 'dc-offset'],
  } as const;
}

/** The finding as text; undefined if it is not wrong for this side. */
export function findingText(finding: VoiceFinding, from: SpeakingSide): string | undefined {
  const facts: FindingFacts = voiceFindings[finding];
  if (from === 'device') return facts.device;
  return facts.service === undefined ? undefined : `the service’s audio ${facts.service}`;
}

/** What to do about it; undefined if there is no advice. */
export function findingAdvice(finding: VoiceFinding): string | undefined {
  const { advice, device }: FindingFacts = voiceFindings[finding];
  return advice ?? device?.split(': ')[1];
}

/** Whether one finding causes the other one. */
export function isCauseOf(cause: VoiceFinding, effect: VoiceFinding): boolean {
  const { explains: explained = [] }: FindingFacts = voiceFindings[cause];
  return explained.includes(effect);
}

/** Whether audio with this finding is not raw s16le mono. A wrong rate is a matter of pace. */
export function isWrongFormat(finding: VoiceFinding): boolean {
  return voiceFindings[finding].about === 'format';
}

/** Findings that do not affect the samples. */
export const ofRightSamples: ReadonlySet<VoiceFinding> = new Set(['riff-header', 'odd-sizes']);

/** Whether the samples have another format, so that there is no voice to measure. */
export function isOtherFormat(found: Iterable<VoiceFinding>): boolean {
  for (const finding of found) if (isWrongFormat(finding) && !ofRightSamples.has(finding)) return true;
  return false;
}
