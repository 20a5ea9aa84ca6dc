import type { OpenService } from '../service/open-service.ts';
import type { EventWatch } from './event-watch.ts';

/** A running emulator, without its control. */
export interface RunningService extends Readonly<OpenService>, EventWatch {}
