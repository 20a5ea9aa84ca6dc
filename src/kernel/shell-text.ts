/** Text that is safe inside single quotes of a shell. */
export function shellText(text: string): string {
  return text.replaceAll("'", `'\\''`);
}

/** A word of a shell, quoted if necessary. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${shellText(text)}'`;
}
