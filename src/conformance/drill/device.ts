/** Where a device of the drill connects. */
export interface DeviceAddress {
  baseUrl: string;
  wsUrl: string;
  /** The certificate that the device is to trust, as PEM. */
  certificate: string | undefined;
}

/** A device that the drill started. */
export interface Device {
  /** The exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Asks it to stop, as its user would. */
  stop(): void;
  /** Ends it with everything that it started, and resolves when nothing of it is left. */
  kill(): Promise<void>;
  /** The last lines that it printed. */
  output(): string[];
}

/** Starts the device. Throws `usage` if it cannot run. */
export type StartDevice = (address: DeviceAddress) => Promise<Device>;
