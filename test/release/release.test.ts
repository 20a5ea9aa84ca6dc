import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const script = join(root, 'release', 'release.js');
const changes =
  '# Changelog\n\n## 1.2.3 (2026-11-24)\n\n- One thing.\n- Another.\n\n## 1.2.2\n\nThe first.\n';

/** A repository with one commit: what `npm run check` does there, and its changelog. */
function repository({ check = 'true', changelog = changes } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-release-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const git = (...args: string[]) => {
    const flags = ['-c', 'user.name=A', '-c', 'user.email=a@example.org', '-c', 'init.defaultBranch=main'];
    return execFileSync('git', [...flags, ...args], { cwd: folder, encoding: 'utf8' });
  };
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ version: '1.2.3', type: 'module', scripts: { check } }),
  );
  writeFileSync(join(folder, 'CHANGELOG.md'), changelog);
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'Begin');
  const names = {
    GIT_AUTHOR_NAME: 'A',
    GIT_COMMITTER_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@b.c',
    GIT_COMMITTER_EMAIL: 'a@b.c',
  };
  const release = (...args: string[]) =>
    spawnSync(process.execPath, [script, ...args], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, ...names },
    });
  return { folder, git, release };
}

describe('npm run release', () => {
  test('with --notes prints the changelog, with --dry-run says what it would do; both tag nothing', () => {
    const { git, release } = repository();
    expect(release('--notes')).toMatchObject({ status: 0, stdout: '- One thing.\n- Another.\n' });
    const { status, stdout } = release('--dry-run');
    expect({ status, tags: git('tag') }).toEqual({ status: 0, tags: '' });
    expect(stdout).toContain('Would release 1.2.3');
    expect(stdout).toContain('git push origin v1.2.3');
    expect(stdout).toContain('Nothing was changed.');
  });

  test('tags the version, with the changelog as the message, and refuses a version that is already tagged', () => {
    const { git, release } = repository();
    expect(release().status).toBe(0);
    expect(git('tag', '-n9')).toMatch(
      /^v1\.2\.3\s+voicectl 1\.2\.3\n\s+\n\s+- One thing\.\n\s+- Another\.\n$/,
    );
    expect(release('--dry-run')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('tagged already'),
    });
  });

  test('refuses a dirty tree, and names its files', () => {
    const { folder, release } = repository();
    writeFileSync(join(folder, 'left.txt'), '');
    expect(release('--dry-run')).toMatchObject({ status: 1, stderr: expect.stringContaining('?? left.txt') });
  });

  test('refuses a failing test suite', () => {
    const { git, release } = repository({ check: 'exit 3' });
    expect(release()).toMatchObject({ status: 1, stderr: expect.stringContaining('npm run check failed') });
    expect(git('tag')).toBe('');
  });

  test.each([
    ['no section', '# Changelog\n\n## 1.2.2 (2026-01-01)\n\n- Old.\n'],
    ['no date', '# Changelog\n\n## 1.2.3\n\n- New.\n'],
    ['no text', '# Changelog\n\n## 1.2.3 (2026-11-24)\n\n## 1.2.2\n\n- Old.\n'],
    ['a version that only begins the same way', '# Changelog\n\n## 1.2.31 (2026-11-24)\n\n- Other.\n'],
  ])('refuses a changelog with %s for the version', (_what, changelog) => {
    const { release } = repository({ changelog });
    expect(release('--dry-run')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('no section "## 1.2.3'),
    });
  });
});

test('the changelog has a section for the version of the package, with its date', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  expect(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')).toMatch(
    new RegExp(`^## ${version} \\(\\d{4}-\\d\\d-\\d\\d\\)$`, 'm'),
  );
});
