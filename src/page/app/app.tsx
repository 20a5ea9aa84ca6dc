import { render } from 'preact';
import type { RecordingView as Data } from '../view-data.ts';
import { LivePage } from './live/LivePage.tsx';
import { RecordingView } from './recording/RecordingView.tsx';
import { decodePcm } from './recording/voices.ts';

/** The text of a data element of a page that contains a finished session. */
function textOf(id: string): string | undefined {
  return document.getElementById(id)?.textContent ?? undefined;
}

const data = textOf('data');
if (data === undefined) render(<LivePage />, document.body);
else {
  const voices = {
    out: await decodePcm(textOf('pcm-out') ?? ''),
    in: await decodePcm(textOf('pcm-in') ?? ''),
  };
  const root = document.createElement('div');
  document.body.append(root);
  render(<RecordingView data={JSON.parse(data) as Data} voices={voices} />, root);
}
