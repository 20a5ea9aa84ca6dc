import { defaultDevice } from '../../config/target.ts';
import { developmentKey } from '../../protocol/token-request.ts';

export interface ChildTarget {
  baseUrl: string;
  wsUrl: string;
  /** The keys that the emulator accepts; none: any. */
  acceptKeys: readonly string[];
  device: string | undefined;
}

/** What a command finds in its environment about the emulator that was started for it. */
export function childEnvironment({ baseUrl, wsUrl, acceptKeys, device }: ChildTarget) {
  return {
    VOICECTL_BASE_URL: baseUrl,
    VOICECTL_WS_URL: wsUrl,
    VOICECTL_API_KEY: acceptKeys[0] ?? developmentKey,
    VOICECTL_DEVICE: device ?? defaultDevice(),
  };
}
