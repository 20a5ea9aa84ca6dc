import type { ContextOf } from '../command.ts';
import type { drillSpec } from './spec.ts';

export type DrillContext = ContextOf<typeof drillSpec>;
