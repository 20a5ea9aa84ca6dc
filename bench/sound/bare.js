import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startSoundServer } from '../../test/helpers/sound-server.js';
import { openEar } from './ear.js';
import { collectDelays, collectEchoes, describe } from './measure.js';
import { startService } from './service.js';

const pulse = ['--raw', '--format=s16le', '--rate=16000', '--channels=1'];
const alsa = [
  '-q',
  '-t',
  'raw',
  '-f',
  'S16_LE',
  '-r',
  '16000',
  '-c',
  '1',
  '--buffer-time=80000',
  '--period-time=20000',
];
const sox = ['-q', '--buffer', '320', '-t', 'raw', '-e', 'signed', '-b', '16', '-r', '16000', '-c', '1'];
/** The programs that voicectl starts, with its flags. @type {Record<string, { play: string[], hear: string[] }>} */
export const barePrograms = {
  pulse: {
    play: ['pacat', '--playback', ...pulse, '--latency-msec=40', '--process-time-msec=5'],
    hear: ['parec', ...pulse, '--latency-msec=20', '--process-time-msec=20'],
  },
  alsa: { play: ['aplay', ...alsa, '-'], hear: ['arecord', ...alsa, '-'] },
  sox: { play: ['play', ...sox, '-'], hear: ['rec', ...sox, '-'] },
};

const player = fileURLToPath(new URL('../floors/play.js', import.meta.url));

/** Wire to ear with nothing between them but a bare client and the program. @param {string} backend */
export async function measureBare(backend) {
  const server = await startSoundServer();
  const service = await startService();
  const ear = await openEar('spk.monitor', server.env);
  const command = barePrograms[backend]?.play ?? [];
  const child = spawn(process.execPath, [player, service.url.replace('http', 'ws'), ...command], {
    env: server.env,
    stdio: 'ignore',
  });
  try {
    while (!service.isLive && child.exitCode === null) await sleep(20);
    await sleep(4_000);
    return describe(await collectDelays(service, ear, 8));
  } finally {
    child.kill('SIGTERM');
    await sleep(200);
    ear.close();
    service.close();
    server.close();
  }
}

/** Mouth to ear with one program's output as the input of the other. @param {string} backend */
export async function measureBareEcho(backend) {
  const server = await startSoundServer();
  const ears = {
    mouth: await openEar('micsrc.monitor', server.env),
    ear: await openEar('spk.monitor', server.env),
  };
  const { hear = [], play = [] } = barePrograms[backend] ?? {};
  const playing = spawn(play[0] ?? '', play.slice(1), {
    env: server.env,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const hearing = spawn(hear[0] ?? '', hear.slice(1), {
    env: server.env,
    stdio: ['ignore', playing.stdin, 'ignore'],
  });
  try {
    await sleep(1_000);
    return describe(await collectEchoes(server.env, ears));
  } finally {
    playing.kill('SIGKILL');
    hearing.kill('SIGKILL');
    ears.mouth.close();
    ears.ear.close();
    server.close();
  }
}
