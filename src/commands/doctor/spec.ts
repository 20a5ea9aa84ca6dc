import { doctorOptions } from '../../config/options.ts';
import { defineSpec } from '../command.ts';

export const doctorSpec = defineSpec({
  name: 'doctor',
  summary: 'check what this machine can do, and say how to mend what it cannot',
  options: doctorOptions,
  examples: ['voicectl doctor', 'voicectl doctor --base-url https://voice.example --json'],
});
