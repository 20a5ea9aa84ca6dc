import { render } from 'preact';
import type { RecordingView as Data } from '../view-data.ts';
import { RecordingPicture } from './recording/RecordingView.tsx';
import { decodePcm } from './recording/voices.ts';

// The page that contains a finished session: one file, which `inspect --html` writes.
const textOf = (id: string) => document.getElementById(id)?.textContent ?? '';

const voices = { out: await decodePcm(textOf('pcm-out')), in: await decodePcm(textOf('pcm-in')) };
const root = document.createElement('div');
document.body.append(root);
render(<RecordingPicture data={JSON.parse(textOf('data')) as Data} voices={voices} />, root);
