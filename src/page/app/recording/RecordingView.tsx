import { type Signal, useComputed } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { secondsText } from '../../../protocol/time-text.ts';
import type { RecordingView as Data } from '../../view-data.ts';
import { PlayerPanel } from './PlayerPanel.tsx';
import { createPlayer } from './player.ts';
import type { Voices } from './voices.ts';

interface RecordingProps {
  data: Data;
  voices: Voices;
  /** Whether it is part of a page that has its own header. */
  isPart?: boolean;
}

/** A finished session: what happened, its picture, and both voices to hear. */
export function RecordingPicture({ data, voices, isPart }: RecordingProps) {
  const [Head, Main, Foot] = isPart
    ? (['div', 'div', 'div'] as const)
    : (['header', 'main', 'footer'] as const);
  const player = useMemo(() => createPlayer(voices, data), [voices, data]);
  useEffect(() => player.close, [player]);
  return (
    <>
      <Head class="recording-header">
        <Heading data={data} />
        {data.failure !== undefined && <p class="bad">{data.failure}</p>}
        {data.problems.length > 0 && (
          <ul class="problems">
            {data.problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        )}
        <dl class="metrics">
          {data.metrics.map(({ name, value, note }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                {value}
                {note !== undefined && <small>{note}</small>}
              </dd>
            </div>
          ))}
        </dl>
      </Head>
      <Main class="recording-main">
        <Expectations data={data} />
        <PlayerPanel data={data} voices={voices} player={player} />
        <TurnsTable data={data} onSeek={player.seek} />
        <TranscriptTable data={data} onSeek={player.seek} />
        <EventsTable data={data} position={player.position} onSeek={player.seek} />
      </Main>
      <Foot class="recording-footer">
        {data.made} This page works offline. It contains the voices, but no keys and no tokens.
      </Foot>
    </>
  );
}

const badges = { ok: 'good', failed: 'bad', cut: 'note' } as const;

function Heading({ data: { title, outcome, facts } }: { data: Data }) {
  return (
    <>
      <h1>
        {title.what}
        {title.where !== undefined && (
          <>
            {' '}
            <span class="arrow">→</span> {title.where}
          </>
        )}{' '}
        {outcome !== undefined && <span class={`badge ${badges[outcome]}`}>{outcome}</span>}
      </h1>
      <p class="facts">{facts}</p>
    </>
  );
}

interface TableProps {
  data: Data;
  onSeek: (ms: number) => void;
}

function Seek({ t, onSeek }: { t: number; onSeek: (ms: number) => void }) {
  return (
    <button type="button" class="seek" data-t={t} onClick={() => onSeek(t)}>
      {(t / 1000).toFixed(3)}
    </button>
  );
}

function TurnsTable({ data: { turns, gaps }, onSeek }: TableProps) {
  const rows = turns.map(({ voice, startMs, endMs, bargeIn, afterMs }) => ({
    t: startMs,
    length: endMs - startMs,
    who: (
      <td>
        <span class={`swatch ${voice}`} /> {voice === 'out' ? 'you' : 'AI'}
      </td>
    ),
    note: bargeIn ? 'talks over the AI' : afterMs === null ? '' : `${Math.round(afterMs)} ms after you`,
  }));
  const late = gaps.map(({ startMs, endMs }) => ({
    t: startMs,
    length: endMs - startMs,
    who: <td class="bad">gap</td>,
    note: 'AI audio was late',
  }));
  const all = [...rows, ...late].sort((a, b) => a.t - b.t);
  return (
    <>
      <h2 id="turns-title">Turns</h2>
      {all.length === 0 ? (
        <p class="facts">There is no speech.</p>
      ) : (
        <Table title="turns-title" heads={['at', 'who', 'length', 'note']}>
          {all.map(({ t, length, who, note }) => (
            <tr key={`${t} ${note}`}>
              <td>
                <Seek t={t} onSeek={onSeek} />
              </td>
              {who}
              <td>{secondsText(length)}</td>
              <td>{note}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

function TranscriptTable({ data: { spoken }, onSeek }: TableProps) {
  if (spoken.length === 0) return null;
  return (
    <>
      <h2 id="transcript-title">Transcript</h2>
      <Table title="transcript-title" heads={['at', 'who', 'what']} id="transcript">
        {spoken.map(({ t, who, text }) => (
          <tr key={`${t} ${who}`}>
            <td>
              <Seek t={t} onSeek={onSeek} />
            </td>
            <td>
              {who !== null && <span class={`swatch ${who === 'you' ? 'out' : 'in'}`} />} {who}
            </td>
            <td>{text}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

/** Marks the last event before the position. */
function EventsTable({ data: { events }, position, onSeek }: TableProps & { position: Signal<number> }) {
  const last = useComputed(() =>
    position.value > 0 ? events.findLastIndex(({ t }) => t <= position.value + 1) : -1,
  );
  return (
    <>
      <h2 id="events-title">Events</h2>
      <Table title="events-title" heads={['at', 'what']} id="events">
        {events.map(({ t, tone, text }, index) => (
          <tr key={index} data-t={t} class={index === last.value ? 'now' : ''}>
            <td>
              <Seek t={t} onSeek={onSeek} />
            </td>
            <td>
              <code class={tone}>{text}</code>
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

/** What failed comes first; what passed or could not be judged is folded. */
function Expectations({ data: { verdicts } }: Pick<TableProps, 'data'>) {
  const failed = verdicts.filter(({ outcome }) => outcome === 'FAIL');
  return (
    <>
      {failed.length > 0 && (
        <>
          <h2 id="verdicts-title">Expectations that failed</h2>
          <VerdictsTable title="verdicts-title" verdicts={failed} />
        </>
      )}
      <FoldedVerdicts
        title="passed-title"
        ending="passed"
        verdicts={verdicts.filter(({ outcome }) => outcome === 'pass')}
      />
      <FoldedVerdicts
        title="skipped-title"
        ending="could not be judged"
        verdicts={verdicts.filter(({ outcome }) => outcome === 'skip')}
      />
    </>
  );
}

function FoldedVerdicts({ title, ending, verdicts }: VerdictsProps & { ending: string }) {
  if (verdicts.length === 0) return null;
  return (
    <details class="passed">
      <summary id={title}>
        {verdicts.length} expectation{verdicts.length === 1 ? '' : 's'} {ending}
      </summary>
      <VerdictsTable title={title} verdicts={verdicts} />
    </details>
  );
}

interface VerdictsProps {
  title: string;
  verdicts: Data['verdicts'];
}

const classOf = { pass: 'good', FAIL: 'bad', skip: 'faint' } as const;

function VerdictsTable({ title, verdicts }: VerdictsProps) {
  return (
    <Table title={title} heads={['verdict', 'expectation', 'expected', 'measured']}>
      {verdicts.map(({ name, outcome, expected, measured }) => (
        <tr key={name}>
          <td class={classOf[outcome]}>{outcome}</td>
          <td>{name}</td>
          <td>{expected}</td>
          <td>{measured}</td>
        </tr>
      ))}
    </Table>
  );
}

function Table(props: { title: string; heads: string[]; id?: string; children: ComponentChildren }) {
  const { title, heads, id, children } = props;
  return (
    <section class="scroll" id={id} aria-labelledby={title} tabIndex={0}>
      <table aria-labelledby={title}>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
