import { useEffect } from 'preact/hooks';
import { listening, listenTo, stopListening } from './listen.ts';

/** Plays both voices of a session as they speak. */
export function ListenButton({ stream }: { stream: number }) {
  const isOn = listening.value === stream;
  useEffect(() => stopListening, []);
  return (
    <button
      type="button"
      id="listen"
      aria-pressed={isOn}
      onClick={() => (isOn ? stopListening() : listenTo(stream))}
    >
      {isOn ? '■ Stop listening' : '▶ Listen'}
    </button>
  );
}
