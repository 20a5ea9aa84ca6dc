import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeFailure } from '../../files/refusal.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { type Recording, readRecording } from '../../recording/read-recording.ts';
import { recordStream } from '../../recording/record-stream.ts';
import type { PageHost } from '../../service/control/page-handler.ts';
import { noticeOf } from '../../service/events.ts';
import type { RecordingState } from '../messages.ts';

/** The longest recording that a page shows. */
const longestMs = 60 * 60_000;
const maxRecordings = 100;

/** Recordings of streams, kept until the emulator ends. */
export interface PageRecordings {
  list(): RecordingState[];
  /** Throws `usage` for a stream that is not open or is already being recorded; `input-output` if it cannot be written. */
  start(stream: number): Promise<RecordingState>;
  stop(id: number): Promise<RecordingState>;
  /** A recording that has ended. */
  read(id: number): Promise<Recording>;
  /** An archive of the folder of a recording, and a name for it. */
  archive(id: number): Promise<{ name: string; bytes: Buffer }>;
  /** Ends and deletes all. */
  close(): Promise<void>;
}

interface Kept {
  state: RecordingState;
  folder: string;
  startedAt: number;
  end: (how: NonNullable<RecordingState['end']>) => Promise<void>;
}

/** What a recording says about the service. */
export interface RecordedService {
  baseUrl: string;
  wsUrl: string;
  /** `emulator` or `proxy`. */
  what: string;
}

export interface RecordingsOptions {
  stage: PageHost;
  service: () => RecordedService;
  /** The folder of the recording that the emulator replays. */
  replayed?: string | undefined;
}

export function createRecordings({ stage, service, replayed }: RecordingsOptions): PageRecordings {
  const { control, clock, elapsedMs, observe, redact } = stage;
  const all = new Map<number, Kept>();
  /** Streams whose recording is about to start. */
  const starting = new Set<number>();
  // If it could not be read, the emulator did not start.
  if (replayed !== undefined) void keepReplayed(replayed).then((kept) => all.set(0, kept), noop);
  /** The folder of the recordings: made for the first one; if that fails, the next one tries again. */
  let home: Promise<string> | undefined;
  let nextId = 1;

  const find = (id: number): Kept => {
    const found = all.get(id);
    if (found === undefined) throw new VoicectlError('usage', `There is no recording ${id}`);
    return found;
  };
  const ended = (id: number): Kept => {
    const found = find(id);
    if (found.state.end === undefined)
      throw new VoicectlError('usage', `Recording ${id} has not ended: stop it first`);
    return found;
  };
  const describe = ({ state, startedAt }: Kept): RecordingState =>
    state.end === undefined ? { ...state, durationMs: Math.round(elapsedMs() - startedAt) } : state;

  const openHome = async (): Promise<string> => {
    const under = join(tmpdir(), 'voicectl-page-');
    home ??= mkdtemp(under);
    try {
      return await home;
    } catch (thrown) {
      home = undefined;
      throw writeFailure(under, thrown);
    }
  };

  const begin = async (stream: number): Promise<Kept> => {
    const under = await openHome();
    const { streams } = await control.state();
    const open = streams.find((one) => one.stream === stream);
    if (open === undefined) throw new VoicectlError('usage', `Stream ${stream} is not open`);
    // From here on nothing is waited for: a stream that closed in between would never end its recording.
    if (!isHere(stage, stream))
      throw new VoicectlError(
        'usage',
        `Stream ${stream} is open on another emulator: record it on that emulator’s page`,
      );
    const id = nextId++;
    const folder = join(under, `recording-${id}`);
    const startedAt = elapsedMs();
    let failure: VoicectlError | undefined;
    const { what, ...addresses } = service();
    const recording = recordStream({
      ...{
        ...addresses,
        clock,
        redact,
        device: open.device ?? undefined,
        source: `stream ${stream} of the ${what}`,
      },
      folderOf: () => folder,
      ownerOf({ claims }) {
        const device = typeof claims?.sub === 'string' ? claims.sub : '';
        kept.state = { ...kept.state, device };
        return { device };
      },
      onFailure(reason) {
        failure = reason;
        void kept.end('failed');
      },
    });
    let closing: Promise<void> | undefined;
    const stopTap = observe((opened) =>
      opened === stream
        ? {
            ...recording.tap,
            closed(end) {
              recording.tap.closed?.(end);
              void kept.end('closed');
            },
          }
        : undefined,
    );
    const unfollow = control.journal.follow({ stream }, (entry) => {
      const notice = noticeOf(entry);
      if (notice !== undefined) recording.notice(notice);
    });
    const full = clock.after(longestMs, () => void kept.end('full'), { background: true });
    const begunAt = new Date(clock.wall()).toISOString();
    const kept: Kept = {
      state: { id, stream, device: open.device ?? 'unknown', startedAt: begunAt, durationMs: 0 },
      folder,
      startedAt,
      end(how) {
        closing ??= (async () => {
          const durationMs = Math.round(elapsedMs() - startedAt);
          full.cancel();
          stopTap();
          unfollow();
          await recording.close();
          const end = failure === undefined ? { end: how } : { end: 'failed' as const, why: failure.message };
          kept.state = { ...kept.state, durationMs, ...end };
        })();
        return closing;
      },
    };
    return kept;
  };

  return {
    list: () => [...all.values()].map(describe),
    async start(stream) {
      const running = [...all.values()].some(
        ({ state }) => state.stream === stream && state.end === undefined,
      );
      if (running || starting.has(stream))
        throw new VoicectlError('usage', `Stream ${stream} is already being recorded`);
      if (all.size >= maxRecordings)
        throw new VoicectlError('usage', `Cannot keep more than ${maxRecordings} recordings`);
      starting.add(stream);
      try {
        const kept = await begin(stream);
        all.set(kept.state.id, kept);
        return describe(kept);
      } finally {
        starting.delete(stream);
      }
    },
    async stop(id) {
      const kept = find(id);
      await kept.end('stopped');
      return kept.state;
    },
    read: (id) => readRecording(ended(id).folder),
    async archive(id) {
      const { folder, state } = ended(id);
      const names = await readdir(folder);
      const files = await Promise.all(
        names.map(async (name) => ({ name, bytes: await readFile(join(folder, name)) })),
      );
      const of = state.stream === undefined ? 'replayed' : `stream-${state.stream}`;
      const name = `voicectl-${state.startedAt.replace(/[-:]|\.\d+/g, '')}-${of}`;
      return { name, bytes: tarOf(name, files, Date.parse(state.startedAt)) };
    },
    async close() {
      await Promise.all([...all.values()].map(({ end }) => end('stopped')));
      const made = await home?.catch(noop);
      if (made !== undefined) await rm(made, { recursive: true, force: true });
    },
  };
}

/** Whether a stream is open in this process. */
function isHere({ observe }: PageHost, stream: number): boolean {
  let isOpen = false;
  observe((opened) => {
    isOpen ||= opened === stream;
    return undefined;
  })();
  return isOpen;
}

async function keepReplayed(folder: string): Promise<Kept> {
  const { manifest, durationMs } = await readRecording(folder);
  const { device = '', startedAt = new Date(0).toISOString() } = manifest ?? {};
  return {
    state: { id: 0, stream: undefined, device, startedAt, durationMs, end: 'stopped' },
    folder,
    startedAt: 0,
    end: async () => {},
  };
}

function noop(): void {}

const blockBytes = 512;

/** Files as an uncompressed tar archive (POSIX ustar) with one folder. */
function tarOf(folder: string, files: readonly { name: string; bytes: Buffer }[], atMs: number): Buffer {
  const parts = files.flatMap(({ name, bytes }) => [
    header(`${folder}/${name}`, bytes.length, atMs),
    bytes,
    Buffer.alloc((blockBytes - (bytes.length % blockBytes)) % blockBytes),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(2 * blockBytes)]);
}

/** Offsets and octal numbers of IEEE Std 1003.1, "pax", ustar interchange format. */
function header(name: string, size: number, atMs: number): Buffer {
  const block = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number, at: number) =>
    block.write(`${value.toString(8).padStart(digits, '0')}\0`, at, 'latin1');
  block.write(name, 0, 100, 'latin1');
  octal(0o600, 7, 100);
  octal(0, 7, 108);
  octal(0, 7, 116);
  octal(size, 11, 124);
  octal(Math.floor(atMs / 1000), 11, 136);
  block.write('        ', 148, 'latin1');
  block.write('0', 156, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}
