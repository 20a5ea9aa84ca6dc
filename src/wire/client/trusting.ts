/** TLS options that trust only the certificates in the PEM text; without it, those that Node trusts. */
export function trusting(ca: string | undefined): { ca?: string } {
  return ca === undefined ? {} : { ca };
}
