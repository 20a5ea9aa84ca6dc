/** The files in the folder of a recording. */
export const recordingFiles = {
  manifest: 'recording.json',
  /** The events of the session, without audio. */
  events: 'events.jsonl',
  /** Each message on the wire, without key and token. */
  wire: 'wire.jsonl',
  out: 'you.wav',
  in: 'ai.wav',
  /** Both on one time axis: the user left, the AI right. */
  both: 'both.wav',
  summary: 'summary.json',
} as const;
