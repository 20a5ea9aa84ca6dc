import { bytesPerSample, channels, sampleRate } from '../protocol/audio-format.ts';
import { groupDigits } from '../protocol/count-text.ts';
import type { SampleFormat, SourceFormat } from './source.ts';

/** The audio format of the protocol. */
export const wireFormat: SampleFormat = {
  encoding: 'pcm',
  sampleRate,
  channels,
  bitsPerSample: bytesPerSample * 8,
};

/** Whether audio in this format can be sent without conversion. */
function isWireFormat(format: SampleFormat): boolean {
  return (
    format.encoding === wireFormat.encoding &&
    format.sampleRate === wireFormat.sampleRate &&
    format.channels === wireFormat.channels &&
    format.bitsPerSample === wireFormat.bitsPerSample
  );
}

/** A format with a text for people, and whether it has to be converted. */
export function describeFormat(format: SampleFormat): SourceFormat {
  const { encoding, sampleRate: rate, channels: count, bitsPerSample } = format;
  const samples = {
    pcm: `${bitsPerSample}-bit`,
    float: `${bitsPerSample}-bit float`,
    alaw: 'A-law',
    mulaw: 'µ-law',
  };
  const layout = count === 1 ? 'mono' : count === 2 ? 'stereo' : `${count} channels`;
  return {
    encoding,
    sampleRate: rate,
    channels: count,
    bitsPerSample,
    converted: !isWireFormat(format),
    text: `${groupDigits(rate)} Hz, ${samples[encoding]}, ${layout}`,
  };
}
