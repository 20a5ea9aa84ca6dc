import { convertHint, refusal } from '../../files/refusal.ts';
import { groupDigits } from '../../protocol/count-text.ts';
import { maxRate, minRate } from '../resample.ts';
import type { SampleEncoding, SampleFormat } from '../source.ts';

/** The contents of the `fmt ` chunk of a WAV. */
export interface WavFormat extends SampleFormat {
  /** The size of one sample of every channel. */
  readonly blockBytes: number;
}

/** How many bytes of the `fmt ` chunk matter: all of WAVEFORMATEXTENSIBLE. */
export const formatChunkBytes = 40;

const extensibleTag = 0xfffe;
/** The end of a sub-format GUID that represents a plain format tag, which is its first two bytes. */
const tagGuidTail = Buffer.from('000000001000800000aa00389b71', 'hex');

const encodings: Record<number, { encoding: SampleEncoding; bits: readonly number[] }> = {
  1: { encoding: 'pcm', bits: [8, 16, 24, 32] },
  3: { encoding: 'float', bits: [32, 64] },
  6: { encoding: 'alaw', bits: [8] },
  7: { encoding: 'mulaw', bits: [8] },
};

/** Names of common format tags, from the registry of RFC 2361 and from Microsoft's headers. */
const codecNames: Record<number, string> = {
  2: 'Microsoft ADPCM',
  16: 'OKI ADPCM',
  17: 'IMA ADPCM',
  20: 'G.723 ADPCM',
  22: 'G.722',
  49: 'GSM 6.10',
  64: 'G.721 ADPCM',
  69: 'G.726 ADPCM',
  80: 'MPEG layer 1 or 2',
  85: 'MP3',
  100: 'G.726 ADPCM',
  101: 'G.722 ADPCM',
  105: 'IMA ADPCM (Xbox)',
  131: 'G.729',
  146: 'Dolby AC-3 (S/PDIF)',
  255: 'AAC',
  352: 'Windows Media Audio 1',
  353: 'Windows Media Audio 2',
  354: 'Windows Media Audio Pro',
  355: 'Windows Media Audio Lossless',
  5648: 'AAC (HE)',
  8192: 'Dolby AC-3',
  8193: 'DTS',
  26447: 'Ogg Vorbis',
  28751: 'Opus',
  61868: 'FLAC',
};

/**
 * Parses the `fmt ` chunk. `bytes`: its first 40 or fewer; `declaredBytes`: the size that it declares.
 * Errors: `bad-input` with the reason, for encodings that cannot be read and for contradictory values.
 */
export function parseFormat(bytes: Buffer, declaredBytes: number, name: string): WavFormat {
  if (declaredBytes < 16) {
    throw refusal(name, `its format chunk has ${declaredBytes} bytes; 16 are needed`, convertHint);
  }
  if (bytes.length < Math.min(declaredBytes, formatChunkBytes)) {
    throw refusal(name, 'the file ends within its header');
  }
  const channels = bytes.readUInt16LE(2);
  const sampleRate = bytes.readUInt32LE(4);
  const blockBytes = bytes.readUInt16LE(12);
  const bitsPerSample = bytes.readUInt16LE(14);
  const { encoding, bits } = findEncoding(bytes, name);

  if (channels === 0) throw refusal(name, 'its header says 0 channels');
  if (sampleRate < minRate || sampleRate > maxRate) {
    const rates = `${groupDigits(minRate)} to ${groupDigits(maxRate)} Hz can be read`;
    throw refusal(name, `its header says ${groupDigits(sampleRate)} Hz; ${rates}`);
  }
  if (!bits.includes(bitsPerSample)) {
    const known = bits.join(', ');
    throw refusal(name, `it has ${bitsPerSample}-bit samples; only ${known} are supported`, convertHint);
  }
  if (blockBytes !== (channels * bitsPerSample) / 8) {
    throw refusal(
      name,
      `its header contradicts itself: ${channels} × ${bitsPerSample} bits do not make blocks of ${blockBytes} bytes`,
      convertHint,
    );
  }
  return { encoding, sampleRate, channels, bitsPerSample, blockBytes };
}

function findEncoding(bytes: Buffer, name: string) {
  const outerTag = bytes.readUInt16LE(0);
  const extensible = outerTag === extensibleTag;
  if (extensible && bytes.length < formatChunkBytes) {
    throw refusal(name, `its extensible format chunk has ${bytes.length} bytes; 40 are needed`, convertHint);
  }
  if (extensible && !bytes.subarray(26, 40).equals(tagGuidTail)) {
    const guid = bytes.subarray(24, 40).toString('hex');
    throw refusal(name, `it is encoded in an unknown sub-format (GUID bytes ${guid})`, convertHint);
  }
  const tag = extensible ? bytes.readUInt16LE(24) : outerTag;
  const found = encodings[tag];
  if (found) return found;
  const number = `0x${tag.toString(16).padStart(4, '0')}`;
  const codec = codecNames[tag];
  const reason = codec
    ? `it is encoded with ${codec} (codec ${number})`
    : `it is encoded with codec ${number}`;
  throw refusal(name, `${reason}, which is not supported`, convertHint);
}
