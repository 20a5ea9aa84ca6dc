export { loadPcm } from './audio/wav-source.ts';
export type { Addresses } from './emulator/addresses.ts';
export type { TlsCertificate } from './emulator/certificate.ts';
export { createEmulator, type Emulator, type EmulatorOptions } from './emulator/emulator.ts';
export type { ControlMessage, EmulatorControl } from './emulator/emulator-control.ts';
export type { EmulatorEvent } from './emulator/events.ts';
export { type Playable, playPcm } from './emulator/playable.ts';
export { takeTurns } from './emulator/replies/turns.ts';
export type { CreateReply, Reply, Voice } from './emulator/reply.ts';
export { loadScenario, type Scenario } from './emulator/scenario/scenario.ts';
export type { ScenarioInput } from './emulator/scenario/scenario-schema.ts';
export { type ErrorCode, VoicectlError } from './errors.ts';
export type { Dialect, DialectInput } from './protocol/dialect.ts';
export type { Fault, FaultInput, FaultName } from './protocol/faults.ts';
export { readServiceMessage, type ServiceMessage } from './protocol/messages.ts';
export {
  type ClientEvent,
  type ClientSession,
  type OpenSessionOptions,
  openSession,
  type SpeakOptions,
} from './session/open-session.ts';
