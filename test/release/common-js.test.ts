import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startAsCommonJs } from '../../release/common-js.js';

const sources = {
  start: `import { count, Known } from "./shared.js";
    var run = async () => { const { other } = await import("./other.js"); console.log(count(), other(new Known())); };
    export { run };`,
  shared: `import { inner } from "./inner.js"; import { basename } from "node:path";
    var total = 0; var count = () => basename(inner) + (total += 1); var Known = class {};
    export { count, Known };`,
  inner: `var inner = "in/inner"; export { inner };`,
  other: `import { Known, count as again } from "./shared.js";
    var other = (value) => [value instanceof Known, again()].join(); export { other };`,
};

test.each([{}, { minifyWhitespace: true, minifySyntax: true }])(
  'the start is CommonJS, and what is loaded later has the same values: %o',
  async (options) => {
    const folder = mkdtempSync(join(tmpdir(), 'voicectl-common-js-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const files = new Map(Object.entries(sources).map(([name, text]) => [join('dist', `${name}.js`), text]));
    await startAsCommonJs(files, join('dist', 'start.js'), options);
    expect([...files.keys()].filter((path) => path.endsWith('.cjs')).sort()).toEqual(
      ['inner', 'shared', 'start'].map((name) => join('dist', `${name}.cjs`)),
    );
    mkdirSync(join(folder, 'dist'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    for (const [path, text] of files) writeFileSync(join(folder, path), text);
    const run = (script: string) =>
      execFileSync(process.execPath, ['-e', script], { cwd: folder, encoding: 'utf8' });
    expect(run('require("./dist/start.cjs").run()')).toBe('inner1 true,inner2\n');
    expect(run('import("./dist/start.js").then(({ run }) => run())')).toBe('inner1 true,inner2\n');
  },
);
