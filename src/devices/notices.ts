/** Something about a device that the user should know. The session goes on. */
export interface DeviceNotice {
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

/** Passes notices of devices to a listener, including those before it listened. */
export interface Notices {
  tell(notice: DeviceNotice): void;
  /** Calls `listener` for all notices, earlier ones first. */
  listen(listener: (notice: DeviceNotice) => void): void;
}

/** Before anybody listens, devices are being opened: they have few things to say. */
const maxWaiting = 100;

export function createNotices(): Notices {
  const waiting: DeviceNotice[] = [];
  let tell = (notice: DeviceNotice) => {
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
