/** TLS options that trust what is in the PEM text, and nobody else; without any, whom Node trusts. */
export function trusting(ca: string | undefined): { ca?: string } {
  return ca === undefined ? {} : { ca };
}
