import { defineSpec } from '../command.ts';

export const mcpSpec = defineSpec({
  name: 'mcp',
  summary: 'serve coding agents over the Model Context Protocol, on standard input and output',
  headings: { service: 'What the client may do:' },
  examples: [
    'voicectl mcp --folder voicectl-out',
    'voicectl mcp --allow-target staging.voice.example --api-key-file key.txt',
  ],
});
