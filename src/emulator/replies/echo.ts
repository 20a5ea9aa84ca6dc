import type { CreateReply } from './reply.ts';

/** Sends every message of audio back at once. */
export const echo: CreateReply = ({ send }) => ({ hear: send });
