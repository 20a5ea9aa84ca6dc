import { homedir, tmpdir } from 'node:os';
import { posix, win32 } from 'node:path';

/** Where the folders of a user are found. */
export interface CachePlaces {
  env: Readonly<Record<string, string | undefined>>;
  platform?: NodeJS.Platform;
  /** Throws for a user without a home. */
  homeOf?: () => string;
  temporary?: string;
}

/**
 * Where the program may keep what it can make again, best place first: the user's cache folder, then a folder of the user in
 * the temporary folder. A variable that is empty or not absolute counts as not set (XDG Base Directory Specification).
 */
export function cacheFolders({
  env,
  platform = process.platform,
  homeOf = homedir,
  temporary = tmpdir(),
}: CachePlaces): string[] {
  const { isAbsolute, join } = platform === 'win32' ? win32 : posix;
  const named = platform === 'win32' ? env.LOCALAPPDATA : env.XDG_CACHE_HOME;
  const last = join(temporary, `voicectl-${process.getuid?.() ?? 'files'}`);
  const cache = named !== undefined && isAbsolute(named) ? named : underHome();
  return cache === undefined ? [last] : [join(cache, 'voicectl'), last];

  function underHome(): string | undefined {
    if (platform === 'win32') return undefined;
    try {
      const home = env.HOME || homeOf();
      return isAbsolute(home) ? join(home, platform === 'darwin' ? 'Library/Caches' : '.cache') : undefined;
    } catch {
      return undefined;
    }
  }
}
