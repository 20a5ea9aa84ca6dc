import type { ContextOf } from '../command.ts';
import type { checkSpec } from './spec.ts';

export type CheckContext = ContextOf<typeof checkSpec>;
