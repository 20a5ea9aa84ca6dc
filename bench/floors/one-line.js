/** The least that a program in two files does: the first loads the second, and writes a line. */
const { line } = await import('./line.js');
process.stdout.write(line);
