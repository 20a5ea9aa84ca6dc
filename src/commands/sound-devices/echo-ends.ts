import { createEchoWatch } from '../../devices/echo-watch.ts';
import type { Notices } from '../../devices/notices.ts';

/** What joins a loudspeaker and a microphone that are in one room. */
export interface EchoEnds {
  onPlayed(frame: Buffer): void;
  onHeard(pcm: Buffer): Buffer;
}

/** Removes the echo, if that is wanted; otherwise tells once that there is one. */
export async function openEchoEnds(isRemoved: boolean, notices: Notices): Promise<EchoEnds> {
  if (isRemoved) {
    const { createEchoCanceller } = await import('../../audio/echo-canceller.ts');
    const { played, clean } = await createEchoCanceller();
    return { onPlayed: played, onHeard: clean };
  }
  const { played, heard } = createEchoWatch(notices);
  return {
    onPlayed: played,
    onHeard(pcm) {
      heard(pcm);
      return pcm;
    },
  };
}
