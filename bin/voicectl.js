#!/usr/bin/env node
import { existsSync } from 'node:fs';

const program = new URL('../dist/cli.js', import.meta.url);
// A clone that was installed with --ignore-scripts has not been built yet.
if (!existsSync(program)) await import('../build.js');
const { main, createProcessIo } = await import(program.href);
process.exitCode = await main(process.argv.slice(2), createProcessIo());
