import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { pageData } from '../../../protocol/control-paths.ts';
import type { RecordingView as Data, PackedVoices } from '../../view-data.ts';
import { RecordingView } from '../recording/RecordingView.tsx';
import { decodePcm, type Voices } from '../recording/voices.ts';
import { askJson } from './api.ts';
import { notice } from './notice.ts';
import { opened, place } from './store.ts';

/** A recording in the view that `inspect --html` writes. */
export function OpenedRecording({ id }: { id: number }) {
  const loaded = useSignal<{ data: Data; voices: Voices }>();
  useEffect(() => {
    const load = async () => {
      const path = `${pageData}recordings/${id}.json`;
      const { view, voices } = await askJson<{ view: Data; voices: PackedVoices }>('GET', path);
      loaded.value = {
        data: view,
        voices: { out: await decodePcm(voices.out), in: await decodePcm(voices.in) },
      };
    };
    load().catch((thrown: Error) => {
      notice.value = { text: thrown.message, isBad: true };
      opened.value = undefined;
    });
  }, [id]);
  return (
    <div class="opened">
      <button type="button" id="back" class="back" onClick={() => (opened.value = undefined)}>
        ← Back to the {place()}
      </button>
      {loaded.value === undefined ? <p class="faint">Reading…</p> : <RecordingView {...loaded.value} />}
    </div>
  );
}
