/** Only described here: the completion library replaces this command in the tree. */
export const completionSpec = {
  name: 'completion',
  summary: 'print a completion script',
  args: [['<shell>', 'bash, zsh or fish']],
} as const;
