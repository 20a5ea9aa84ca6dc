/** What each session of a load run does, by the name of the task. */
const loadTasks = {
  talk: 'speaks the file, hears the reply, and repeats this during --hold',
  listen: 'sends silence and listens during --hold',
  'barge-in': 'talks, and interrupts the first reply to each turn by speaking again',
  storm: 'opens its stream; then all streams are cut at once and connect again',
  tokens: 'requests a token and nothing else',
} as const;

export type LoadTask = keyof typeof loadTasks;

export const loadTaskNames = Object.keys(loadTasks) as LoadTask[];
