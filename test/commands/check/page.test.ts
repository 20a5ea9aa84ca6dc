import { expect, test } from 'vitest';
import { setUpSandbox } from '../../helpers/voicectl.ts';

const sandbox = setUpSandbox();

test.each([
  ['check', ['check', '--local', '--rule', 'R1', '--rule', 'R2', '--open'], ['R1', 'R2']],
  ['drill', ['drill', '--situation', 'D1', '--open', '--', 'true'], ['D1']],
])(
  '%s --open shows its verdicts in the browser, and ends when the browser has them',
  async (_name, args, ids) => {
    // A browser that reads the news as a tab does, slowly.
    sandbox.write(
      'bin/xdg-open',
      `#!/bin/sh
curl -sN --retry 3 -H "X-Voicectl-Token: \${1##*#}" "\${1%%#*}page/live" > news
`,
      0o755,
    );
    await sandbox.run(args);
    const read = () =>
      sandbox
        .read('news')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { type: string; item?: { id: string; isFinal: boolean } });
    // The browser was sent everything before the command ended; it may still be writing it.
    await expect.poll(() => read().at(-1)).toMatchObject({ type: 'ended' });
    const news = read();
    expect(news[0]).toMatchObject({ type: 'verdicts', command: args[0] });
    expect(new Set(news.flatMap(({ item }) => (item?.isFinal ? [item.id] : [])))).toEqual(new Set(ids));
  },
);

test('without a browser --open warns, shows the address of the page, and waits for nobody', async () => {
  sandbox.write('bin/xdg-open', '#!/bin/sh\nexit 3\n', 0o755);
  const { code, stderr } = await sandbox.run(['check', '--local', '--rule', 'R1', '--open']);
  expect(code).toBe(0);
  expect(stderr).toMatch(/No browser could be started\. The page is http:\S+#/);
});
