import type { ContextOf } from '../command.ts';
import type { serveSpec } from './spec.ts';

/** The context of `serve`. */
export type ServeRunContext = ContextOf<typeof serveSpec>;
