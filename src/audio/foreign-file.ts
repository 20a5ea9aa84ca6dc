/** A file that is neither WAV nor raw samples. */
export interface ForeignFile {
  /** `an MP3 file` */
  format: string;
  isCompressed: boolean;
}

const compressed = (format: string, text: string, at = 0) => ({ format, isCompressed: true, text, at });
const uncompressed = (format: string, text: string) => ({ format, isCompressed: false, text, at: 0 });

/** The first bytes of formats that users mistake for WAV or for raw samples. */
const signatures: readonly (ForeignFile & { text: string; at: number })[] = [
  compressed('an MP3 file', 'ID3'),
  // A frame of 32 kHz and more, and one of less, as speech has.
  compressed('an MP3 file', '\xff\xfb'),
  compressed('an MP3 file', '\xff\xf3'),
  compressed('an AAC file', '\xff\xf1'),
  compressed('an Ogg file', 'OggS'),
  compressed('a FLAC file', 'fLaC'),
  compressed('an AMR file', '#!AMR'),
  compressed('an MP4 file', 'ftyp', 4),
  compressed('a Matroska or WebM file', '\x1a\x45\xdf\xa3'),
  uncompressed('an AIFF file', 'FORM'),
  uncompressed('a Sun/NeXT .au file', '.snd'),
  uncompressed('a Core Audio file', 'caff'),
  uncompressed('a Sony Wave64 file', 'riff\x2e\x91\xcf\x11'),
  uncompressed('a big-endian WAV file (RIFX)', 'RIFX'),
];

/** The kind of a file by its first bytes; undefined if it is not known. */
export function recogniseForeignFile(start: Buffer): ForeignFile | undefined {
  const text = start.toString('latin1', 0, 16);
  return signatures.find((one) => text.startsWith(one.text, one.at));
}
