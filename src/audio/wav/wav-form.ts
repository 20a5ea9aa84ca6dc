/** Whether a file that begins with these four characters is a WAV: RIFF, or a form with 64-bit sizes. */
export function isWavForm(start: string): boolean {
  return start === 'RIFF' || start === 'RF64' || start === 'BW64';
}
