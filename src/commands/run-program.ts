/** The command tree and the runner in one module: they are always needed together. */
export { runProgram } from './program.ts';
export { createRunner } from './runner.ts';
