import { useEffect, useMemo } from 'preact/hooks';
import type { RecordingView as Data } from '../../view-data.ts';
import { PlayerPanel } from './PlayerPanel.tsx';
import { createPlayer } from './player.ts';
import { EventsTable, TranscriptTable, TurnsTable, VerdictsTable } from './tables.tsx';
import type { Voices } from './voices.ts';

interface RecordingProps {
  data: Data;
  voices: Voices;
  /** Whether it is a part of a page that has a head of its own. */
  isPart?: boolean;
}

/** A finished session: what happened, its picture, and both voices to hear. */
export function RecordingView({ data, voices, isPart }: RecordingProps) {
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
        <PlayerPanel data={data} voices={voices} player={player} />
        <TurnsTable data={data} onSeek={player.seek} />
        <TranscriptTable data={data} onSeek={player.seek} />
        <EventsTable data={data} position={player.position} onSeek={player.seek} />
        <VerdictsTable data={data} />
      </Main>
      <Foot class="recording-footer">
        {data.made} This page needs no network. It contains the voices, but no keys and no tokens.
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
        <span class={`badge ${badges[outcome]}`}>{outcome}</span>
      </h1>
      <p class="facts">{facts}</p>
    </>
  );
}
