import { defineSpec } from '../command.ts';

export const doctorSpec = defineSpec({
  name: 'doctor',
  summary: 'check what works on this machine, and show how to fix what does not',
  examples: ['voicectl doctor', 'voicectl doctor --base-url https://voice.example --json'],
});
