import type { CreateReply } from './reply.ts';

/** Listens and never says anything: no audio at all, not even silent frames. */
export const silence: CreateReply = () => ({ hear() {} });
