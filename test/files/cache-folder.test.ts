import { expect, test } from 'vitest';
import { type CachePlaces, cacheFolders } from '../../src/files/cache-folder.ts';

const noHome = () => {
  throw new Error('a user without a home');
};

test.each<[string, CachePlaces, string[]]>([
  ['the variable', { env: { XDG_CACHE_HOME: '/c', HOME: '/h' } }, ['/c/voicectl']],
  ['an empty variable', { env: { XDG_CACHE_HOME: '', HOME: '/h' } }, ['/h/.cache/voicectl']],
  ['a variable that is not absolute', { env: { XDG_CACHE_HOME: 'c', HOME: '/h' } }, ['/h/.cache/voicectl']],
  ['no variable', { env: {}, homeOf: () => '/h' }, ['/h/.cache/voicectl']],
  ['an empty home', { env: { HOME: '' }, homeOf: () => '/h' }, ['/h/.cache/voicectl']],
  ['no home at all', { env: {}, homeOf: noHome }, []],
  ['macOS', { env: { HOME: '/h' }, platform: 'darwin' }, ['/h/Library/Caches/voicectl']],
  ['Windows', { env: { LOCALAPPDATA: 'C:\\l' }, platform: 'win32' }, ['C:\\l\\voicectl']],
  ['Windows with an empty variable', { env: { LOCALAPPDATA: '' }, platform: 'win32' }, []],
])('the cache folder with %s', (_, places, expected) => {
  const found = cacheFolders({ platform: 'linux', temporary: '/t', ...places });
  expect(found.slice(0, -1)).toEqual(expected);
  expect(found.at(-1)).toMatch(/^[/\\]t[/\\]voicectl-/);
});
