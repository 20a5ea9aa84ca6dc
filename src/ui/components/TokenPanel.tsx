import { Box, Text } from 'ink';
import type { ReactNode } from 'react';
import { escapeText } from '../../kernel/escape.ts';
import { cutTo, nearText, padStartTo, steady } from '../cells.ts';
import { toAscii } from '../glyphs.ts';
import type { StreamModel } from '../stream-model.ts';
import { useGlyphs } from '../theme.ts';
import { LeftBar } from './Bar.tsx';
import { Rule } from './Rule.tsx';

/** The claims of the token, its remaining lifetime, and the remaining requests. */
export function TokenPanel({ model, width, lines }: { model: StreamModel; width: number; lines: number }) {
  const { token, wall } = model;
  const { ellipsis, dash } = useGlyphs();
  const show = (text: string) => (model.start.ascii ? toAscii(nearText(text, width)) : steady(text, width));
  const claims = token?.claims ?? {};
  const claim = (name: string) =>
    claims[name] === undefined ? dash : show(escapeText(String(claims[name])));
  const limit = token?.rateLimit;
  const answered = token?.ms === undefined ? '' : `came in ${Math.round(token.ms)} ms`;
  return (
    <Box flexDirection="column" width={width}>
      <Rule title="token" note={answered} width={width} />
      <Text wrap="truncate">
        {cutTo(`sub ${claim('sub')}  aud ${claim('aud')}  iss ${claim('iss')}`, width, ellipsis)}
      </Text>
      <Share
        label="valid"
        width={width}
        share={lifeLeft(claims, wall)}
        say={({ left, whole }) => `${seconds(left)} of ${seconds(whole)}`}
      />
      <Share
        label="limit"
        width={width}
        share={
          limit?.remaining === undefined || !limit.limit
            ? undefined
            : { left: limit.remaining, whole: limit.limit }
        }
        say={({ left, whole }) => `${left} of ${whole}${resetText(limit?.resetAtMs, wall, width >= 60)}`}
      />
      {lines > 3 && (
        <Text dimColor wrap="truncate">
          {cutTo(
            `iat ${clockText(claims.iat)}  exp ${clockText(claims.exp)}  jti ${claim('jti')}`,
            width,
            ellipsis,
          )}
        </Text>
      )}
    </Box>
  );
}

interface Part {
  left: number;
  whole: number;
}

interface ShareProps {
  label: string;
  width: number;
  /** Undefined if unknown. */
  share: Part | undefined;
  say: (share: Part) => string;
}

function Share({ label, width, share, say }: ShareProps): ReactNode {
  const { dash } = useGlyphs();
  const sayWidth = width >= 60 ? 26 : 16;
  const barWidth = Math.max(4, width - sayWidth - 7);
  if (share === undefined) {
    return (
      <Text dimColor wrap="truncate">
        {label} {dash}
      </Text>
    );
  }
  return (
    <Text wrap="truncate">
      {label} <LeftBar left={share.left / share.whole} width={barWidth} />
      {padStartTo(say(share), sayWidth)}
    </Text>
  );
}

/** Remaining lifetime of a token by its claims; undefined without them. */
export function lifeLeft({ iat, exp }: Record<string, unknown>, wall: number): Part | undefined {
  if (typeof exp !== 'number' || typeof iat !== 'number' || exp <= iat) return undefined;
  const whole = (exp - iat) * 1000;
  return { left: Math.min(whole, Math.max(0, exp * 1000 - wall)), whole };
}

function resetText(resetAtMs: number | undefined, wall: number, isRoomy: boolean): string {
  if (resetAtMs === undefined || resetAtMs <= wall) return '';
  return `${isRoomy ? ', resets in ' : ', '}${seconds(resetAtMs - wall)}`;
}

function seconds(ms: number): string {
  return `${Math.ceil(ms / 1000)} s`;
}

/** The UTC time of day of a numeric claim. */
function clockText(claim: unknown): string {
  const date = typeof claim === 'number' ? new Date(claim * 1000) : undefined;
  return date === undefined || Number.isNaN(date.getTime()) ? '?' : date.toISOString().slice(11, 19);
}
