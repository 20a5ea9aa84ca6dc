import type { conformanceOptions } from '../../config/options.ts';
import type { CommandContext } from '../command.ts';

/** What the commands have in common that hold planned exchanges with a service. */
export type ConformanceContext = CommandContext<(typeof conformanceOptions)[number]>;
