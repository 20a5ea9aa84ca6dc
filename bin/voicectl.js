#!/usr/bin/env node
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

/** CommonJS, and so are the files that it loads first: Node starts its loader for ES modules when one is needed. */
async function run() {
  const program = join(__dirname, '../dist/cli.cjs');
  const build = join(__dirname, '../build.js');
  if (existsSync(program) || existsSync(build)) {
    // A clone that was installed with --ignore-scripts has not been built yet.
    if (!existsSync(program)) await import(pathToFileURL(build).href);
    const { main, createProcessIo } = require(program);
    // What Node does for a module: createProcessIo() reports a command that never ends.
    const leave = () => {
      process.exitCode ??= 13;
    };
    process.once('exit', leave);
    process.exitCode = await main(process.argv.slice(2), createProcessIo());
    process.off('exit', leave);
  } else {
    process.stderr.write(
      'voicectl: This installation has no program: npm builds it from git only with install scripts\n' +
        '  Install it without --ignore-scripts, or from a tarball (npm pack in a clone).\n',
    );
    process.exitCode = 2;
  }
}

void run();
