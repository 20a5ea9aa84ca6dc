import type { CreateReply } from './reply.ts';

/** Listens and sends no audio, not even silent frames. */
export const silence: CreateReply = () => ({ hear() {} });
