import type { loadMergeOptions, loadOptions } from '../../config/options.ts';
import type { CommandContext } from '../command.ts';

export type LoadContext = CommandContext<(typeof loadOptions)[number]>;
export type LoadReportContext = CommandContext<(typeof loadMergeOptions)[number]>;
