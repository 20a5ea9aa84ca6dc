import type { VoicectlError } from '../../kernel/errors.ts';
import { cutText, escapeText, jsonLine } from '../../kernel/escape.ts';
import type { TerminalDevice } from '../../kernel/terminal-device.ts';
import type { BaselineResult } from '../../report/compare-page.ts';
import type { RunReport } from '../../report/run-report.ts';
import { clearLine } from '../../report/style.ts';
import type { ResultLine } from '../../runs/compare/lines-run.ts';
import type { RunSet } from '../../runs/compare/run-set.ts';
import type { Item, JudgedItem, VerdictNews } from '../../ui/verdict-model.ts';
import type { CommandContext } from '../command.ts';
import { openBaseline } from '../compare/baseline.ts';
import { reportRun, writeRunFile } from '../run-reporter.ts';

export type VerdictContext = CommandContext<
  'junit' | 'html' | 'open' | 'ascii' | 'baseline' | 'updateBaseline'
>;

interface VerdictResult {
  /** Why the run ended before its plan did. */
  stopped: VoicectlError | undefined;
  exitCode: number;
}

/** Receives what happens during a run. */
export interface VerdictFollower<Judged> {
  /** For a screen, a page, or the progress line of a terminal. */
  show(news: Exclude<VerdictNews, { type: 'planned' | 'judged' | 'ended' }>): void;
  /** For people without a screen. */
  note(text: string): void;
  /** A verdict. It is printed when it is final. */
  judged(judged: Judged, isFinal: boolean): void;
}

/** A run that judges one item after another: a command as data. */
export interface VerdictRun<Judged, Result extends VerdictResult> {
  /** The plural name of the items: `rules`. */
  what: string;
  items: readonly Item[];
  /** Judges the items. If the signal ends it, also resolves: with what was found by then. */
  hold(follower: VerdictFollower<Judged>, signal: AbortSignal): Promise<Result>;
  /** Always called at the end. */
  close?(): Promise<void>;
  /** The row of a verdict. */
  row(judged: Judged): Omit<JudgedItem, 'isFinal'>;
  /** A verdict in lines, and with all its evidence for a panel. */
  lines(judged: Judged): readonly string[];
  detail(judged: Judged): readonly string[];
  object(judged: Judged): object;
  /** All verdicts of a result. */
  judgedIn(result: Result): readonly Judged[];
  summaryLines(result: Result): readonly string[];
  summaryObject(result: Result): object;
  report(result: Result, startedAt: number): Promise<RunReport>;
  /** What `--html` writes. */
  page(result: Result, startedAt: number, baseline: BaselineResult | undefined): Promise<string>;
}

export interface VerdictCommand {
  command: 'check' | 'drill';
  /** What is judged, for people. */
  subject: string;
}

/**
 * Runs a command that gives verdicts: shows it on a screen, as lines or as JSON, and with `--open` in the browser; writes its
 * reports. Returns the exit code. Throws what ended the run, if that determines the exit code.
 */
export function runVerdicts<Judged, Result extends VerdictResult>(
  context: VerdictContext,
  about: VerdictCommand,
  open: () => Promise<VerdictRun<Judged, Result>>,
): Promise<number> {
  const { settings, io } = context;
  return reportRun(context, { ...about, junit: settings.junit }, async (report) => {
    const startedAt = io.clock.wall();
    const judge = await openBaseline(context);
    const run = await open();
    try {
      const view = await openView(context, about, run);
      try {
        const result = await run.hold(view.follower, view.signal);
        const isBad = result.exitCode !== 0 || result.stopped !== undefined;
        const compared = await judge?.(() => runSetOf(run, result), { hasFailed: isBad });
        report(async () => {
          const found = await run.report(result, startedAt);
          return compared?.reported(found) ?? found;
        });
        const hasFailed = isBad || compared?.error !== undefined;
        const unwritten = await writeRunFile(context, { path: settings.html, hasFailed }, () =>
          run.page(result, startedAt, compared?.page),
        );
        // A failure of the run itself counts more than one of its comparison or page.
        const after = isBad ? undefined : (compared?.error ?? unwritten);
        await view.finish({ ...result, exitCode: after?.exitCode ?? result.exitCode }, compared?.text ?? '');
        if (after !== undefined) throw after;
        return await exitCodeOf(context, result);
      } finally {
        await view.close();
      }
    } finally {
      await run.close?.();
    }
  });
}

/** What the user sees of a run. */
interface View<Judged, Result> {
  follower: VerdictFollower<Judged>;
  /** Ends the run: the signal of the command, and the user's own. */
  signal: AbortSignal;
  /** Shows the result, and the text of its comparison with a baseline. Resolves when the user has seen it and it is written. */
  finish(result: Result, compared: string): Promise<void>;
  /** Prints what was found, also if there is no result. */
  close(): Promise<void>;
}

async function openView<Judged, Result extends VerdictResult>(
  context: VerdictContext,
  { command, subject }: VerdictCommand,
  run: VerdictRun<Judged, Result>,
): Promise<View<Judged, Result>> {
  const { settings, io, json, output, quiet, signal, note } = context;
  const about = { command, subject: escapeText(subject) };
  const page = settings.open ? await openPage(context, about) : undefined;
  const screen = output === 'tui' && io.terminal ? await openScreen(context, about, io.terminal) : undefined;
  const progress = screen === undefined ? createProgress(context) : undefined;
  const printed = createQueue((text) => io.stdout.write(text));
  /** A screen uses the whole terminal: the lines follow after it has closed. */
  const kept: string[] = [];
  const show = (news: VerdictNews) => {
    for (const viewer of [screen, page, progress]) viewer?.show(news);
  };
  const print = (lines: () => readonly string[], object: () => object) =>
    printText(
      json
        ? jsonLine(object())
        : lines()
            .map((line) => `${line}\n`)
            .join(''),
    );
  const printText = (text: string) => {
    if (screen !== undefined) kept.push(text);
    else {
      progress?.clear();
      printed.add(text);
    }
  };
  const restore = async () => {
    progress?.clear();
    await screen?.close();
    for (const text of kept.splice(0)) printed.add(text);
  };
  show({ type: 'planned', what: run.what, items: run.items.map(({ id, title }) => ({ id, title })) });
  return {
    signal: screen === undefined ? signal : AbortSignal.any([signal, screen.signal]),
    follower: {
      show,
      note(text) {
        progress?.clear();
        if (screen === undefined) void note(text);
      },
      judged(judged, isFinal) {
        if (screen !== undefined || page !== undefined) {
          const [lines, body] = [run.detail(judged), run.object(judged)];
          show({ type: 'judged', item: { ...run.row(judged), isFinal }, lines, body });
        }
        if (isFinal && (json || !quiet || isWorthTelling(run.row(judged))))
          print(
            () => run.lines(judged),
            () => run.object(judged),
          );
      },
    },
    async finish(result, compared) {
      const { exitCode, stopped } = result;
      const ok = exitCode === 0;
      const end = { ok, text: stopped === undefined ? (ok ? 'done, ok' : 'done, failed') : 'stopped' };
      // The summary is the last line of JSON.
      if (json) printText(compared);
      if (json || !quiet)
        print(
          () => run.summaryLines(result),
          () => run.summaryObject(result),
        );
      if (!json) printText(compared);
      page?.show({ type: 'ended', ...end });
      await screen?.finish(end);
      await restore();
      await printed.done();
    },
    async close() {
      await restore();
      await printed.done().catch(() => {});
      await page?.close();
    },
  };
}

/** Whether a verdict is a warning or an error, which `--quiet` prints too. */
function isWorthTelling({ verdict }: Pick<JudgedItem, 'verdict'>): boolean {
  return verdict === 'fail' || verdict === 'warn' || verdict === 'unknown';
}

/** A result in the form that is compared: what `--json` prints of it. */
async function runSetOf<Judged, Result extends VerdictResult>(
  run: VerdictRun<Judged, Result>,
  result: Result,
): Promise<RunSet> {
  const { runOfLines } = await import('../../runs/compare/lines-run.ts');
  const objects = [...run.judgedIn(result).map(run.object), run.summaryObject(result)];
  return runOfLines(
    objects.map((value, index) => ({ line: index + 1, value: value as ResultLine['value'] })),
    'this run',
  );
}

/** Writes one text after the other. `done` rejects with the first failure. */
function createQueue(write: (text: string) => Promise<void>) {
  let last = Promise.resolve();
  return {
    add(text: string) {
      last = last.then(() => write(text));
      last.catch(() => {});
    },
    done: () => last,
  };
}

async function openScreen(
  context: VerdictContext,
  { command, subject }: VerdictCommand,
  device: TerminalDevice,
) {
  const { openVerdictScreen } = await import('../terminal/run-screen.ts');
  return openVerdictScreen(context, { device, screen: command, subject });
}

/** Serves the page of a run and shows it in the browser. `close` resolves when the browser has all of it. */
async function openPage(context: VerdictContext, about: VerdictCommand) {
  const { io, signal } = context;
  const { version } = await import('../../kernel/version.ts');
  const { serveVerdicts } = await import('../../page/server/serve-verdicts.ts');
  const { showPage } = await import('../page/open-browser.ts');
  const page = await serveVerdicts({ ...about, version, clock: io.clock });
  const inVain = await showPage(context, page.url);
  if (!inVain.aborted) await context.note(`The page is ${page.url}`);
  return {
    show: page.show,
    close: () => page.close(!inVain.aborted, AbortSignal.any([signal, inVain])),
  };
}

async function exitCodeOf(
  { json, note }: VerdictContext,
  { stopped, exitCode }: VerdictResult,
): Promise<number> {
  if (stopped === undefined) return exitCode;
  if (stopped.exitCode === exitCode) throw stopped;
  // Plain lines have already reported it.
  if (json) await note(stopped.message);
  if (stopped.hint !== undefined) await note(stopped.hint);
  return exitCode;
}

/** Shows progress as a changing line on standard error; nothing if that is not a terminal. */
export function createProgress({ io, quiet, json }: CommandContext<never>) {
  const isShown = io.stderr.isTTY && !quiet && !json;
  let count = '';
  const write = (text: string) => {
    if (isShown) void io.stderr.write(`${clearLine}${text}`).catch(() => {});
  };
  return {
    show(news: VerdictNews) {
      if (news.type === 'used') {
        const [first] = news.amounts;
        if (first !== undefined) count = `${first.used}/${first.of}  `;
      } else if (news.type === 'doing') {
        const time = news.forMs === undefined ? '' : ` ${Math.ceil(news.forMs / 1000)} s`;
        write(cutText(escapeText(`${count}${news.text}${time}`), (io.stderr.columns ?? 80) - 1));
      }
    },
    /** Makes room for other lines. */
    clear: () => write(''),
  };
}
