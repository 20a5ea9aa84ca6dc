import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

/** Their tests leave nothing behind in their process: it serves many files. */
const pure = 'test/{protocol,rules,report,config,files}/**/*.test.ts';
const all = 'test/**/*.test.ts';

export default defineConfig({
  define: { __VERSION__: JSON.stringify(version) },
  test: {
    projects: [
      { extends: true, test: { name: 'pure', include: [pure], isolate: false } },
      { extends: true, test: { name: 'own process', include: [all], exclude: [pure, 'node_modules/**'] } },
    ],
    globalSetup: ['test/helpers/own-temporary-folder.ts', 'test/helpers/build-once.ts'],
    // Tests wait on sockets, children and audio in real time more than they compute; on two cores vitest would use one.
    maxWorkers: 4,
    // The built program is loaded as it is.
    server: { deps: { external: [/\/dist\//] } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
