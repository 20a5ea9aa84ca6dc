export { createEmulator, type Emulator, type EmulatorOptions } from './emulator/emulator.ts';
export type { EmulatorEvent } from './emulator/events.ts';
export { type Playable, playPcm } from './emulator/playable.ts';
export { takeTurns } from './emulator/replies/turns.ts';
export type { CreateReply, Reply, Voice } from './emulator/reply.ts';
export { type ErrorCode, VoicectlError } from './errors.ts';
export type { Dialect, DialectInput } from './protocol/dialect.ts';
export { readServiceMessage, type ServiceMessage } from './protocol/messages.ts';
