import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Addresses, program, watchProcess } from '../helpers/voicectl.ts';
import { describeService } from './service-contract.ts';

const apiKey = 'contract-key';
const flags = ['--port', '0', '--json', '--reply', 'echo', '--accept-key', apiKey];

// What takes time is asked of the emulator that it starts.
describeService(
  'voicectl serve',
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'voicectl-contract-'));
    const running = watchProcess(process.execPath, [program, 'serve', ...flags], {
      cwd: home,
      env: { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: join(home, '.config') },
    });
    const close = async () => {
      running.signal('SIGTERM');
      await running.ended;
      rmSync(home, { recursive: true, force: true });
    };
    try {
      const { baseUrl, wsUrl } = JSON.parse(await running.line(/"type":"listening"/)) as Addresses;
      return { baseUrl, wsUrl, apiKey, close };
    } catch (thrown) {
      await close();
      throw thrown;
    }
  },
  'real',
);
