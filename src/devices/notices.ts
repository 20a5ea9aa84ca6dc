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

/** Passes notices about devices to a listener, including earlier ones. */
export interface Notices {
  emit(notice: DeviceNotice): void;
  /** Calls `listener` for each notice, beginning with the earlier ones. */
  listen(listener: (notice: DeviceNotice) => void): void;
}

/** Far more notices than there are while devices are being opened. */
const maxWaiting = 100;

export function createNotices(): Notices {
  const waiting: DeviceNotice[] = [];
  let receive = (notice: DeviceNotice) => {
    if (waiting.length < maxWaiting) waiting.push(notice);
  };
  return {
    emit: (notice) => receive(notice),
    listen(listener) {
      receive = listener;
      for (const notice of waiting.splice(0)) listener(notice);
    },
  };
}
