import { options, render } from 'preact';
import { systemClock } from '../../kernel/clock.ts';
import { LivePage } from './live/LivePage.tsx';

// Handling a message, rendering the changes and the layout are three short tasks instead of a long one.
options.debounceRendering = (work) => systemClock.after(0, work);

systemClock.after(0, () => render(<LivePage />, document.body));
