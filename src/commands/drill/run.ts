import type { Readable } from 'node:stream';
import { flagOf } from '../../config/options.ts';
import { situations } from '../../conformance/drill/catalogue.ts';
import { type DrillOptions, type DrillResult, drill } from '../../conformance/drill/drill.ts';
import type { Drilled } from '../../conformance/drill/run-situation.ts';
import type {
  Device,
  DeviceAddress,
  ListeningAddress,
  Situation,
  StartDevice,
} from '../../conformance/drill/situation.ts';
import type { ServiceAccess } from '../../conformance/drill/stage.ts';
import { requireKeysBeyondLoopback } from '../../emulator/settle-options.ts';
import { writeWhole } from '../../files/output-file.ts';
import { type CommandOptions, cannotRun, startCommand } from '../../kernel/command-process.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { jsonLine } from '../../kernel/escape.ts';
import { createRedactor, redacted } from '../../kernel/redact.ts';
import { createSecretIndex } from '../../kernel/secret-index.ts';
import {
  drilledDetail,
  drilledLines,
  drilledObject,
  drillListLines,
  drillSummaryLines,
  drillSummaryObject,
  placeOf,
  situationObject,
} from '../../report/drill-lines.ts';
import { concealTokens } from '../../wire/conceal.ts';
import { prepareTls } from '../../wire/server/prepare-tls.ts';
import { childEnvironment, writeTrustFiles } from '../child/environment.ts';
import type { ContextOf } from '../command.ts';
import { runVerdicts, type VerdictFollower } from '../conformance/run-verdicts.ts';
import { tlsSettings } from '../serve/tls-settings.ts';
import { acceptedKeys } from '../service/emulator-settings.ts';

export async function run(context: ContextOf<'drill'>): Promise<number> {
  const { settings, io, json, style, args, origin } = context;
  const chosen = chooseSituations(settings.situation);
  if (settings.list) {
    const text = json
      ? chosen.map((one) => jsonLine(situationObject(one))).join('')
      : `${drillListLines(chosen, style).join('\n')}\n`;
    await io.stdout.write(text);
    return 0;
  }
  const reading = acceptedKeys(settings, context);
  // If they cannot be read, the run says so.
  const shown = shownArguments(args, await reading.catch(() => settings.acceptKey));
  const command = { flags: repeatedFlags(context), device: shown };
  const subject = args.length === 0 ? (settings.device ?? 'a device') : shown.join(' ');
  return runVerdicts<Drilled, DrillResult>(context, { command: 'drill', subject }, async () => {
    if (args.length === 0 && settings.parallel > 1)
      throw new VoicectlError('usage', '--parallel needs a command, to start several devices');
    if (settings.parallel > 1 && origin('port') === 'flag' && settings.port !== 0)
      throw new VoicectlError(
        'usage',
        '--parallel cannot be combined with --port: each device needs a port of its own',
      );
    const access = await accessOf(context, await reading);
    const start = commandDevice(context, access.acceptKeys ?? []);
    return {
      ...{ what: 'situations', items: chosen },
      hold: (follower, signal) =>
        drill({
          ...{ situations: chosen, access, signal, clock: io.clock, start },
          deviceTimeoutMs: settings.noticeWithin,
          parallel: settings.parallel,
          device: start === undefined ? settings.device : undefined,
          ...follow(follower, { of: chosen.length, access, isCommand: start !== undefined }),
        }),
      row(drilled) {
        const { verdict, message, advice } = drilled.finding;
        return { id: placeOf(drilled), title: drilled.title, verdict, message, advice };
      },
      lines: (drilled) => drilledLines(drilled, command, style),
      detail: (drilled) => drilledDetail(drilled, command),
      object: (drilled) => drilledObject(drilled, command),
      judgedIn: ({ drilled }) => drilled,
      summaryLines: (result) => drillSummaryLines(result, style),
      summaryObject: drillSummaryObject,
      async report(result, startedAt) {
        const { drillReport } = await import('../../report/verdict-report.ts');
        return drillReport({ subject, command, startedAt, result });
      },
      async page(result, startedAt, baseline) {
        const { drillPage } = await import('../../report/verdict-page.ts');
        return drillPage({ subject, command, startedAt, result, baseline });
      },
    };
  });
}

/** The flags with values that a situation needs again. */
const repeated = [
  'config',
  'profile',
  'host',
  'port',
  'cert',
  'tlsKey',
  'device',
  'acceptKeyFile',
  'allowHost',
  'allowOrigin',
] as const;

/** How a drill listened and whom it accepted, as flags. Keys are left to the user. */
function repeatedFlags({ settings, origin }: ContextOf<'drill'>): string[] {
  return [
    ...(settings.tls ? ['--tls'] : []),
    ...repeated
      .filter((name) => origin(name) === 'flag')
      .flatMap((name) => [settings[name]].flat().flatMap((value) => [flagOf(name), String(value)])),
    ...(origin('noticeWithin') === 'flag' ? [flagOf('noticeWithin'), `${settings.noticeWithin}ms`] : []),
    ...settings.acceptKey.flatMap(() => ['--accept-key', keyMark]),
  ];
}

/** Stands for a key in a command that repeats a situation. */
const keyMark = 'KEY';

/** The command of the user as outputs and reports show it. */
function shownArguments(args: readonly string[], acceptKeys: readonly string[]): string[] {
  const conceal = concealerOf(acceptKeys);
  return args.map((word) => {
    const shown = conceal(word);
    return shown === word ? word : shown.replaceAll(redacted, keyMark);
  });
}

/** Removes these keys, and whatever looks like a JWT. */
function concealerOf(keys: readonly string[]): (text: string) => string {
  const redactor = createRedactor(createSecretIndex(keys));
  return (text) => concealTokens(redactor.text(text));
}

/** The situations with these ids, in the order of the catalogue. Throws `usage` for an unknown id. */
function chooseSituations(ids: readonly string[]): readonly Situation[] {
  if (ids.length === 0) return situations;
  const wanted = ids.map((id) => id.trim().toLowerCase());
  const isMeant = ({ id }: Situation, want: string) => {
    const own = id.toLowerCase();
    return own === want || own.split('-')[0] === want;
  };
  for (const [index, want] of wanted.entries()) {
    if (!situations.some((situation) => isMeant(situation, want)))
      throw new VoicectlError('usage', `--situation: there is no situation ${ids[index]}`, {
        hint: '`voicectl drill --list` shows all situations.',
      });
  }
  return situations.filter((situation) => wanted.some((want) => isMeant(situation, want)));
}

/** How the service listens and whom it accepts. A command gets a free port for each situation. */
async function accessOf(context: ContextOf<'drill'>, acceptKeys: readonly string[]): Promise<ServiceAccess> {
  const { settings, io, args, origin } = context;
  const { host, port, allowHost, allowOrigin } = settings;
  requireKeysBeyondLoopback(host, acceptKeys);
  const tls = await prepareTls(await tlsSettings(settings, context), { host, allowHosts: allowHost });
  if (settings.certOut !== undefined && tls !== undefined)
    await writeWhole(settings.certOut, tls.cert, { giveUp: io.giveUp });
  const isFree = args.length > 0 && origin('port') !== 'flag';
  return {
    host,
    port: isFree ? 0 : port,
    acceptKeys,
    allowHosts: allowHost,
    allowOrigins: allowOrigin,
    tls,
  };
}

interface DrillFacts {
  /** The number of situations. */
  of: number;
  access: ServiceAccess;
  /** Whether the drill starts the device. */
  isCommand: boolean;
}

/** Shows the situations. The user of a device that the drill does not start also sees what to do. */
function follow(
  { show, note, judged }: VerdictFollower<Drilled>,
  { of, access, isCommand }: DrillFacts,
): Required<Pick<DrillOptions, 'onListening' | 'onStopNeeded' | 'onBegin' | 'onDrilled'>> {
  let count = 0;
  let isListening = false;
  let next = '';
  const used = () => show({ type: 'used', amounts: [{ name: 'situations', used: count, of }] });
  used();
  return {
    onListening(address) {
      if (isCommand) return;
      const [base = '', ...others] = welcomeLines(access, address);
      show({ type: 'notice', text: base });
      if (!isListening) for (const line of [base, ...others]) note(line);
      isListening = true;
      note(next);
    },
    onStopNeeded() {
      show({ type: 'doing', text: 'stop the device now' });
      note('Stop the device now: switch it off, or end its conversation.');
    },
    onBegin({ id, title }) {
      next = `${id}: ${title}…`;
      show({ type: 'doing', text: `${id} ${title}` });
    },
    onDrilled(drilled) {
      if (drilled.id === drilled.situation) count += 1;
      judged(drilled, true);
      used();
    },
  };
}

/** What to enter in a device that the drill does not start. */
function welcomeLines(
  { acceptKeys = [], tls }: ServiceAccess,
  { baseUrl, wsUrl, lan }: ListeningAddress,
): string[] {
  const places = lan.length === 0 ? [{ baseUrl, wsUrl }] : lan;
  return [
    ...places.flatMap((place) => [`Base URL  ${place.baseUrl}`, `Stream    ${place.wsUrl}`]),
    acceptKeys.length === 0 ? 'API key   any' : 'API key   one of the accepted keys',
    ...(tls === undefined ? [] : ['The device has to trust the certificate: --cert-out FILE writes it.']),
    'Waiting for the device. Some situations need it to be restarted.',
  ];
}

/** Starts the command of the user as a device; undefined if there is none. */
function commandDevice(
  { args, io, settings }: ContextOf<'drill'>,
  acceptKeys: readonly string[],
): StartDevice | undefined {
  if (args.length === 0) return undefined;
  return async ({ baseUrl, wsUrl, certificate }: DeviceAddress) => {
    const own = childEnvironment({ baseUrl, wsUrl, acceptKeys, device: settings.device });
    const trust = certificate === undefined ? undefined : await writeTrustFiles(certificate, io.env);
    const conceal = concealerOf([...acceptKeys, own.VOICECTL_API_KEY]);
    try {
      const device = await startDevice(args, { cwd: io.cwd, env: { ...io.env, ...own, ...trust?.env } });
      return {
        ...device,
        output: () => device.output().map(conceal),
        async kill() {
          await device.kill();
          await trust?.remove();
        },
      };
    } catch (thrown) {
      await trust?.remove();
      throw thrown;
    }
  };
}

/** Starts a command without input, and keeps the end of its output. Throws `usage` if it cannot run. */
async function startDevice(
  [command = '', ...args]: readonly string[],
  options: Pick<CommandOptions, 'cwd' | 'env'>,
): Promise<Device> {
  const running = startCommand(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const { stdout, stderr } = running.child;
  const output = keepLastLines(...[stdout, stderr].filter((stream) => stream !== null));
  await running.started.catch((cause) => {
    throw cannotRun(command, cause);
  });
  return {
    ended: running.ended.then(({ code, signal }) => code ?? signal ?? 0),
    stop: () => running.signal('SIGTERM'),
    kill: () => running.end(),
    output,
  };
}

/** How much of the output is kept at least. */
const keptBytes = 64 * 1_024;
const keptLines = 20;

/** Keeps the last lines of the output of a command, however long it is. */
function keepLastLines(...streams: readonly Readable[]): () => string[] {
  const kept: Buffer[] = [];
  let bytes = 0;
  for (const stream of streams) {
    stream.on('data', (chunk: Buffer) => {
      kept.push(chunk);
      bytes += chunk.length;
      for (let [first] = kept; first !== undefined && bytes - first.length >= keptBytes; [first] = kept) {
        bytes -= first.length;
        kept.shift();
      }
    });
  }
  return () =>
    Buffer.concat(kept)
      .toString()
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '')
      .slice(-keptLines);
}
