import { signal } from '@preact/signals';
import { type Heard, makeWav, type Voices } from './voices.ts';

/** Plays the voices of a finished session. */
export function createPlayer(
  voices: Voices,
  { sampleRate, durationMs }: { sampleRate: number; durationMs: number },
) {
  const audio = new Audio();
  audio.preload = 'auto';
  const isPlaying = signal(false);
  const position = signal(0);
  const readPosition = () => {
    position.value = audio.currentTime * 1000;
  };
  const follow = () => {
    readPosition();
    if (!audio.paused) requestAnimationFrame(follow);
  };
  for (const type of ['play', 'pause', 'ended']) {
    audio.addEventListener(type, () => {
      isPlaying.value = !audio.paused;
      if (type === 'play') follow();
    });
  }
  audio.addEventListener('seeked', readPosition);

  const player = {
    isPlaying,
    /** Milliseconds. */
    position,
    toggle() {
      if (audio.paused) void audio.play();
      else audio.pause();
    },
    seek(ms: number) {
      audio.currentTime = Math.min(durationMs, Math.max(0, ms)) / 1000;
      readPosition();
    },
    speed(factor: number) {
      audio.playbackRate = factor;
    },
    /** Plays these voices from now on, at the same position. */
    hear(which: Heard) {
      const { currentTime, paused, playbackRate } = audio;
      URL.revokeObjectURL(audio.src);
      audio.src = URL.createObjectURL(makeWav(voices, sampleRate, which));
      audio.currentTime = currentTime;
      audio.playbackRate = playbackRate;
      if (!paused) void audio.play();
    },
    close() {
      audio.pause();
      URL.revokeObjectURL(audio.src);
    },
  };
  player.hear('both');
  return player;
}

export type Player = ReturnType<typeof createPlayer>;
