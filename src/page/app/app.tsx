import { render } from 'preact';
import { LivePage } from './live/LivePage.tsx';

render(<LivePage />, document.body);
