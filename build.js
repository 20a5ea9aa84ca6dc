import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { startAsCommonJs } from './release/common-js.js';
import { joinChunks } from './release/join-chunks.js';
import { licensesOf } from './release/licenses.js';

/**
 * Bundles the program and its dependencies into dist/: one file an entry, and shared chunks that are loaded
 * when they are first needed. Native audio stays outside: it is optional, and built where it is installed.
 */
const root = import.meta.dirname;
const { version, bugs } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

/**
 * What undici's client asks for and a request of ours never reaches, but would be loaded with it: HTTP/2, which brings
 * Node's http2, tls and crypto along at each start, and the bodies of fetch. Whoever gets there is told. Where fetch
 * itself is part of the bundle, it keeps its own.
 */
const leaveOut = {
  name: 'leave-out',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/(client-h2|fetch\/body)\.js$/ }, ({ path, importer }) =>
      /undici\/lib\/dispatcher\/client(-h1)?\.js$/.test(importer)
        ? { path: basename(path), namespace: 'left-out' }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'left-out' }, ({ path }) => ({
      contents: `module.exports = () => { throw new Error('${path} is left out of the bundle') };
        module.exports.extractBody = module.exports;`,
    }));
  },
};

/** The protocol of coding agents: we ask a client for nothing, so that no answer of one is checked against a schema. */
const mcpWithoutValidator = {
  name: 'mcp-without-validator',
  setup({ onLoad }) {
    onLoad({ filter: /modelcontextprotocol\/sdk\/dist\/esm\/validation\/ajv-provider\.js$/ }, () => ({
      contents: 'export class AjvJsonSchemaValidator {}',
    }));
  },
};

/** The layout of screens loads nothing: asking for `fetch` would load Node's undici into each thread that draws. */
const layoutWithoutFetch = {
  name: 'layout-without-fetch',
  setup({ onLoad }) {
    onLoad({ filter: /yoga-wasm-base64-esm\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replaceAll('typeof fetch', 'typeof undefined'),
    }));
  },
};

/** What is published is a third smaller. Names stay, for stacks. */
const printed = process.argv.includes('--minify') ? { minifyWhitespace: true, minifySyntax: true } : {};

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20.18',
  // The echo canceller is a script that only runs as it is. The test runner is the user's own; React's tools for developers are asked for in development only.
  external: [
    'naudiodon',
    'decibri',
    '@ennuicastr/webrtcaec3.js',
    'vitest',
    '@jest/globals',
    'react-devtools-core',
  ],
  define: {
    __VERSION__: JSON.stringify(version),
    __BUGS__: JSON.stringify(bugs?.url ?? 'the maintainers of your copy'),
    'process.env.NODE_ENV': '"production"',
    // ws would look for a package that only the user may have.
    'process.env.WS_NO_BUFFER_UTIL': '"1"',
  },
  legalComments: 'none',
  ...printed,
};

const program = await build({
  ...common,
  entryPoints: {
    cli: 'src/cli.ts',
    index: 'src/index.ts',
    testing: 'src/testing.ts',
    vitest: 'src/vitest.ts',
    jest: 'src/jest.ts',
    // The program of a process of its own, beside whatever starts it.
    'load-worker': 'src/runs/load/load-worker.ts',
    // The thread that draws, beside whatever opens a screen.
    'draw-worker': 'src/ui/draw-worker.ts',
  },
  outdir: 'dist',
  splitting: true,
  format: 'esm',
  jsx: 'automatic',
  // Packages that are CommonJS ask with require for Node's own modules, and for nothing else.
  banner: { js: 'const require=process.getBuiltinModule;' },
  metafile: true,
  write: false,
  plugins: [leaveOut, layoutWithoutFetch, mcpWithoutValidator],
});
// What most starts load, in this order.
const starts = [
  'src/cli.ts',
  'src/commands/run-program.ts',
  'src/commands/token/run.ts',
  'src/commands/stream/run.ts',
  'src/commands/stream/run-sessions.ts',
  'src/emulator/emulator.ts',
  'src/commands/serve/run.ts',
];
const files = await joinChunks(program, starts, printed);
await startAsCommonJs(files, 'dist/cli.js', { ...printed, target: common.target });
await mkdir(join(root, 'dist'), { recursive: true });
await Promise.all([...files].map(([path, text]) => writeFile(join(root, path), text)));
// A process for each sound device, which starts with each session: one file that has what it needs, and nothing else.
await build({
  ...common,
  entryPoints: { 'device-host': 'src/devices/host/device-host.ts' },
  outdir: 'dist',
  format: 'esm',
});
// The library for require(): Node 20 and Jest cannot load an ES module from CommonJS.
await build({
  ...common,
  stdin: {
    contents: "export * from './index.ts'; export * from './testing.ts';",
    resolveDir: join(root, 'src'),
  },
  outfile: 'dist/library.cjs',
  format: 'cjs',
  define: { ...common.define, 'import.meta.url': 'importMetaUrl' },
  banner: { js: "const importMetaUrl=require('node:url').pathToFileURL(__filename).href;" },
});
// Its library is the same one: a test file may require both.
await build({
  ...common,
  entryPoints: ['src/jest.ts'],
  outfile: 'dist/jest.cjs',
  format: 'cjs',
  plugins: [
    {
      name: 'one-library',
      setup: ({ onResolve }) =>
        onResolve({ filter: /\/testing\.ts$/ }, () => ({ path: './library.cjs', external: true })),
    },
  ],
});
// The pages of emulator and proxy, of verdicts, and of a recording: read as text at run time.
const ofPages = {
  ...common,
  platform: 'browser',
  target: ['chrome120', 'firefox121', 'safari17.2'],
  outdir: 'dist/page',
  format: 'esm',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  tsconfigRaw: {},
  minify: true,
};
const page = await build({
  ...ofPages,
  entryPoints: ['src/page/app/app.tsx', 'src/page/app/app.css'],
  splitting: true,
  chunkNames: '[name]-[hash]',
  metafile: true,
});
// Each of these is one file: inspect writes the second one into a page.
await build({ ...ofPages, entryPoints: ['verdicts', 'recording'].map((name) => `src/page/app/${name}.tsx`) });
await cp(join(root, 'src', 'page', 'app', 'icon.svg'), join(root, 'dist', 'page', 'icon.svg'));
await writeFile(
  join(root, 'dist', 'LICENSES.txt'),
  await licensesOf(packagesOf({ ...program.metafile.inputs, ...page.metafile.inputs })),
);
await removeStale(join(root, 'dist'), [...files.keys(), 'device-host.js']);
await removeStale(join(root, 'dist', 'page'), [
  ...Object.keys(page.metafile.outputs),
  'verdicts.js',
  'recording.js',
]);

/** Chunks of an earlier build; only now, so that there is no moment without a program. */
async function removeStale(folder, outputs) {
  const kept = new Set(outputs.map((path) => basename(path)));
  const chunks = (await readdir(folder)).filter(
    (file) => /^(?!library|jest).*\.c?js$/.test(file) && !kept.has(file),
  );
  await Promise.all(chunks.map((file) => rm(join(folder, file))));
}

/** The packages that became part of the bundle. */
function packagesOf(inputs) {
  return Object.keys(inputs).flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
}
