/** What differs between systems, and what the program does about it. docs/INSTALL.md describes it. */
interface SystemTraits {
  /** A command and everything that it starts can be signalled together. Otherwise `taskkill /t` ends the tree. */
  readonly hasProcessGroups: boolean;
  /** Files have an owner and a mode: a file with a key can be refused because others may read it. */
  readonly hasFileModes: boolean;
}

const posix: SystemTraits = { hasProcessGroups: true, hasFileModes: true };
const windows: SystemTraits = { hasProcessGroups: false, hasFileModes: false };

export const system: SystemTraits = process.platform === 'win32' ? windows : posix;
