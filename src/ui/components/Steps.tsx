import { Text } from 'ink';
import type { SessionState } from '../../session/events.ts';
import { useGlyphs } from '../theme.ts';

const steps: readonly SessionState[] = ['token', 'connecting', 'authorising', 'live', 'draining', 'closed'];

/** The steps of a session, with the current one marked. */
export function Steps({ state }: { state: SessionState | undefined }) {
  const { next, passed } = useGlyphs();
  const at = state === undefined ? -1 : steps.indexOf(state);
  return (
    <Text wrap="truncate">
      {steps.map((step, index) => (
        <Text key={step}>
          {index === 0 ? '' : <Text dimColor>{` ${next} `}</Text>}
          {index === at ? (
            <Text bold underline>
              {step}
            </Text>
          ) : (
            <Text dimColor>{index < at ? `${step} ${passed}` : step}</Text>
          )}
        </Text>
      ))}
    </Text>
  );
}
