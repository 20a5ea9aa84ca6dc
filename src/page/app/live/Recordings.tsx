import { pageData } from '../../../protocol/control-paths.ts';
import type { RecordingState } from '../../messages.ts';
import { timeText } from '../picture/places.ts';
import { download } from './act.ts';
import { tellOf } from './notice.ts';
import { stopRecording } from './RecordButton.tsx';
import { opened, place, recordings } from './store.ts';

/** The recordings that were made from the page; they are kept until the emulator ends. */
export function Recordings() {
  return (
    <section class="panel" aria-labelledby="recordings-title">
      <h2 id="recordings-title">
        Recordings <span class="count">{recordings.value.length}</span>
      </h2>
      {recordings.value.length === 0 && (
        <p class="faint">Record a stream with its button. A recording is kept until the {place()} ends.</p>
      )}
      <ul class="recordings">
        {recordings.value.toReversed().map((one) => (
          <Item key={one.id} recording={one} />
        ))}
      </ul>
    </section>
  );
}

function Item({ recording }: { recording: RecordingState }) {
  const { id, device, stream, durationMs, end, why } = recording;
  const save = (form: string) =>
    tellOf(download(`${pageData}recordings/${id}.${form}`, `recording-${id}.${form}`));
  const name = `recording ${id} of ${device}`;
  return (
    <li>
      <span>
        <b>{device}</b>{' '}
        <span class="faint">
          {stream === undefined ? 'is replayed' : `stream ${stream}`}, {timeText(durationMs, 1_000)}
        </span>{' '}
        {end === undefined && <span class="bad">recording</span>}
        {end === 'failed' && <span class="bad">{why}</span>}
      </span>
      <span class="line">
        {end === undefined ? (
          <button type="button" aria-label={`Stop ${name}`} onClick={() => stopRecording(id)}>
            Stop
          </button>
        ) : (
          <>
            <button type="button" aria-label={`Open ${name}`} onClick={() => (opened.value = id)}>
              Open
            </button>
            <button type="button" aria-label={`Save ${name} as .html`} onClick={() => save('html')}>
              .html
            </button>
            <button type="button" aria-label={`Save ${name} as .tar`} onClick={() => save('tar')}>
              .tar
            </button>
          </>
        )}
      </span>
    </li>
  );
}
