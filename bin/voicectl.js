#!/usr/bin/env node
import { existsSync } from 'node:fs';

const program = new URL('../dist/cli.js', import.meta.url);
const build = new URL('../build.js', import.meta.url);
if (existsSync(program) || existsSync(build)) {
  // A clone that was installed with --ignore-scripts has not been built yet.
  if (!existsSync(program)) await import(build.href);
  const { main, createProcessIo } = await import(program.href);
  process.exitCode = await main(process.argv.slice(2), createProcessIo());
} else {
  process.stderr.write(
    'voicectl: This installation has no program: npm builds it from git only with install scripts\n' +
      '  Install it without --ignore-scripts, or from a tarball (npm pack in a clone).\n',
  );
  process.exitCode = 2;
}
