/** First bytes of formats that users mistake for WAV. */
const signatures: readonly { at: number; text: string; format: string }[] = [
  { at: 0, text: 'ID3', format: 'an MP3 file' },
  { at: 0, text: '\xff\xfb', format: 'an MP3 file' },
  { at: 0, text: '\xff\xf3', format: 'an MP3 file' },
  { at: 0, text: '\xff\xf1', format: 'an AAC file' },
  { at: 0, text: 'OggS', format: 'an Ogg file' },
  { at: 0, text: 'fLaC', format: 'a FLAC file' },
  { at: 0, text: 'FORM', format: 'an AIFF file' },
  { at: 0, text: '.snd', format: 'a Sun/NeXT .au file' },
  { at: 0, text: 'caff', format: 'a Core Audio file' },
  { at: 0, text: '#!AMR', format: 'an AMR file' },
  { at: 4, text: 'ftyp', format: 'an MP4 file' },
  { at: 0, text: '\x1a\x45\xdf\xa3', format: 'a Matroska or WebM file' },
  { at: 0, text: 'riff\x2e\x91\xcf\x11', format: 'a Sony Wave64 file' },
  { at: 0, text: 'RIFX', format: 'a big-endian WAV file (RIFX)' },
];

/** What a file is by its first bytes, such as "an MP3 file"; undefined if they do not show it. */
export function recognizeForeignFormat(start: Buffer): string | undefined {
  const text = start.toString('latin1');
  return signatures.find((entry) => text.startsWith(entry.text, entry.at))?.format;
}
