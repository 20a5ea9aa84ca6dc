export { loadPcm } from './audio/wav/wav-source.ts';
export { createEmulator, type Emulator } from './emulator/emulator.ts';
export type { DeviceAudio, KeptStream } from './emulator/kept-audio.ts';
export type { EmulatorOptions } from './emulator/options.ts';
export type { CreateReply, Reply, Voice } from './emulator/replies/reply.ts';
export { takeTurns } from './emulator/replies/turns.ts';
export { loadScenario, type Scenario } from './emulator/scenario/scenario.ts';
export type { ScenarioInput } from './emulator/scenario/scenario-schema.ts';
export { type ErrorCode, VoicectlError } from './kernel/errors.ts';
export type { Dialect, DialectInput } from './protocol/dialect.ts';
export type { Fault, FaultInput, FaultName } from './protocol/faults.ts';
export { readServiceMessage, type ServiceMessage } from './protocol/messages.ts';
export type { ControlMessage, EmulatorControl } from './service/control/emulator-control.ts';
export type { EmulatorEvent } from './service/events.ts';
export { type Playable, playPcm } from './service/streams/playable.ts';
export {
  type ClientEvent,
  type ClientSession,
  type OpenSessionOptions,
  openSession,
  type SpeakOptions,
} from './session/open-session.ts';
export type { Addresses } from './wire/addresses.ts';
export type { TlsCertificate } from './wire/server/certificate.ts';
