import { render } from 'preact';
import { VerdictPage } from './verdicts/VerdictPage.tsx';

render(<VerdictPage />, document.body);
