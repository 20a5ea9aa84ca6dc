/** Not read as the other commands are: the library for completion takes its place in the tree. */
export const completionSpec = {
  name: 'completion',
  summary: 'print a completion script',
  args: [['<shell>', 'bash, zsh or fish']],
} as const;
