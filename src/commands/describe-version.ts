import { executablePlatform, shippedFolder } from '../files/shipped-file.ts';
import { version } from '../kernel/version.ts';

/** What this program is: its version, how it was installed, where its files are, and what runs it. */
export function describeVersion(): string {
  const platform = executablePlatform();
  const files = shippedFolder('.');
  return [
    `voicectl ${version}`,
    platform === undefined
      ? `  npm package in ${files}`
      : `  executable for ${platform}, its files unpacked in ${files}`,
    platform === undefined
      ? '  native audio if naudiodon or decibri is installed'
      : '  without native audio: sound through PulseAudio, PipeWire, ALSA, sox or ffmpeg',
    `  Node ${process.versions.node} on ${process.platform} ${process.arch}`,
    `  licences of all included software: ${shippedFolder('dist/LICENSES.txt')}`,
  ].join('\n');
}
