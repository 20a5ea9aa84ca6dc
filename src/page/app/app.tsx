import { options, render } from 'preact';
import { systemClock } from '../../kernel/clock.ts';
import { LivePage } from './live/LivePage.tsx';

// To take a message, to render what it changed and to lay it out are three short tasks, not a long one.
options.debounceRendering = (work) => systemClock.after(0, work);

systemClock.after(0, () => render(<LivePage />, document.body));
