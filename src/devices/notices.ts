/** Something about a device that its user should know; not the end of anything. */
export interface Notice {
  readonly code:
    | 'device-lost'
    | 'device-returned'
    | 'overrun'
    | 'microphone-silent'
    | 'playback-full'
    | 'headphones'
    | 'echo';
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
}

/** Carries notices from devices to a listener that comes later than they: none is lost. */
export interface Notices {
  tell(notice: Notice): void;
  /** From now on `listener` is told, first what came before. */
  listen(listener: (notice: Notice) => void): void;
}

/** Before anybody listens, devices are being opened: they have few things to say. */
const maxWaiting = 100;

export function createNotices(): Notices {
  const waiting: Notice[] = [];
  let tell = (notice: Notice) => {
    if (waiting.length < maxWaiting) waiting.push(notice);
  };
  return {
    tell: (notice) => tell(notice),
    listen(listener) {
      tell = listener;
      for (const notice of waiting.splice(0)) listener(notice);
    },
  };
}
