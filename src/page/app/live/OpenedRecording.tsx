import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { pageData } from '../../../protocol/control-paths.ts';
import type { RecordingView as Data, PackedVoices } from '../../view-data.ts';
import type { Voices } from '../recording/voices.ts';
import { askJson } from './api.ts';
import { notice } from './notice.ts';
import { opened, place } from './store.ts';

type Shown = typeof import('../recording/RecordingView.tsx').RecordingView;

/** A recording in the view that `inspect --html` writes. */
export function OpenedRecording({ id }: { id: number }) {
  const loaded = useSignal<{ View: Shown; data: Data; voices: Voices }>();
  useEffect(() => {
    const load = async () => {
      const path = `${pageData}recordings/${id}.json`;
      // The page is there without it, and sooner.
      const [{ RecordingView: View }, { decodePcm }] = await Promise.all([
        import('../recording/RecordingView.tsx'),
        import('../recording/voices.ts'),
      ]);
      const { view, voices } = await askJson<{ view: Data; voices: PackedVoices }>('GET', path);
      loaded.value = {
        View,
        data: view,
        voices: { out: await decodePcm(voices.out), in: await decodePcm(voices.in) },
      };
    };
    load().catch((thrown: Error) => {
      notice.value = { text: thrown.message, isBad: true };
      opened.value = undefined;
    });
  }, [id]);
  const shown = loaded.value;
  return (
    <main class="opened">
      <button type="button" id="back" class="back" onClick={() => (opened.value = undefined)}>
        ← Back to the {place()}
      </button>
      {shown === undefined ? (
        <p class="faint">Reading…</p>
      ) : (
        <shown.View data={shown.data} voices={shown.voices} isPart />
      )}
    </main>
  );
}
