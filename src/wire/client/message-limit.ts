/** The longest message that is read from a service, in bytes. The limit is ours: the specification has none. */
export const maxMessageBytes = 16 * 1024 * 1024;

export const tooLongText = `A message from the service is longer than ${maxMessageBytes / 1024 / 1024} MiB, which is voicectl’s limit`;
