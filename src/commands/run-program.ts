/** The command tree and what runs a command, in one piece: they are always needed together. */
export { runProgram } from './program.ts';
export { createRunner } from './runner.ts';
