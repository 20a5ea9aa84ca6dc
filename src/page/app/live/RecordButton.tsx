import { pageData } from '../../../protocol/control-paths.ts';
import { secondsText } from '../../../protocol/time-text.ts';
import type { RecordingState } from '../../messages.ts';
import { askJson } from './api.ts';
import { reportOutcome } from './Notice.tsx';
import { recordings } from './store.ts';

/** Shows the answer at once: before the next state arrives, the button would repeat the request. */
async function post(path: string, body: unknown): Promise<RecordingState> {
  const state = await askJson<RecordingState>('POST', `${pageData}recordings/${path}`, { body });
  const others = recordings.value.filter(({ id }) => id !== state.id);
  recordings.value = [...others, state].sort((a, b) => a.id - b.id);
  return state;
}

function startRecording(stream: number): Promise<void> {
  return reportOutcome(post('start', { stream }).then(() => `Recording stream ${stream}`));
}

export function stopRecording(id: number): Promise<void> {
  return reportOutcome(post('stop', { id }).then((state) => `Recorded ${secondsText(state.durationMs, 1)}`));
}

/** Records a stream, from now on. */
export function RecordButton({ stream }: { stream: number }) {
  const running = recordings.value.find((one) => one.stream === stream && one.end === undefined);
  return (
    <button
      type="button"
      id="record"
      aria-pressed={running !== undefined}
      onClick={() => (running === undefined ? startRecording(stream) : stopRecording(running.id))}
    >
      <span class={running === undefined ? 'bad' : ''} aria-hidden="true">
        ●
      </span>{' '}
      {running === undefined ? 'Record' : `Stop, ${secondsText(running.durationMs, 0)}`}
    </button>
  );
}
